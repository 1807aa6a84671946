"""A file of conversations, split into its conversations without ever holding all of it.

Takes an open file: a JSON array of conversations, one conversation alone, or the archive that ChatGPT sends, with such an
array in it. Gives one `Talk` or one refusal for each. Pure but for reading: it knows no database.
"""

import codecs
import datetime as dt
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from chat.importing import chatgpt, own
from chat.importing.shape import NotReadable, Talk, object_of
from chat.streaming.errors import EventTooLarge
from chat.streaming.json_array import ELEMENT, JUNK, OBJECT, REST, JsonArrayReader

PIECE_BYTES = 64 * 1024
# The decoder lets no other thread run while it reads one conversation: this much takes it some 0.2 s.
MOST_CONVERSATION_BYTES = 16 * 1024 * 1024
MEMBER = "conversations.json"


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
    with _opened(file) as plain:
        for text in _elements(plain, most_bytes):
            yield _conversation(text, now)


def _opened(file: IO[bytes]) -> IO[bytes]:
    begin = file.read(4)
    file.seek(0)
    if begin != b"PK\x03\x04":
        return file
    try:
        archive = zipfile.ZipFile(file)
        names = [name for name in archive.namelist() if name.rsplit("/", 1)[-1] == MEMBER]
        if not names:
            raise NotTaken("no_member")
        return archive.open(names[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
        raise NotTaken("archive") from None


def _elements(file: IO[bytes], most_bytes: int) -> Iterator[str]:
    reader = JsonArrayReader(MOST_CONVERSATION_BYTES)
    for text in _texts(file, most_bytes):
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
        raise NotTaken("cut")


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
    except (zipfile.BadZipFile, EOFError, OSError):
        raise NotTaken("archive") from None


def _conversation(text: str, now: dt.datetime) -> Talk | Refused:
    try:
        value: Any = json.loads(text)
    except RecursionError:
        return Refused("", "too_deep")
    except ValueError:
        return Refused("", "not_json")
    title = value.get("title") if isinstance(value, dict) else None
    title = title[:120].replace("\x00", "") if isinstance(title, str) else ""
    try:
        known = object_of(value, "conversation")
        if own.is_ours(known):
            return own.read(known, now=now)
        if chatgpt.is_theirs(known):
            return chatgpt.read(known, now=now)
    except NotReadable as error:
        return Refused(title, error.why)
    except RecursionError:
        return Refused(title, "too_deep")
    return Refused(title, "unknown_format")
