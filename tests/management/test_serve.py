"""The cheap promises of the command that serves, and one short life of the real process."""

import io
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import CommandError
from django.db import OperationalError

from chat import catalogue
from chat.local_model import Absent
from chat.management.commands import serve
from chat.management.commands.serve import Command, port_number
from tests.fakes.processes import Child, get, wait_for
from tests.rows import person


@pytest.fixture
def command() -> Command:
    return Command(stdout=io.StringIO())


def said(command: Command) -> str:
    written: Any = command.stdout
    return str(written.getvalue())


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("8000", 8000), ("65535", 65535)])
def test_a_port_is_a_number(text: str, number: int) -> None:
    assert port_number(text) == number


@pytest.mark.parametrize("text", ["", "65536", "-1", "http", "80 80", "²", "8_000", "0x50"])
def test_what_is_no_port_is_one_line(command: Command, text: str) -> None:
    with pytest.raises(CommandError) as caught:
        command.handle(host="127.0.0.1", port=text)
    assert str(caught.value) == f"PORT: expected a port from 0 to 65535; got {text!r}"


def test_a_providers_address_that_is_none_is_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_URL", "nonsense")
    with pytest.raises(CommandError, match="OPENAI_COMPATIBLE_URL: expected an address"):
        command.handle(host="127.0.0.1", port="0")


def test_a_port_in_use_is_one_line_before_anything_is_started(command: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError) as caught:
            command.handle(host="127.0.0.1", port=str(port))
    expected = f"cannot listen on 127.0.0.1:{port}: Address already in use. Set PORT to another one."
    assert (str(caught.value), said(command)) == (expected, "")


def test_an_address_of_another_machine_is_one_line(command: Command) -> None:
    with pytest.raises(
        CommandError,
        match=r"^cannot listen on 192\.0\.2\.1:0: .*\. Set GYMNASIA_HOST to an address of this machine\.$",
    ):
        command._listen("192.0.2.1", 0)


def test_it_listens_before_it_is_ready_and_does_not_block_the_loop(command: Command) -> None:
    """Who comes early waits in the queue instead of being sent away."""
    listening = command._listen("127.0.0.1", 0)
    with listening, socket.create_connection(listening.getsockname(), timeout=5):
        assert listening.getblocking() is False


def test_a_folder_that_cannot_be_written_is_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "data"
    with pytest.raises(CommandError) as caught:
        command._prepare_folder(folder)
    assert (
        str(caught.value) == f"the data folder {folder} must be writable: Not a directory. Set GYMNASIA_DATA."
    )
    command._prepare_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_database_that_cannot_be_used_is_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise OperationalError("file is not a database")

    monkeypatch.setattr(serve, "MigrationExecutor", broken)
    with pytest.raises(CommandError, match="the database cannot be used: file is not a database"):
        command._migrate()


@pytest.mark.django_db
def test_the_first_administrators_password_is_shown_once_and_opens_the_door(command: Command) -> None:
    """It is kept nowhere; who has an administrator gets no second one."""
    assert command._first_administrator() is True
    (line,) = said(command).split("\n")[:-1]
    password = line.removeprefix("Sign in as admin with the password ").split(" ", 1)[0]
    assert len(password) >= 16
    user = authenticate(username="admin", password=password)
    assert user is not None
    assert user == get_user_model().objects.get(is_superuser=True)
    assert (command._first_administrator(), said(command)) == (False, f"{line}\n")


@pytest.mark.django_db
def test_people_without_power_do_not_count_as_administrators(command: Command) -> None:
    person("ana", is_staff=True)
    assert command._first_administrator() is True


def test_files_are_collected_when_one_is_newer_than_the_last_collection(
    command: Command, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start that has nothing to collect costs nothing."""
    calls: list[str] = []
    monkeypatch.setattr(serve, "call_command", lambda name, **_: calls.append(name))
    settings.BASE, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    source = tmp_path / "chat" / "static" / "chat.css"
    source.parent.mkdir(parents=True)
    source.write_text("a {}")
    manifest = settings.STATIC_ROOT / "staticfiles.json"
    command._collect_static()
    manifest.parent.mkdir()
    manifest.write_text("{}")
    os.utime(manifest, (source.stat().st_mtime + 5,) * 2)
    command._collect_static()
    assert calls == ["collectstatic"]
    os.utime(source, (manifest.stat().st_mtime + 5,) * 2)
    command._collect_static()
    assert calls == ["collectstatic"] * 2


def test_the_local_model_can_be_switched_off(command: Command, settings: Any) -> None:
    settings.LOCAL_MODEL = False
    assert command._start_local_model() == Absent("it is switched off (GYMNASIA_LOCAL_MODEL)")


@pytest.mark.parametrize("has_provider", ["yes", ""])
def test_the_greeting_says_where_how_and_what_is_missing(
    command: Command, monkeypatch: pytest.MonkeyPatch, has_provider: str
) -> None:
    """Without a model at all the next step is told, not only the fault."""
    monkeypatch.setattr(catalogue, "endpoints", lambda: {"openai": 1} if has_provider else {})
    command._greet("http://127.0.0.1:8000", Absent("the weights are not installed"), newcomer=False)
    lines = said(command).strip().split("\n")
    assert lines[:3] == [
        "Gymnasia is at http://127.0.0.1:8000/  (Ctrl-C ends it)",
        "Sign in with your account, or sign up on the page.",
        "The local model cannot run here: the weights are not installed.",
    ]
    assert [line.split(":")[0] for line in lines[3:]] == (
        [] if has_provider else ["No provider is set up either"]
    )


def test_a_short_life_from_start_to_sigterm(tmp_path: Path) -> None:
    """On a free port, with nothing but an empty folder: it migrates, makes its key and its administrator, says that it
    is ready, and ends cleanly when it is told to."""
    static = tmp_path / "static"
    static.mkdir()
    manifest = static / "staticfiles.json"  # collecting is slow, and not what is asked here
    manifest.write_text('{"paths": {}, "version": "1.1", "hash": ""}')
    os.utime(manifest, (4_000_000_000,) * 2)
    environ = {"GYMNASIA_DATA": str(tmp_path), "GYMNASIA_LOCAL_MODEL": "false"}
    with Child("manage.py", "serve", "--port", "0", log=tmp_path / "log", environ=environ) as server:
        wait_for(
            lambda: server.alive() and "Gymnasia is at " in server.output(), what="the address", timeout_s=60
        )
        port = int(server.output().split("http://127.0.0.1:", 1)[1].split("/", 1)[0])
        assert get(port, "/healthz") == (200, b'{"status": "ok"}')
        status, body = get(port, "/readyz")
        assert (status, json.loads(body)) == (
            200,
            {
                "ready": True,
                "database": "migrated",
                "local_model": "absent: it is switched off (GYMNASIA_LOCAL_MODEL)",
                "engine": "running",
            },
        )
        assert get(port, "/")[0] == 302  # to the sign-in
        code = server.stop()
        output = server.output()
    assert (code, output.strip().split("\n")[-1]) == (0, "Stopped.")
    assert output.startswith("Sign in as admin with the password ")
    assert "Traceback" not in output
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
