"""The environment is read once, and what is wrong with it is told in one line that shows no secret."""

import logging
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.exceptions import ImproperlyConfigured

from gymnasia import env


def test_a_secret_may_come_from_a_file(tmp_path: Path) -> None:
    """As container platforms hand it over; a file's last line break is no part of it."""
    (tmp_path / "key").write_text("sk-1234\n")
    environ = {"OPENAI_API_KEY_FILE": str(tmp_path / "key"), "REDIS_URL_FILE": " ", "OTHER_FILE": "x"}
    assert env.read_files(environ) == []
    assert environ["OPENAI_API_KEY"] == "sk-1234"
    assert "REDIS_URL" not in environ


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    environ = {"DATABASE_URL_FILE": "/nowhere", "EMAIL_URL_FILE": str(tmp_path / "binary")}
    assert env.read_files(environ) == [
        "DATABASE_URL_FILE: expected a readable text file; got '/nowhere' (FileNotFoundError)",
        f"EMAIL_URL_FILE: expected a readable text file; got '{tmp_path}/binary' (UnicodeDecodeError)",
    ]


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "data/gymnasia.sqlite3"),
        ("sqlite:///data/chat.sqlite3", "data/chat.sqlite3"),
        ("sqlite:////srv/my%20chat.sqlite3", "/srv/my chat.sqlite3"),
    ],
)
def test_a_database_is_a_file(url: str, path: str) -> None:
    found = env.database(url, data=Path("data"))
    assert (found["ENGINE"], found["NAME"]) == ("django.db.backends.sqlite3", Path(path))


@pytest.mark.parametrize(
    ("url", "parts", "options"),
    [
        (
            "postgres://ana:p%40ss%2Fword@db.example:5433/chat",
            ("chat", "ana", "p@ss/word", "db.example", "5433"),
            {"connect_timeout": "10"},
        ),
        (
            "postgresql:///chat?host=/run/postgresql&sslmode=require&connect_timeout=2",
            ("chat", "", "", "/run/postgresql", ""),
            {"connect_timeout": "2", "sslmode": "require"},
        ),
    ],
)
def test_a_database_is_a_postgresql(url: str, parts: tuple[str, ...], options: dict[str, str]) -> None:
    """All that libpq understands, so that what works elsewhere works here."""
    found = env.database(url, data=Path("data"))
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert tuple(found[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")) == parts
    assert found["OPTIONS"] == options


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ana:secret@db/chat",
        "postgres://ana:secret@db",
        "postgres://ana:secret@db:port:5/chat?colour=secret",
        "sqlite://",
        "sqlite:///",
        "sqlite://db/chat",
        "chat.sqlite3",
    ],
)
def test_any_other_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(
        ValueError, match=r"expected (sqlite:///path/to/file or )?postgresql://user"
    ) as caught:
        env.database(url, data=Path("x"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "origin", "host"),
    [
        ("https://chat.example.org", "https://chat.example.org", "chat.example.org"),
        ("https://Chat.Example.org/", "https://chat.example.org", "chat.example.org"),
        ("https://chat.example.org:443", "https://chat.example.org", "chat.example.org"),
        ("https://chat.example.org:8443", "https://chat.example.org:8443", "chat.example.org"),
        ("http://10.0.0.5:8000/", "http://10.0.0.5:8000", "10.0.0.5"),
        ("https://[2001:db8::1]", "https://[2001:db8::1]", "[2001:db8::1]"),
        ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443", "[2001:db8::1]"),
    ],
)
def test_a_public_address_gives_the_origin_that_browsers_send(url: str, origin: str, host: str) -> None:
    """Compared with the Origin header word for word, so it must be written as a browser writes it."""
    assert env.public_origin(url) == (origin, host)


@pytest.mark.parametrize(
    "url",
    [
        "chat.example.org",
        "ftp://chat.example.org",
        "https://",
        "https://chat.example.org/app",
        "https://chat.example.org?x=1",
        "https://chat.example.org#top",
        "https://ana@chat.example.org",
        "https://chat.example.org:port",
        "https://chat.example.org:99999",
        "https://[2001:db8::1",
    ],
)
def test_what_is_no_public_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected an address such as https:"):
        env.public_origin(url)


def test_a_mail_server_in_one_line() -> None:
    """A password may hold any character, written as addresses write it."""
    assert env.email_settings("smtp+tls://ana:p%40ss@mail.example.org?from=chat@example.org") == {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": "mail.example.org",
        "EMAIL_PORT": 587,
        "EMAIL_HOST_USER": "ana",
        "EMAIL_HOST_PASSWORD": "p@ss",
        "EMAIL_USE_SSL": False,
        "EMAIL_USE_TLS": True,
        "EMAIL_TIMEOUT": 10,
        "DEFAULT_FROM_EMAIL": "chat@example.org",
    }


