import pytest

from api.stack.addresses import Addresses
from api.stack.errors import StackError
from api.stack.reachable import broker_version, postgres_version


@pytest.mark.parametrize("url", ["amqp://h", "memory://", "nonsense"])
def test_another_kind_of_broker_is_refused_with_examples(url: str) -> None:
    with pytest.raises(StackError, match="rediss://"):
        broker_version(Addresses("postgresql+psycopg://h/d", url, None, embedded=False))


def test_another_kind_of_database_is_refused_with_an_example() -> None:
    with pytest.raises(StackError, match=r"postgresql\+psycopg://"):
        postgres_version(Addresses("mysql://u:secret@h/d", "redis://h", None, embedded=False))


def test_a_malformed_address_is_not_quoted_with_its_password() -> None:
    broken = Addresses("postgresql+psycopg://u:se%cret@h/d", "redis://:se:cret@h:port/0", None, embedded=False)
    for ask in (postgres_version, broker_version):
        with pytest.raises(StackError, match="well-formed") as caught:
            ask(broken)
        assert "cret" not in str(caught.value)
