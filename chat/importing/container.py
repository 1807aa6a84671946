"""A file of conversations, split into its conversations without ever holding all of it.

Takes an open file: a JSON array of conversations, one conversation alone, or an archive with such an array in it: the one
that ChatGPT sends, or our own of everything that is kept of a person, in which the files of messages stand beside them.
Gives one `Talk` or one refusal for each. Pure but for reading: it knows no database.
"""

import codecs
import datetime as dt
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from chat.importing import chatgpt, own
from chat.importing.shape import NotReadable, Talk, object_of
from chat.streaming.deltas import storable
from chat.streaming.errors import EventTooLarge
from chat.streaming.json_array import ELEMENT, JUNK, OBJECT, REST, JsonArrayReader

PIECE_BYTES = 64 * 1024
# The decoder lets no other thread run while it reads one conversation: this much takes it some 0.2 s.
MOST_CONVERSATION_BYTES = 16 * 1024 * 1024
MOST_FILE_BYTES = 32 * 1024 * 1024
HEAD_CHARS = 1000
# A list or an object, whose first sign after the brace is a name's quote: else it is no JSON, and was not cut off either.
_BEGINS_AS_JSON = re.compile(r'\s*+(?:\[\s*+)*+(?:\{\s*+(?:["}]|\Z)|\Z)')
MEMBER = "conversations.json"
# What an archive, or one of the three ways in which it may be packed, says of itself when it is broken.
BROKEN = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
)


class NotTaken(ValueError):
    """The file itself cannot be read (any further); `why` is a word for the report."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Refused:
    """One conversation that cannot be read: what it is called, if that much is known, and why not."""

    title: str
    why: str


def read(file: IO[bytes], *, most_bytes: int, now: dt.datetime) -> Iterator[Talk | Refused]:
    """One after the other, in the file's order. Raises `NotTaken`, also after some were given; `most_bytes` bounds what is
    read, which for an archive is more than its size."""
    archive = _archive(file)
    with file if archive is None else _member(archive) as plain:
        fetch = None if archive is None else _files(archive, most_bytes)
        for text in _elements(plain, most_bytes):
            yield _conversation(text, now, fetch)


def _archive(file: IO[bytes]) -> zipfile.ZipFile | None:
    begin = file.read(4)
    file.seek(0)
    if begin != b"PK\x03\x04":
        return None
    try:
        return zipfile.ZipFile(file)
    except (*BROKEN, ValueError):
        raise NotTaken("archive") from None


def _member(archive: zipfile.ZipFile) -> IO[bytes]:
    try:
        names = [name for name in archive.namelist() if name.rsplit("/", 1)[-1] == MEMBER]
        if not names:
            raise NotTaken("no_member")
        return archive.open(names[0])
    except BROKEN:
        raise NotTaken("archive") from None


def _files(archive: zipfile.ZipFile, most_bytes: int) -> own.Fetch:
    """What an archive has beside its conversations, by name. What it says of a size is not believed; all together are at
    most `most_bytes`, as its conversations are."""
    left = most_bytes

    def fetch(name: str) -> bytes | None:
        nonlocal left
        try:
            with archive.open(name) as file:
                data = file.read(min(left, MOST_FILE_BYTES) + 1)
        except (KeyError, *BROKEN):
            return None
        left -= len(data)
        return None if left < 0 or len(data) > MOST_FILE_BYTES else data

    return fetch


def _elements(file: IO[bytes], most_bytes: int) -> Iterator[str]:
    reader = JsonArrayReader(MOST_CONVERSATION_BYTES)
    head = ""
    for text in _texts(file, most_bytes):
        head = head or text[:HEAD_CHARS]
        is_too_long = False
        try:
            events = reader.feed(text)
        except EventTooLarge as error:
            events, is_too_long = error.events, True
        for event in events:
            if event.type == JUNK:
                raise NotTaken("not_json")
            if event.type in {ELEMENT, OBJECT}:
                yield event.data
        if is_too_long:
            raise NotTaken("conversation_too_long")
    if any(event.type == REST for event in reader.close()):
        raise NotTaken("cut" if _BEGINS_AS_JSON.match(head) else "not_json")


def _texts(file: IO[bytes], most_bytes: int) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    left = most_bytes
    try:
        while piece := file.read(PIECE_BYTES):
            left -= len(piece)
            if left < 0:
                raise NotTaken("too_long")
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise NotTaken("not_utf8") from None
    except BROKEN:
        raise NotTaken("archive") from None


def _conversation(text: str, now: dt.datetime, fetch: own.Fetch | None) -> Talk | Refused:
    try:
        value: Any = json.loads(text)
    except RecursionError:
        return Refused("", "too_deep")
    except ValueError:
        return Refused("", "not_json")
    title = value.get("title") if isinstance(value, dict) else None
    title = storable(title[:120].replace("\x00", "")) if isinstance(title, str) else ""
    try:
        known = object_of(value, "conversation")
        if own.is_ours(known):
            return own.read(known, now=now, fetch=fetch)
        if chatgpt.is_theirs(known):
            return chatgpt.read(known, now=now)
    except NotReadable as error:
        return Refused(title, error.why)
    except RecursionError:
        return Refused(title, "too_deep")
    return Refused(title, "unknown_format")
