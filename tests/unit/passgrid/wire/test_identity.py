"""For whom a request is, after somebody else has decided it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.wire.http import HttpRequest
from passgrid.wire.mcp_identity import LONGEST, BadIdentity, as_identified, over, request_identity
from passgrid.wire.mcp_service import Identity

ASKED = HttpRequest(
    "POST",
    "/v1/messages",
    b"testId=other&context=theirs",
    ((b"x-test-id", b"other"), (b"accept", b"*/*"), (b"x-aimock-context", b"theirs")),
    b"{}",
)
_NAMES = st.none() | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=LONGEST
)


@given(_NAMES, _NAMES)
def test_a_request_is_for_whom_it_was_decided_and_keeps_all_else(test_id: str | None, context: str | None) -> None:
    decided = as_identified(ASKED, Identity(test_id, context))
    assert request_identity(decided) == Identity(test_id, context)
    assert (decided.method, decided.path, decided.body) == (ASKED.method, ASKED.path, ASKED.body)
    assert (b"accept", b"*/*") in decided.headers


def test_what_a_token_stands_for_goes_before_what_a_request_says() -> None:
    assert over(request_identity(ASKED), Identity("mine")) == Identity("mine", "theirs")
    assert over(request_identity(ASKED), Identity(None)) == Identity("other", "theirs")


def test_a_request_that_names_two_tests_is_for_none_of_them() -> None:
    for headers, query in ((((b"x-test-id", b"a"), (b"x-test-id", b"b")), b""), ((), b"testId=a&testId=b")):
        with pytest.raises(BadIdentity) as refused:
            request_identity(HttpRequest("POST", "/v1/messages", query, headers))
        assert refused.value.body["code"] == "MCP_DUPLICATE_IDENTITY"
