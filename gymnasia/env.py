"""Reads the environment: every variable is named once, and every fault of it is told at once.

Takes `os.environ`, gives the values that `settings.py` is made of. A secret may also be the content of the file that
`NAME_FILE` names, as container platforms hand secrets over.
"""

import logging
import os
import secrets
from collections.abc import MutableMapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

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


def sqlite_path(url: str, *, default: Path) -> Path:
    """The database file of `sqlite:///path`; raises ValueError for any other database."""
    if not url:
        return default
    parts = urlsplit(url)
    if parts.scheme != "sqlite" or parts.netloc or not parts.path.strip("/"):
        raise ValueError(f"expected sqlite:///path/to/file; got a {parts.scheme or 'bare'!r} address")
    return Path(unquote(parts.path[1:]))


def public_origin(url: str) -> str:
    """`https://chat.example` out of the public address; raises ValueError for anything but an http(s) origin."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError(f"expected an address such as https://chat.example.org; got {url!r}")
    return f"{parts.scheme}://{parts.netloc}"


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
