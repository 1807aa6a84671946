"""A file is read off the request, and its row tells what came and what did not."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

from chat.importing import runs
from chat.models import Conversation, Import
from tests.importing.files import chatgpt as talk
from tests.importing.files import node, ours, plain
from tests.rows import person


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Any) -> Path:
    settings.DATA = tmp_path
    return tmp_path


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def read(user: AbstractBaseUser, data: bytes) -> Import:
    row = runs.begin(user, "../my file.json", [data[:10], data[10:]])
    runs.run(row.pk)
    return Import.objects.get(pk=row.pk)


def test_the_report(ana: AbstractBaseUser, data: Path) -> None:
    """What came, what was there, what was refused and why, what was left out inside; the file is gone after."""
    tool = talk(
        node("q1", None, "user", "x"),
        node("t2", "q1", "tool", "raw"),
        conversation_id="c-2",
        title="With a tool",
    )
    file = json.dumps([plain(), plain(), tool, {"title": "Odd"}, ours()]).encode()
    row = read(ana, file)
    assert (row.name, row.size, row.fault) == ("my file.json", len(file), "")
    assert (row.came, row.messages, row.already, row.refused) == (3, 5, 1, 1)
    assert (row.refusals, row.left_out) == ([["Odd", "unknown_format"]], {"tool": 1})
    assert row.ended is not None
    assert list((data / "imports").iterdir()) == []
    again = read(ana, file)
    assert (again.came, again.already, again.refused) == (0, 4, 1)
    assert Conversation.objects.count() == 3


@pytest.mark.parametrize(("file", "fault"), [(b"hello, world", "not_json"), (b"[]          ", "nothing")])
def test_a_file_that_is_none(ana: AbstractBaseUser, file: bytes, fault: str) -> None:
    row = read(ana, file)
    assert (row.fault, row.came, row.ended is not None) == (fault, 0, True)


def test_what_came_before_a_cut_stays(ana: AbstractBaseUser) -> None:
    """Each conversation is whole; the report says that the file was not."""
    row = read(ana, json.dumps([plain(), ours()]).encode()[:-30])
    assert (row.fault, row.came) == ("cut", 1)


def test_a_file_of_something_else_is_given_up(ana: AbstractBaseUser) -> None:
    """A thousand refusals on end, not in all: what can be read in between begins the count anew."""
    odd: list[Any] = [{}] * 999
    row = read(ana, json.dumps([*odd, plain(), *odd, ours()]).encode())
    assert (row.fault, row.came, row.refused, len(row.refusals)) == ("", 2, 1998, 100)
    row = read(ana, json.dumps([{}] * 100_000).encode())
    assert (row.fault, row.came, row.refused, row.ended is not None) == ("refused", 0, 1_000, True)


def test_progress_is_told_each_second(ana: AbstractBaseUser, django_assert_num_queries: Any) -> None:
    """Not for each conversation: a million of them would be as many writes."""
    row = runs.begin(ana, "x.json", [json.dumps([{}] * 500).encode()])
    with django_assert_num_queries(3):  # the row, its first and its last word
        runs.run(row.pk, clock=lambda: 7.0)
    row = runs.begin(ana, "x.json", [json.dumps([{}] * 5).encode()])
    seconds = iter(range(100))
    with django_assert_num_queries(7):
        runs.run(row.pk, clock=lambda: float(next(seconds)))


def test_a_form_that_comes_twice_is_one_import(ana: AbstractBaseUser, data: Path) -> None:
    """A double click; another file by the same form, or the same by another one, is another import."""
    file = json.dumps([plain()]).encode()
    came = [("k", file), ("k", file), ("k", b"[]"), ("l", file), ("", file), ("", file)]
    first, second, *others = [runs.begin(ana, "x.json", [part], key=key) for key, part in came]
    assert first == second
    assert len({row.pk for row in (first, *others)}) == Import.objects.count() == 5
    runs.run(first.pk)
    assert Import.objects.get(pk=first.pk).came == 1
    kept = sorted(path.name for path in (data / "imports").iterdir())
    assert kept == sorted(f"{row.pk}.json" for row in others)


def test_a_person_who_goes_takes_the_import_along(ana: AbstractBaseUser, data: Path) -> None:
    row = runs.begin(ana, "x.json", [json.dumps([plain()]).encode()])
    ana.delete()
    runs.run(row.pk)
    assert (Import.objects.count(), Conversation.objects.count()) == (0, 0)
    assert list((data / "imports").iterdir()) == []


def test_an_import_without_a_sign_of_life_was_interrupted(ana: AbstractBaseUser) -> None:
    row = runs.begin(ana, "x.json", [b"[]"])
    now = timezone.now()
    assert runs.is_interrupted(row, now) is False
    assert runs.is_interrupted(row, now + dt.timedelta(minutes=5)) is True


@pytest.mark.django_db(transaction=True)
def test_it_is_read_on_a_thread_of_its_own() -> None:
    """And that thread closes its connection to the database."""
    import threading

    row = runs.begin(person(), "x.json", [json.dumps([plain()]).encode()])
    for thread in threading.enumerate():
        if thread.name == "import":
            thread.join(20)
    row.refresh_from_db()
    assert (row.came, row.ended is not None) == (1, True)


def test_a_fault_of_ours_is_told_too(ana: AbstractBaseUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for the report must not wait for ever."""
    monkeypatch.setattr(runs, "keep", lambda *_: 1 / 0)
    row = read(ana, json.dumps([plain()]).encode())
    assert (row.fault, row.ended is not None) == ("lost", True)
