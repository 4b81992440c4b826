"""Secrets in what an attempt said and did: found by kind and by value, and replaced before anything is stored."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import orjson

from passgrid.json_values import is_array, is_object

SHORTEST = 8
"""Shorter values are not taken for secrets: they would be found everywhere."""

SECRET_NAME = re.compile(
    r"(?:^|_|-)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION|COOKIE)$", re.IGNORECASE
)
"""Names of environment variables and headers whose values are secrets."""

SECRET_MEMBER = re.compile(
    r"(?:^|_|-)(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTHORIZATION|COOKIE)$"
    r"|(?:^|_|-)(?:API|ACCESS|AUTH|PRIVATE|SIGNING|ENCRYPTION)[_-]?KEY$",
    re.IGNORECASE,
)
"""Names of members of JSON objects whose values are secrets; a bare `key` is mostly none."""

KINDS: tuple[tuple[str, str], ...] = (
    (
        "private-key",
        r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:(?!-----)[\s\S])+-----END (?:[A-Z]+ )?PRIVATE KEY-----",
    ),
    ("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai-key", r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}"),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("github-token", r"\b(?:gh[oprsu]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("slack-token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("aws-key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("passgrid-token", r"\bpg_[A-Za-z0-9]+_[A-Za-z0-9_-]{32,}"),
    ("jwt", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("bearer", r"(?i:(?<=\bbearer ))[A-Za-z0-9._~+/=-]{12,}"),
    ("basic-auth", r"(?i:(?<=\bbasic ))[A-Za-z0-9+/]{12,}={0,2}"),
    ("url-password", r"(?<=://)[^\s/:@\"'\[\]]*:[^\s/@\"']+(?=@)"),
    (
        "assigned-secret",
        r"(?i:(?<=password[=:])|(?<=passwd[=:])|(?<=api_key[=:])|(?<=apikey[=:])|(?<=secret[=:])|(?<=token[=:]))"
        r"[^\s\"'&,;\[\]]{8,}",
    ),
)
"""Kinds of secrets that show what they are.

Each is looked for in time that grows with the length of the text: whatever it begins to match it cannot begin again
within, since the text is somebody else's.
"""

_PATTERN = re.compile("|".join(f"(?P<k{i}>{pattern})" for i, (_, pattern) in enumerate(KINDS)))


_TELLING = (
    "sk-", "k_live_", "k_test_", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat", "glpat-", "xox", "akia", "asia",
    "aiza", "npm_", "pg_", "eyj", "private key", "bearer ", "basic ", "passw", "api_key", "api-key", "apikey",
    "access_key", "access-key", "accesskey", "auth_key", "auth-key", "authkey", "private_key", "private-key",
    "privatekey", "signing_key", "signing-key", "signingkey", "encryption_key", "encryption-key", "encryptionkey",
    "secret", "token", "credential", "authorization", "cookie",
)  # fmt: skip
"""Every kind of secret but a password in an address, and every telling name, has one of these in it."""


class Redactor:
    """Replaces secrets by `[redacted:kind]`, in texts and in JSON values, keys included."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        """values: secrets known by value; found as they are, percent-encoded, and in base64."""
        known = {value for value in values if len(value) >= SHORTEST}
        forms = sorted({form for value in known for form in _forms(value)}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, forms))) if forms else None

    def text(self, text: str) -> str:
        """The text without its secrets."""
        if self._known is not None:
            text = self._known.sub("[redacted:value]", text)
        return _PATTERN.sub(_replacement, text)

    def value(self, value: Any) -> Any:
        """A JSON value without its secrets; the value itself where it has none."""
        return self._value(value) if self._suspects(value) else value

    def _suspects(self, value: Any) -> bool:
        """Whether it is worth looking closely: one search over everything instead of one for each text in it."""
        try:
            text = orjson.dumps(value).decode()
        except (TypeError, ValueError):
            return True
        if self._known is not None and self._known.search(text):
            return True
        lower = text.lower()
        if "://" in lower and "@" in lower:
            return True
        for word in _TELLING:  # noqa: SIM110 - every call of every tool passes here, and any() takes twice as long
            if word in lower:
                return True
        return False

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if is_object(value):
            return {self.text(str(key)): self._member(str(key), item) for key, item in value.items()}
        if is_array(value):
            return [self._value(item) for item in value]
        return value

    def found(self, text: str) -> set[str]:
        """The kinds of secrets in a text."""
        kinds = {_kind(match) for match in _PATTERN.finditer(text)}
        if self._known is not None and self._known.search(text):
            kinds.add("value")
        return kinds

    def _member(self, key: str, item: Any) -> Any:
        """A member called `password` holds a secret whatever it looks like."""
        if isinstance(item, str) and SECRET_MEMBER.search(key) and len(item) >= SHORTEST and "[redacted:" not in item:
            return "[redacted:named]"
        return self._value(item)


def _kind(match: re.Match[str]) -> str:
    return KINDS[int((match.lastgroup or "k0")[1:])][0]


def _replacement(match: re.Match[str]) -> str:
    return f"[redacted:{_kind(match)}]"


def _forms(value: str) -> Iterator[str]:
    yield value
    yield quote(value, safe="")
    yield orjson.dumps(value).decode()[1:-1]
    raw = value.encode()
    # Inside a longer text that was encoded as a whole, a secret starts at one of three places of a group.
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        inner = encoded[(0, 2, 3)[shift] : len(encoded) - (1 if (shift + len(raw)) % 3 else 0)]
        if len(inner) >= SHORTEST:
            yield inner


def secrets_of(environment: Mapping[str, str]) -> set[str]:
    """Values of environment variables or headers whose names say that they are secret, and passwords in addresses."""
    found: set[str] = set()
    for name, value in environment.items():
        if SECRET_NAME.search(name):
            found.add(value)
            scheme, _, rest = value.partition(" ")
            if scheme.lower() in {"bearer", "basic"} and rest:
                found.add(rest)
        if "://" in value:
            found |= secrets_of_address(value)
    return {value for value in found if len(value) >= SHORTEST}


def secrets_of_address(address: str) -> set[str]:
    """The password in an address, as written and decoded."""
    try:
        password = urlsplit(address).password
    except ValueError:
        return set()
    return {password, unquote(password)} if password else set()