@pytest.mark.parametrize(
    ("url", "port", "ssl", "tls"),
    [
        ("smtp://mail.example.org", 25, False, False),
        ("smtps://mail.example.org", 465, True, False),
        ("smtp+tls://mail.example.org:2525", 2525, False, True),
    ],
)
def test_each_scheme_has_its_port_and_its_encryption(url: str, port: int, ssl: object, tls: object) -> None:
    found = env.email_settings(url)
    assert (found["EMAIL_PORT"], found["EMAIL_USE_SSL"], found["EMAIL_USE_TLS"]) == (port, ssl, tls)
    assert "DEFAULT_FROM_EMAIL" not in found


@pytest.mark.parametrize("url", ["smpt://ana:secret@x", "smtp://", "mail", "smtp://a:secret@x:port"])
def test_any_other_mail_server_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="expected an address such as smtp") as caught:
        env.email_settings(url)
    assert ":secret@" not in str(caught.value)


def test_a_signing_key_is_made_once_and_is_its_owners(tmp_path: Path) -> None:
    """Sessions must survive a restart; others on the machine must not read the key."""
    data = tmp_path / "new" / "data"
    key = env.secret_key({}, data)
    file = data / "secret_key"
    assert (len(key) > 64, env.secret_key({}, data), file.read_text()) == (True, key, key)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert env.secret_key({"DJANGO_SECRET_KEY": "given"}, data) == "given"


def test_a_data_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """Tests may run as root, whom no permission stops: a file in the way stops everybody."""
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match="file/secret_key must be readable: Not a directory"):
        env.secret_key({}, tmp_path / "file")
    with pytest.raises(ImproperlyConfigured, match="data folder /proc/data must be writable: "):
        env.secret_key({}, Path("/proc/data"))


@pytest.mark.parametrize(("path", "told"), [("/healthz", False), ("/readyz", False), ("/", True)])
def test_probes_are_no_news(path: str, told: object) -> None:
    record = logging.LogRecord("django.request", logging.ERROR, "", 0, "Service Unavailable", (), None)
    record.request = SimpleNamespace(path=path)
    assert env.NotAProbe().filter(record) is told


@pytest.mark.parametrize(
    ("name", "status", "is_told"),
    [
        ("django.request", 400, False),
        ("django.request", 404, False),
        ("django.request", 500, True),
        ("django.security.DisallowedHost", None, False),
        ("chat.engine.runner", None, True),
    ],
)
def test_a_request_that_is_none_is_told_in_a_line(name: str, status: int | None, is_told: object) -> None:
    """A stranger's fault has no place in our code; our own has."""
    fault = (ValueError, ValueError("x"), None)
    record = logging.LogRecord(name, logging.ERROR, "", 0, "Bad request", (), fault)
    if status:
        record.status_code = status
    assert env.ToldInALine().filter(record)
    assert (record.exc_info is not None) is is_told


# --- somebody else's sign-in ----------------------------------------------------------------------------------------
def test_an_issuer_with_its_client() -> None:
    app = env.oidc_app("https://login.example.org/realms/main", "gymnasia", "s3cret", "Example")
    assert app == {
        "provider_id": "sso",
        "name": "Example",
        "client_id": "gymnasia",
        "secret": "s3cret",
        "settings": {"server_url": "https://login.example.org/realms/main", "oauth_pkce_enabled": True},
    }
    assert env.oidc_app("", "", "", "Example") is None
    unnamed = env.oidc_app("http://localhost:9/", "a", "b", "")
    assert unnamed is not None
    assert unnamed["name"] == "localhost"


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        (("https://a.example", "", ""), ["GYMNASIA_OIDC_ID", "GYMNASIA_OIDC_SECRET"]),
        (("", "id", "s3cret"), ["GYMNASIA_OIDC_URL"]),
        (("http://a.example", "id", "s3cret"), ["GYMNASIA_OIDC_URL"]),
        (("a.example", "id", "s3cret"), ["GYMNASIA_OIDC_URL"]),
        (("https://[", "id", "s3cret"), ["GYMNASIA_OIDC_URL"]),
    ],
)
def test_a_half_issuer_is_told_without_its_secret(given: tuple[str, str, str], faults: list[str]) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        env.oidc_app(*given, "")
    assert [line.partition(":")[0] for line in str(caught.value).split("\n")] == faults
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://a.example/realms/x?y", ["https://a.example"]),
        ("http://u:p@127.0.0.1:9/", ["http://127.0.0.1:9"]),
        ("", []),
        ("https://[", []),
        ("https://a:b", []),
        ("javascript:x", []),
    ],
)
def test_the_origin_that_a_form_may_lead_to(url: str, origin: list[str]) -> None:
    assert env.origin_of(url) == origin
