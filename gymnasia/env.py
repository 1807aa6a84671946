"""Reads the environment: every variable is named once, and every fault of it is told at once.

Takes `os.environ`, gives the values that `settings.py` is made of. A secret may also be the content of the file that
`NAME_FILE` names, as container platforms hand secrets over.
"""

import logging
import os
import secrets
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

FILE_NAMES = (
    "DJANGO_SECRET_KEY",
    "DATABASE_URL",
    "REDIS_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GEMINI_BASE_URL",
    "TAI_API_KEY",
    "TAI_BASE_URL",
    "OPENAI_COMPATIBLE_URL",
    "OPENAI_COMPATIBLE_API_KEY",
    "EMAIL_URL",
    "GYMNASIA_OIDC_SECRET",
    "GYMNASIA_MATERIAL",
)


def read_files(environ: MutableMapping[str, str]) -> list[str]:
    """Set each NAME from the file that NAME_FILE names; give one line per file that cannot be read."""
    faults = []
    for name in FILE_NAMES:
        path = environ.get(f"{name}_FILE", "").strip()
        if not path:
            continue
        try:
            environ[name] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            faults.append(
                f"{name}_FILE: expected a readable text file; got {path!r} ({error.__class__.__name__})"
            )
    return faults


# WAL with NORMAL: a compare-and-set in 0.5 ms instead of 1.9, and readers never wait for the writer. IMMEDIATE: a
# transaction that will write says so at its start, so that it waits its turn instead of failing half-way.
SQLITE = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
}


def database(url: str, *, data: Path) -> dict[str, Any]:
    """Django's settings for `sqlite:///path/to/file`, `postgresql://user:password@host:port/name?option=value` (all that
    libpq understands) or, by default, a file in the data folder. Raises ValueError for any other, without the address: a
    password may be in it."""
    if url.startswith(("postgresql://", "postgres://")):
        return _postgresql(url)
    parts = urlsplit(url)
    if url and (parts.scheme != "sqlite" or parts.netloc or not parts.path.strip("/")):
        raise ValueError(
            "expected sqlite:///path/to/file or postgresql://user:password@host/name; "
            f"got a {parts.scheme or 'bare'!r} address"
        )
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": Path(unquote(parts.path[1:])) if url else data / "gymnasia.sqlite3",
        "OPTIONS": dict(SQLITE),
        # A file: the in-memory shared cache of the tests answers a rival writer with an error instead of waiting.
        "TEST": {"NAME": data / f"test-{os.getpid()}.sqlite3"},
    }


def _postgresql(url: str) -> dict[str, Any]:
    # Only who uses it needs it.
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        told = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except (ProgrammingError, ValueError):
        told = {}
    if not told.get("dbname"):
        raise ValueError("expected postgresql://user:password@host:port/name; got one that is not complete")
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    named = {ours: told.pop(theirs, "") for ours, theirs in names.items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **named,
        "OPTIONS": {"connect_timeout": "10", **told},
        # A request has a thread of its own, so that its connection cannot outlive it; the engine's stays open anyway.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "TEST": {"NAME": f"test_{named['NAME']}_{os.getpid()}"},
    }


def public_origin(url: str) -> tuple[str, str]:
    """`("https://chat.example:8443", "chat.example")` out of the public address: its origin, and its host as
    ALLOWED_HOSTS wants it; raises ValueError for anything but an http(s) origin."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # brackets or a port that are none
        parts, host, port = urlsplit(""), "", None
    more = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in {"http", "https"} or not host or more:
        raise ValueError(f"expected an address such as https://chat.example.org; got {url!r}")
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme]  # browsers leave it out of the Origin header
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in {None, usual} else ""), host


def email_settings(url: str) -> dict[str, str | int | bool]:
    """Django's settings for `smtp://user:password@host:port?from=address`, `smtps` (TLS from the first byte) or
    `smtp+tls` (STARTTLS); raises ValueError, without the address, for any other: a password may be in it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # brackets or a port that are none
        parts, host, port = urlsplit(""), None, None
    usual = {"smtp": 25, "smtps": 465, "smtp+tls": 587}.get(parts.scheme)
    if usual is None or not host:
        raise ValueError("expected an address such as smtp+tls://user:password@mail.example.org:587")
    sender = parse_qs(parts.query).get("from", [""])[0]
    found: dict[str, str | int | bool] = {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": host,
        "EMAIL_PORT": port or usual,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_TIMEOUT": 10,
    }
    return found | ({"DEFAULT_FROM_EMAIL": sender} if sender else {})


def oidc_app(url: str, client_id: str, secret: str, label: str) -> dict[str, Any] | None:
    """allauth's settings of the one OpenID Connect provider that people may sign in with; None where there is none. Raises
    ValueError, with one line per fault and never with the secret."""
    if not (url or client_id or secret):
        return None
    given = {"GYMNASIA_OIDC_URL": url, "GYMNASIA_OIDC_ID": client_id, "GYMNASIA_OIDC_SECRET": secret}
    faults = [
        f"{variable}: expected a value, as the other two of OIDC are set"
        for variable, text in given.items()
        if not text
    ]
    host = urlsplit(url).hostname if origin_of(url) else None
    if url and (host is None or (url.startswith("http:") and host not in {"localhost", "127.0.0.1", "::1"})):
        faults.append(f"GYMNASIA_OIDC_URL: expected the issuer's https address; got {url!r}")
    if faults:
        raise ValueError("\n".join(faults))
    return {
        "provider_id": "sso",
        "name": label or host,
        "client_id": client_id,
        "secret": secret,
        "settings": {"server_url": url, "oauth_pkce_enabled": True},
    }


def origin_of(url: str) -> list[str]:
    """The origin of an http(s) address, as a policy wants it; nothing where there is none."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:  # brackets or a port that are none
        return []
    return [f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"] if usable else []


def secret_key(environ: MutableMapping[str, str], data: Path) -> str:
    """The signing key: from the environment, else made once and kept in the data folder, readable by its owner."""
    given = environ.get("DJANGO_SECRET_KEY", "")
    if given:
        return given
    path = data / "secret_key"
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ImproperlyConfigured(f"the signing key {path} must be readable: {error.strerror}") from None
    key = secrets.token_urlsafe(64)
    try:
        data.mkdir(parents=True, exist_ok=True)
        with os.fdopen(
            os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(key)
    except FileExistsError:  # another process was first
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"the data folder {data} must be writable: {error.strerror}") from None
    return key


class NotAProbe(logging.Filter):
    """Leaves the answers to health probes out of the log: "not yet" is no fault."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return getattr(request, "path", "") not in {"/healthz", "/readyz"}


class ToldInALine(logging.Filter):
    """Leaves out where in our code a request was turned down that is none (a form in pieces, a host that is not ours): one
    line says it, and a stranger who sends such requests fills no log with ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        is_request = record.name == "django.request" and getattr(record, "status_code", 500) < 500
        if is_request or record.name.startswith("django.security."):
            record.exc_info = record.exc_text = None
        return True
