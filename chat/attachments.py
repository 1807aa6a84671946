"""Files that a person sends along: what they are, where they are kept, and how a model gets to see them.

Takes names and bytes as they were uploaded, gives checked uploads, rows and the pieces of a turn. What a file is, its bytes
say: neither its name nor what the browser calls it is believed. It knows no request.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.conf import settings
from django.db.models import Max

from chat.models import Attachment, AttachmentKind, Message
from chat.models.attachment import NAME_CHARS
from chat.providers.base import Image
from chat.streaming.visible import is_visible

# How each kind of picture begins that every provider takes. No SVG: it is a document that can hold scripts.
SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
UNSEEN = "[picture {name}: not shown, this model takes no pictures]"


class Upload(NamedTuple):
    """A file that may be kept: either `text` or `data`."""

    name: str
    kind: AttachmentKind
    media_type: str
    size: int
    text: str = ""
    data: bytes | None = None


class NotTaken(ValueError):
    """A file that is refused: `name`, and `why` as a word for the form's sentence."""

    def __init__(self, name: str, why: str, limit: int = 0) -> None:
        super().__init__(f"{name}: {why}")
        self.name, self.why, self.limit = name, why, limit


def read(name: str, data: bytes) -> Upload:
    """Look at an upload. Raises `NotTaken`: `empty`, `picture_too_large`, `text_too_long` or `unknown` (neither a picture
    of the four kinds nor text in UTF-8)."""
    name = plain_name(name)
    if not data:
        raise NotTaken(name, "empty")
    media_type = picture_type(data)
    if media_type:
        if len(data) > settings.GYMNASIA.max_picture_bytes:
            raise NotTaken(name, "picture_too_large", settings.GYMNASIA.max_picture_bytes)
        return Upload(name, AttachmentKind.PICTURE, media_type, len(data), data=data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotTaken(name, "unknown") from None
    if "\x00" in text:
        raise NotTaken(name, "unknown")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not is_visible(text):
        raise NotTaken(name, "empty")
    if len(text) > settings.GYMNASIA.max_file_chars:
        raise NotTaken(name, "text_too_long", settings.GYMNASIA.max_file_chars)
    return Upload(name, AttachmentKind.TEXT, "text/plain", len(data), text=text)


def picture_type(data: bytes) -> str:
    """The media type that the bytes say, "" if they are no picture of a kind that is taken."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for begin, media_type in SIGNATURES if data.startswith(begin)), "")


def plain_name(name: str) -> str:
    """A name that can stand in a page, a header and a prompt: no path, no control characters, not too long."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(sign for sign in last if sign.isprintable() and sign not in '"<>').strip()
    if len(shown) > NAME_CHARS:
        stem, dot, ending = shown.rpartition(".")
        keep = len(ending) + 1 if dot and len(ending) < 12 else 0
        shown = f"{(stem if keep else shown)[: NAME_CHARS - keep]}{shown[-keep:] if keep else ''}"
    return shown or "file"


def keep(message: Message, uploads: Sequence[Upload]) -> None:
    """Hang uploads on a message, after those that it has; call it in the transaction that makes the message."""
    last = message.attachments.aggregate(last=Max("position"))["last"] if uploads else None
    first = 0 if last is None else last + 1
    Attachment.objects.bulk_create(
        Attachment(message=message, position=place, **upload._asdict())
        for place, upload in enumerate(uploads, start=first)
    )


def copy(old: Message, new: Message) -> None:
    """The same files on another version of a message."""
    keep(
        new,
        [
            Upload(
                each.name,
                AttachmentKind(each.kind),
                each.media_type,
                each.size,
                each.text,
                bytes(each.data) if each.data is not None else None,
            )
            for each in old.attachments.all()
        ],
    )


def as_asked(text: str, attached: Iterable[Attachment], *, sees: bool) -> tuple[str, list[Image]]:
    """The text and pictures of a turn: files before the question that is about them, as providers advise. A model that
    takes no pictures is told that there was one, so that it does not make one up."""
    pieces: list[str] = []
    images: list[Image] = []
    for each in attached:
        if each.kind == AttachmentKind.TEXT:
            pieces.append(f'<file name="{each.name}">\n{each.text}\n</file>')
        elif sees and each.data is not None:
            images.append(Image(each.media_type, b64encode(each.data).decode("ascii")))
        else:
            pieces.append(UNSEEN.format(name=each.name))
    return "\n\n".join([*pieces, text]), images
