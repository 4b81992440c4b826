"""The doctor's look at the stack: do the servers answer, is the database up to date, do the services live."""

from collections.abc import Iterator
from functools import partial

from api.stack.addresses import Addresses, masked
from api.stack.finding import Finding, examine_all
from api.stack.home import Home
from api.stack.reachable import broker_version, postgres_version
from api.stack.schema import schema_revisions
from api.stack.status import ServiceStatus, StackStatus, stack_status
from api.stack.stuck_work import work_findings
from api.stack.versions import installed_versions

_MANY_RESTARTS = 3


def stack_findings(home: Home) -> Iterator[Finding]:
    """Yield what can be said about the stack that runs or is configured now; it is not started."""
    status = stack_status(home)
    yield from examine_all((("stack", partial(_stack, status)),))
    if status.addresses is not None and (status.running or not status.addresses.embedded):
        addresses = status.addresses
        yield from examine_all(
            (
                ("database", lambda: f"Postgres {postgres_version(addresses)} at {masked(addresses.database_url)}"),
                ("broker", lambda: f"version {broker_version(addresses)} at {masked(addresses.broker_url)}"),
                ("schema", partial(_schema, addresses)),
            )
        )
        yield from work_findings(addresses)
    yield from examine_all((service.name, partial(_service, home, service)) for service in status.services)


def _stack(status: StackStatus) -> Finding | str:
    if status.problem:
        return Finding("stack", False, status.problem, f"See the logs in {status.home / 'logs'}.")
    if status.addresses is not None and not status.addresses.embedded:
        return "external, named by PASSGRID_DATABASE_URL and PASSGRID_BROKER_URL"
    if not status.running:
        return "not running; the next command that needs it starts it"
    installed, running = installed_versions()["passgrid"], status.versions["passgrid"]
    if installed != running:
        detail = f"it runs Passgrid {running}, but {installed} is installed"
        return Finding("stack", False, detail, "Run `passgrid down`, then `passgrid up`.")
    return f"{status.phase or 'starting'}, process {status.pid}"


def _schema(addresses: Addresses) -> Finding | str:
    current, newest = schema_revisions(addresses.database_url)
    if current == newest:
        return f"revision {current or 'none'}, the newest"
    detail = f"the database has revision {current or 'none'}, this version of Passgrid wants {newest}"
    return Finding(
        "schema", False, detail, "Run `passgrid down`, then `passgrid up`; newer than wanted: upgrade Passgrid."
    )


def _service(home: Home, service: ServiceStatus) -> Finding | str:
    log = home.log(service.name)
    if not service.alive:
        return Finding(service.name, False, f"not running, started again {service.restarts} times", f"See {log}.")
    if service.restarts > _MANY_RESTARTS:
        return Finding(service.name, False, f"started again {service.restarts} times", f"See {log}.")
    return f"process {service.pid}, started again {service.restarts} times"
