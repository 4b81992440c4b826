"""The doctor's look at the work: what does not go on, why, and what to do about it."""

from collections.abc import Iterator

from api.stack.addresses import Addresses
from api.stack.finding import Finding

_NOTHING = "nothing stands still"


def work_findings(addresses: Addresses) -> Iterator[Finding]:
    """Yield what does not go on; what may be meant, such as a paused run, counts as well and comes with a remedy.

    Imported here: the command line starts faster without SQLAlchemy.
    """
    from sqlalchemy.exc import DBAPIError

    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.stuck import stuck_work

    engine = make_engine(addresses.database_url)
    try:
        found = stuck_work(engine)
    except DBAPIError:
        return  # the database is away or has another schema, and that is a finding of its own
    finally:
        engine.dispose()
    if not any(one.standstill for one in found):
        yield Finding("work", True, _NOTHING)
    for one in found:
        yield Finding(one.subject, not one.standstill, one.why, one.remedy)
