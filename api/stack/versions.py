"""Which versions are installed beside this code."""

from importlib.metadata import PackageNotFoundError, version

_PACKAGES = {"passgrid": "passgrid", "pydantic-ai": "pydantic-ai-slim", "mcp": "mcp"}


def installed_versions() -> dict[str, str]:
    """Return the versions of Passgrid, pydantic-ai and mcp, `not installed` for one that runs from its source tree."""
    return {name: _version(package) for name, package in _PACKAGES.items()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
