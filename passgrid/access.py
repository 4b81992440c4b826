"""Who may do what over the HTTP API: roles in order, callers, and the tokens that name them."""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from passgrid.identity import content_hash


class Role(StrEnum):
    """What a caller may do; each role may do all that those before it may."""

    READ = "read"
    """See runs, reports and suites."""
    SUBMIT = "submit"
    """Submit, cancel and resume runs of suites that are there."""
    AUTHOR = "author"
    """Upload suites: checks, policies and server commands are code that workers run."""
    ADMIN = "admin"
    """Give and revoke tokens, read the audit."""

    def covers(self, needed: Role) -> bool:
        """Whether this role may do what `needed` may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(needed)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for something; the name is what the audit keeps."""

    name: str
    role: Role


LOCAL = Caller("local", Role.ADMIN)
"""The user of this machine, who can open the private socket and the database anyway."""

_TOKEN = re.compile(r"pg_([0-9a-f]{12})_([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Token:
    """What a caller shows: a public id, by which it is found, and a secret of 256 random bits."""

    token_id: str
    secret: str

    @classmethod
    def new(cls) -> Token:
        """A token nobody else has."""
        return cls(secrets.token_hex(6), secrets.token_hex(32))

    @classmethod
    def parse(cls, text: str) -> Token | None:
        """The token a text spells; None where it spells none."""
        found = _TOKEN.fullmatch(text)
        return cls(found[1], found[2]) if found else None

    @property
    def text(self) -> str:
        """As it is shown once, when it is made."""
        return f"pg_{self.token_id}_{self.secret}"

    @property
    def secret_hash(self) -> str:
        """What is stored of it. SHA-256 is enough: a slow hash protects passwords, which can be guessed; 256 random
        bits cannot, at any speed."""
        return content_hash(self.secret.encode())

    def fits(self, secret_hash: str) -> bool:
        """Whether its secret is the one stored, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(self.secret_hash, secret_hash)

    def __repr__(self) -> str:
        return f"Token({self.token_id}, ***)"
