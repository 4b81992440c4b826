"""When the supervisor may end: nobody uses the stack, nothing holds it, no attempt still waits or runs."""

import logging
import time

from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.locks import gate, is_held, living_users
from api.stack.parts import Parts
from api.stack.state import announce_ending

_log = logging.getLogger(__name__)

_RECOUNT = 1.0
"""Seconds between two counts of the attempts that keep it alive."""

_PATIENCE = 60.0
"""Seconds after which a database that cannot be asked no longer keeps the stack alive; no attempt is lost by that."""


_GATE_PATIENCE = 0.1
"""Seconds to wait for a command that is just joining; it may even have been stopped (Ctrl-Z) in the middle of that."""


class Leaving:
    """Decides whether the supervisor may end. `is_due` is asked a few times a second."""

    def __init__(self, home: Home, parts: Parts, database_url: str) -> None:
        self._home = home
        self._parts = parts
        self._database_url = database_url
        self._last_used = time.monotonic()
        self._next_count = 0.0
        self._unknown_since: float | None = None

    def is_due(self) -> bool:
        """Tell whether it is time to end, and if so say it in the state, so that nobody joins any more."""
        now = time.monotonic()
        if self._is_used():
            self._last_used = now
            return False
        if now - self._last_used < self._parts.grace or now < self._next_count:
            return False
        self._next_count = now + _RECOUNT
        return not self._is_needed_by_attempts() and self._announce()

    def _is_used(self) -> bool:
        try:
            with gate(self._home, timeout=_GATE_PATIENCE):
                return bool(living_users(self._home)) or is_held(self._home)
        except StackError:
            return True  # somebody is about to join

    def _announce(self) -> bool:
        try:
            with gate(self._home, timeout=_GATE_PATIENCE):
                if living_users(self._home) or is_held(self._home):
                    return False  # somebody came while we were counting
                announce_ending(self._home)
                return True
        except StackError:
            return False  # somebody is about to join

    def _is_needed_by_attempts(self) -> bool:
        try:
            count = self._parts.load_runnable()(self._database_url)
        except Exception:  # noqa: BLE001  (whatever is wrong with the database, the supervisor must outlive it)
            _log.exception("cannot tell whether attempts are left")
            self._unknown_since = self._unknown_since or time.monotonic()
            return time.monotonic() - self._unknown_since < _PATIENCE
        self._unknown_since = None
        return count > 0
