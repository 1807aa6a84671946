"""What an installation gets for the environment that it is given; each case in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

ROOT = Path(__file__).parents[2]
PRINT = """
import json, sys
import django
django.setup()
from django.conf import settings
print(json.dumps([str(getattr(settings, name)) for name in sys.argv[1:]]))
"""


def python(data: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "gymnasia.settings",
            "GYMNASIA_DATA": str(data),
            **environ,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def values(data: Path, *names: str, **environ: str) -> Any:
    done = python(data, "-c", PRINT, *names, **environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


TRANSPORT = (
    "SESSION_COOKIE_SECURE",
    "CSRF_COOKIE_SECURE",
    "SECURE_SSL_REDIRECT",
    "SECURE_HSTS_SECONDS",
    "SECURE_PROXY_SSL_HEADER",
    "CSRF_TRUSTED_ORIGINS",
    "ALLOWED_HOSTS",
)


def test_without_a_public_address_it_is_for_this_machine(tmp_path: Path) -> None:
    """Plain HTTP on loopback: a secure cookie would never come back."""
    assert values(tmp_path, *TRANSPORT) == [
        "False",
        "False",
        "False",
        "0",
        "None",
        "[]",
        "['localhost', '127.0.0.1', '[::1]']",
    ]


def test_with_https_in_the_public_address_everything_is_strict(tmp_path: Path) -> None:
    """The proxy's header is believed only where somebody said that there is a proxy."""
    address = "https://chat.example.org"
    behind = {"GYMNASIA_PUBLIC_URL": address, "GYMNASIA_BEHIND_PROXY": "true"}
    assert values(tmp_path, *TRANSPORT, **behind) == [
        "True",
        "True",
        "True",
        "31536000",
        "('HTTP_X_FORWARDED_PROTO', 'https')",
        "['https://chat.example.org']",
        "['localhost', '127.0.0.1', '[::1]', 'chat.example.org']",
    ]
    assert values(tmp_path, "SECURE_PROXY_SSL_HEADER", GYMNASIA_PUBLIC_URL=address) == ["None"]


def test_djangos_own_check_of_a_deployment_finds_nothing(tmp_path: Path) -> None:
    """Not even a warning, with a mail server and a proxy in front."""
    done = python(
        tmp_path,
        "manage.py",
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        GYMNASIA_PUBLIC_URL="https://chat.example.org",
        GYMNASIA_BEHIND_PROXY="true",
        EMAIL_URL="smtp+tls://ana:secret@mail.example.org",
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("", ["none", "['username*', 'email', 'password1*', 'password2*']"]),
        ("smtp://mail.example.org", ["mandatory", "['username*', 'email*', 'password1*', 'password2*']"]),
    ],
)
def test_an_address_is_confirmed_only_where_mail_goes_out(
    tmp_path: Path, url: str, wanted: list[str]
) -> None:
    mail = {"EMAIL_URL": url} if url else {}
    assert values(tmp_path, "ACCOUNT_EMAIL_VERIFICATION", "ACCOUNT_SIGNUP_FIELDS", **mail) == wanted


def test_every_fault_is_one_line_and_none_shows_a_secret(tmp_path: Path) -> None:
    """A person who typed three things wrong learns of all three at once."""
    done = python(
        tmp_path,
        "manage.py",
        "check",
        GYMNASIA_DEBUG="maybe",
        GYMNASIA_LOG_LEVEL="LOUD",
        GYMNASIA_LEASE_S="soon",
        GYMNASIA_PUBLIC_URL="chat.example.org",
        DATABASE_URL="mysql://ana:secret@db/chat",
        EMAIL_URL="smpt://ana:secret@mail",
        OPENAI_API_KEY="secret key",
        REDIS_URL_FILE="/nowhere",
    )
    first, *lines = done.stderr.strip().split("\n")
    assert (done.returncode, first) == (1, "The settings cannot be used:")
    assert sorted(line.split(":")[0] for line in lines) == [
        "DATABASE_URL",
        "EMAIL_URL",
        "GYMNASIA_DEBUG",
        "GYMNASIA_LEASE_S",
        "GYMNASIA_LOG_LEVEL",
        "GYMNASIA_PUBLIC_URL",
        "OPENAI_API_KEY",
        "REDIS_URL_FILE",
    ]
    assert "secret" not in done.stderr


def test_the_policy_allows_no_inline_and_nobody_elses_code() -> None:
    directives: Any = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    words = {str(word) for sources in directives.values() for word in sources}
    assert directives["default-src"] == ["'none'"]
    assert [word for word in words if "unsafe" in word or "*" in word or "http" in word] == []


@pytest.mark.sqlite_only
@pytest.mark.django_db
def test_the_database_waits_its_turn() -> None:
    """WAL, IMMEDIATE and a busy time-out: rivals wait for each other instead of failing."""
    from django.db import connection

    with connection.cursor() as cursor:
        found = {
            name: cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 20_000}
    assert connection.transaction_mode == "IMMEDIATE"  # type: ignore[attr-defined]
