"""Where one installation keeps its things: everything below PASSGRID_HOME, but for the sockets."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from api.stack.errors import StackError


@dataclass(frozen=True)
class Home:
    """The folders of one installation. Nothing is created before `create()`."""

    root: Path
    """PASSGRID_HOME, absolute and without symbolic links."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Home":
        """Return the home that PASSGRID_HOME names, by default `passgrid` in the user's XDG data folder.

        Raises StackError when there is neither PASSGRID_HOME nor a home folder of the user.
        """
        environment = os.environ if environment is None else environment
        named = environment.get("PASSGRID_HOME", "")
        if named:
            return cls(Path(named).expanduser().resolve())
        data_home = Path(environment.get("XDG_DATA_HOME", ""))
        if not data_home.is_absolute():  # the XDG specification says to ignore relative ones
            data_home = _user_home() / ".local" / "share"
        return cls((data_home / "passgrid").resolve())

    @property
    def data(self) -> Path:
        """The data folder of the embedded Postgres."""
        return self.root / "data"

    @property
    def logs(self) -> Path:
        """One log file for each process of the stack."""
        return self.root / "logs"

    @property
    def analysis(self) -> Path:
        """The DuckDB files."""
        return self.root / "analysis"

    @property
    def programs(self) -> Path:
        """Copies of server binaries, where the account that runs them cannot reach the originals."""
        return self.root / "programs"

    @property
    def control(self) -> Path:
        """Locks, the users of the stack and `state.json`: how commands and the supervisor find each other.

        They lie here and not beside the sockets: the folder of the sockets depends on XDG_RUNTIME_DIR and TMPDIR, and
        two commands that differ in those must still find the same supervisor.
        """
        return self.root / "control"

    @property
    def sockets(self) -> Path:
        """The private folder of the sockets, as a supervisor started now would choose it (nothing is created).

        A supervisor that runs has written the folder it chose into its state.
        """
        from api.stack.sockets import choose_socket_folder

        return choose_socket_folder(self.root)

    def log(self, name: str) -> Path:
        """Return the log file of the process with this name."""
        return self.logs / f"{name}.log"

    def create(self) -> None:
        """Create what is missing. Raises StackError when the home is not writable.

        An existing home keeps its permissions. A new one is private; root's own can be passed through (0711), since
        Postgres runs as another account there; what lies in it is private all the same.
        """
        try:
            if not self.root.is_dir():
                self.root.parent.mkdir(parents=True, exist_ok=True)
                self.root.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, exist_ok=True)
            for folder in (self.logs, self.analysis, self.control):
                folder.mkdir(mode=0o700, exist_ok=True)
            if not os.access(self.control, os.W_OK | os.X_OK):
                raise PermissionError(f"no permission to write in {self.control}")
        except OSError as error:
            raise StackError(
                f"PASSGRID_HOME {self.root} is not writable: {error.strerror or error}",
                "Set PASSGRID_HOME to a folder you can write to, or repair the permissions or free space on the disk.",
            ) from error


def _user_home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise StackError(
            f"There is no home folder for this user ({error}).", "Set PASSGRID_HOME to a folder you can write to."
        ) from error
