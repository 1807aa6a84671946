"""Files are split without being held; what is no such file says why."""

import copy
import datetime as dt
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from chat.importing import container
from chat.importing.container import NotTaken, Refused
from chat.importing.shape import Talk
from tests.importing.files import ours, plain

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def read(data: bytes, most_bytes: int = 10_000_000) -> list[str]:
    found = container.read(io.BytesIO(data), most_bytes=most_bytes, now=NOW)
    return [each.source if isinstance(each, Talk) else f"refused {each.title} {each.why}" for each in found]


def zipped(data: bytes, name: str = "conversations.json") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "x")
        archive.writestr(name, data)
    return out.getvalue()


OURS = "gymnasia:11111111-1111-1111-1111-111111111111"
BOTH = json.dumps([plain(), ours()]).encode()


@pytest.mark.parametrize(
    "data", [BOTH, b"\xef\xbb\xbf" + BOTH, zipped(BOTH), zipped(BOTH, "a/conversations.json")]
)
def test_both_formats_in_one_array(data: bytes) -> None:
    """Also behind a byte order mark, and in the archive that ChatGPT sends."""
    assert read(data) == ["chatgpt:c-1", OURS]


def test_one_conversation_alone() -> None:
    assert read(json.dumps(ours(), indent=1).encode()) == [OURS]


def test_an_empty_list_is_nothing() -> None:
    assert read(b"[]") == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"title": "Odd"}, "refused Odd unknown_format"),
        ([1], "refused  wrong_type"),
        ({"title": "Ring", "mapping": 7, "id": "x"}, "refused Ring wrong_type"),
        ({"title": "a\x00b", "id": "x"}, "refused ab unknown_format"),
        ({"title": 7, "mapping": {}, "id": "x"}, "refused  wrong_type"),
    ],
)
def test_one_that_cannot_be_read_stops_no_other(value: Any, told: str) -> None:
    assert read(json.dumps([value, ours()]).encode()) == [told, OURS]


def test_deep_nesting_is_refused() -> None:
    """Ten thousand lists inside of each other, before and after a good one."""
    deep = "[" * 10_000 + "]" * 10_000
    data = f"[{json.dumps(ours())},{deep},{json.dumps(ours())}]".encode()
    assert read(data) == [OURS, "refused  too_deep", OURS]


def test_what_is_no_json_inside_is_refused() -> None:
    assert read(b'[{"a": nope}, ' + json.dumps(ours()).encode() + b"]") == ["refused  not_json", OURS]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"hello", "not_json"),
        (b"", "nothing"),
        (b"{not json", "not_json"),
        (b"[{not json", "not_json"),
        (b"[ {", "cut"),
        (BOTH[:-5], "cut"),
        (b"[\xff]", "not_utf8"),
        (b"PK\x03\x04nonsense", "archive"),
        (zipped(b"[]", "other.json"), "no_member"),
        (b"x" * 100, "not_json"),
    ],
)
def test_a_file_of_another_kind_is_told(data: bytes, why: str) -> None:
    if why == "nothing":
        assert read(data) == []
        return
    with pytest.raises(NotTaken) as caught:
        read(data)
    assert caught.value.why == why


def test_an_archive_that_swells_is_stopped() -> None:
    bomb = zipped(b"[" + b" " * 5_000_000 + b"]")
    assert len(bomb) < 10_000
    with pytest.raises(NotTaken) as caught:
        read(bomb, most_bytes=1_000_000)
    assert caught.value.why == "too_long"


def test_one_conversation_may_not_be_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MOST_CONVERSATION_BYTES", 5_000)
    value = json.dumps([ours(), ours(title="x" * 6_000)]).encode()
    found = container.read(io.BytesIO(value), most_bytes=10_000_000, now=NOW)
    assert isinstance(next(found), Talk | Refused)
    with pytest.raises(NotTaken, match="conversation_too_long"):
        list(found)


def archived(**files: bytes) -> bytes:
    """Our own archive, with a conversation whose message has the files that it names."""
    names = ["attachments/a.txt", "attachments/gone.txt", "../../etc/passwd"]
    value = ours()
    value["messages"][0]["attachments"] = [{"name": "a.txt", "file": name} for name in names]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([value]))
        for name, data in files.items():
            archive.writestr(f"attachments/{name}.txt", data)
    return out.getvalue()


@pytest.mark.parametrize(("size", "most"), [(5, 10_000), (40_000_000, 100_000_000), (9_000, 5_000)])
def test_files_beside_the_conversations_are_read_when_they_are_wanted(size: int, most: int) -> None:
    """One that is not there, larger than any file may be, or past what the archive may unpack to, is none."""
    file = io.BytesIO(archived(a=b"a" * size))
    for found in container.read(file, most_bytes=most, now=NOW):
        assert isinstance(found, Talk)
        kept = b"a" * size if size == 5 else None
        assert [each.read() for each in found.messages[0].files] == [kept, None, None]
        assert +found.left_out == {}


def test_a_file_that_names_another_is_none_without_an_archive() -> None:
    value = ours()
    value["messages"][0]["attachments"] = [{"name": "a.txt", "file": "attachments/a.txt"}]
    (found,) = container.read(io.BytesIO(json.dumps(value).encode()), most_bytes=10_000, now=NOW)
    assert isinstance(found, Talk)
    assert (found.messages[0].files, found.left_out) == ((), {"file": 1})


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value in a value that is not empty."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from leaves(each, (*path, key))


ODD: list[Any] = [None, True, -1, 10**400, 1e308, "", "x", "\ud800", "\x00", [], [[]], {}, {"a": {}}]


@pytest.mark.parametrize("whole", [plain(), ours()])
def test_no_odd_value_in_any_place_stops_the_file(whole: dict[str, Any]) -> None:
    """Taken or refused, but never a fault of ours: what stands after it is read."""
    bad = []
    for path in leaves(whole):
        for odd in ODD:
            one = copy.deepcopy(whole)
            place: Any = one
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = odd
            bad.append(one)
    found = read(json.dumps([*bad, plain()]).encode())
    assert (len(found), found[-1]) == (len(bad) + 1, read(json.dumps(plain()).encode())[0])
    "".join(found).encode()  # and each is text that a page can show


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_whose_inside_is_broken_is_told(method: int) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("conversations.json", BOTH)
    data = bytearray(out.getvalue())
    data[70:90] = b"\xff" * 20
    with pytest.raises(NotTaken, match="archive"):
        read(bytes(data))
