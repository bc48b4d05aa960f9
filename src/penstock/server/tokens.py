"""Who asks: nobody, a reader or an administrator, by the token that comes with a request.

Law: a token is never kept, printed or logged, only its hash. Comparing takes as long whatever
differs. Tokens come from the environment or from files, never from the arguments of a command.
"""

from __future__ import annotations

import hashlib
import hmac
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from penstock.errors import ArgumentError
from penstock.server.settings import PREFIX, Settings

SHORTEST = 16


class Role(IntEnum):
    """What one may do includes what those below may."""

    NONE = 0
    READ = 1
    ADMIN = 2


@dataclass(frozen=True)
class Tokens:
    """The hashes of the tokens of each role."""

    digests: Mapping[Role, bytes] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(read: str | None = None, admin: str | None = None) -> Tokens:
        given = {Role.READ: read, Role.ADMIN: admin}
        for role, token in given.items():
            if token is not None and (len(token) < SHORTEST or not token.isprintable()):
                raise ArgumentError(
                    f"The {role.name.lower()} token has {len(token)} characters, expected at least "
                    f"{SHORTEST} that can be printed. One is made by: openssl rand -hex 32"
                )
        if read is not None and read == admin:
            raise ArgumentError("The read token and the admin token are the same.")
        return Tokens({role: _digest(t.encode()) for role, t in given.items() if t is not None})

    def role(self, authorization: str | None) -> Role:
        """The role of whoever sends this header; where there are no tokens, anybody may do all."""
        if not self.digests:
            return Role.ADMIN
        scheme, _, token = (authorization or "").partition(" ")
        found, digest = Role.NONE, _digest(token.strip().encode("utf-8", "replace"))
        for role, known in self.digests.items():
            if hmac.compare_digest(digest, known):
                found = role
        return found if scheme.lower() == "bearer" else Role.NONE


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def load_tokens(settings: Settings, environment: Mapping[str, str]) -> Tokens:
    """The tokens of files or of the environment; an error where there are none and must be."""
    read = _token("read", settings.read_token_file, environment)
    admin = _token("admin", settings.admin_token_file, environment)
    if read is None and admin is None and not settings.is_loopback:
        raise ArgumentError(
            f"{settings.host} can be reached from other machines, which needs a token: set "
            f"{PREFIX}READ_TOKEN or {PREFIX}ADMIN_TOKEN, or read_token_file or admin_token_file. "
            "Without one only 127.0.0.1 is served."
        )
    return Tokens.of(read, admin)


def _token(role: str, file: Path | None, environment: Mapping[str, str]) -> str | None:
    variable = f"{PREFIX}{role.upper()}_TOKEN"
    if file is None:
        return environment.get(variable) or None
    if environment.get(variable):
        raise ArgumentError(f"{variable} and {role}_token_file are both set; one is enough.")
    try:
        if file.stat().st_mode & stat.S_IRWXO:
            raise ArgumentError(
                f"{file} may be read by every user of this machine: chmod o= {file}"
            )
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ArgumentError(f"{file} cannot be read: {said}.") from None
