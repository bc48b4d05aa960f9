"""How a service is configured: by a file, then the environment, then flags, the last one strongest.

Law: nothing is guessed. A setting that there is not, or a value that is none, is refused by name.
Beyond loopback nobody is served without a token.
"""

from __future__ import annotations

import difflib
import ipaddress
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from penstock.errors import ArgumentError, brief

PREFIX = "PENSTOCK_"
LOG_FORMATS = ("text", "json")


@dataclass(frozen=True)
class Settings:
    """What can be set; the names are those in files, in the environment in capital letters."""

    host: str = "127.0.0.1"
    port: int = 8420
    allowed_hosts: tuple[str, ...] = ()
    """Further names in the Host header that are answered."""
    read_token_file: Path | None = None
    admin_token_file: Path | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    """Clients need a certificate that one of these has signed."""
    max_body_bytes: int = 32 << 20
    body_seconds: float = 30.0
    """How long a sender may be silent in the middle of a body."""
    max_connections: int = 2048
    max_subscribers: int = 1024
    query_seconds: float = 60.0
    max_queries: int = 4
    """How many ad-hoc statements run at one time."""
    heartbeat_seconds: float = 5.0
    send_seconds: float = 20.0
    """How long a subscriber may take to receive one message."""
    backlog_bytes: int = 16 << 20
    """How much of the changes of a view waits for those of its subscribers that are behind."""
    stop_seconds: float = 10.0
    """How long requests under way may take when the service is told to stop."""
    log_format: str = "text"

    def __post_init__(self) -> None:
        self._require(0 <= self.port < 1 << 16, "port", "a number from 0 to 65535")
        for name in ("max_body_bytes", "max_connections", "max_subscribers", "max_queries"):
            self._require(getattr(self, name) > 0, name, "a number above 0")
        for name in ("body_seconds", "query_seconds", "heartbeat_seconds", "send_seconds"):
            self._require(0 < getattr(self, name) < 1e6, name, "seconds, above 0")
        self._require(self.backlog_bytes > 0, "backlog_bytes", "a number above 0")
        self._require(0 <= self.stop_seconds < 1e6, "stop_seconds", "seconds")
        self._require(self.log_format in LOG_FORMATS, "log_format", "text or json")
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ArgumentError("TLS needs both tls_certificate and tls_key, and one is missing.")
        if self.tls_client_ca is not None and self.tls_certificate is None:
            raise ArgumentError("tls_client_ca is of use only with tls_certificate and tls_key.")

    def _require(self, holds: bool, name: str, expected: str) -> None:
        if not holds:
            raise ArgumentError(f"{name} is {brief(getattr(self, name))}, expected {expected}.")

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this machine can connect."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    @property
    def hosts(self) -> frozenset[str]:
        """The names in Host headers that are answered; none where all are."""
        known = {name.lower() for name in self.allowed_hosts}
        if self.is_loopback:
            known |= {"localhost", "127.0.0.1", "[::1]", _in_url(self.host.lower())}
        return frozenset(known)

    def url_at(self, port: int) -> str:
        """Where the service is, at a port that may have been chosen for it."""
        scheme = "http" if self.tls_certificate is None else "https"
        return f"{scheme}://{_in_url(self.host)}:{port}"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def load(file: Path | None, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """The settings of a file, those of the environment over them, and flags over both."""
    found = {} if file is None else _of_file(file)
    found |= {
        name: _of_text(name, environment[PREFIX + name.upper()])
        for name in _KINDS
        if PREFIX + name.upper() in environment
    }
    found |= {name: value for name, value in flags.items() if value is not None}
    return Settings(**found)


def _of_file(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            values = tomllib.load(opened)
    except OSError as error:
        raise ArgumentError(f"{file} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{file} is no TOML: {error}.") from None
    return {name: _of_toml(file, name, value) for name, value in values.items()}


def _of_toml(file: Path, name: str, value: Any) -> Any:
    if name not in _KINDS:
        close = difflib.get_close_matches(name, _KINDS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(_KINDS)}"
        raise ArgumentError(f"{file} has a setting {name!r} that there is not; {hint}")
    kind = _KINDS[name]
    if kind is tuple and isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    if kind is Path and isinstance(value, str):
        return file.parent / value
    if kind is float and type(value) in (int, float):
        return float(value)
    if type(value) is kind and kind in (int, str):
        return value
    raise ArgumentError(f"{file}: {name} is {brief(value)}, expected {_WORDS[kind]}.")


def _of_text(name: str, text: str) -> Any:
    """A value of the environment."""
    kind = _KINDS[name]
    if kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        return kind(text)
    except ValueError:
        hint = ""
        if "://" in text:
            hint = " Kubernetes sets this for a service called penstock: enableServiceLinks: false"
        variable = PREFIX + name.upper()
        raise ArgumentError(
            f"{variable} is {brief(text)}, expected {_WORDS[kind]}.{hint}"
        ) from None


def _kind(hint: Any) -> Any:
    """What a value is made by: of an optional path, a path."""
    if hint in (str, int, float):
        return hint
    return Path if hint == Path | None else tuple


_KINDS = {field.name: _kind(get_type_hints(Settings)[field.name]) for field in fields(Settings)}
_WORDS = {str: "a text", int: "a whole number", float: "a number", Path: "a path", tuple: "names"}
