"""Conversations as files: JSON with the whole tree, Markdown of the branch that is shown, everything of a person.

Takes conversations that their owner may see, gives documents and text. Messages stand in them as messages; a generation
stands in them as facts (state, reason, model, times, use), whether it was confirmed or not, and never as text: no draft,
no reasoning, nothing carried. The JSON's form has a number; `chat/importing/own.py` reads it. A file that was sent along
stands in it, or, in an archive, beside it: where it would make more of the document than an import takes back.
"""

import datetime as dt
import json
import re
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, Literal
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Prefetch, QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.importing.container import MOST_CONVERSATION_BYTES
from chat.models import Attachment, Conversation, Generation, Message, MessageKind, Origin
from chat.states.generation import State

FORMAT = "gymnasia.conversation"
VERSION = 1
MEMBER = "conversations.json"
Place = Callable[[Attachment], str]
Say = Callable[[Generation], str]
_ESCAPED = 6  # letters that JSON may make of one
_UNSAFE = re.compile(r"[^\w.-]+")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


def document(conversation: Conversation, place: Place | None = None) -> dict[str, Any]:
    """Everything that is kept of a conversation but reasoning and what providers want back. Its files stand in it, or, where
    there is a `place` for each in an archive, by the names that they have there."""
    messages = list(
        Message.objects.filter(conversation=conversation)
        .prefetch_related(Prefetch("attachments", Attachment.objects.order_by("position")))
        .order_by("created", "pk")
    )
    generations = Generation.objects.filter(conversation=conversation).order_by("number")
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported": _time(timezone.now()),
        "id": str(conversation.pk),
        "title": conversation.title,
        "created": _time(conversation.created),
        "updated": _time(conversation.updated),
        "pinned": _time(conversation.pinned),
        "archived": _time(conversation.archived),
        "model": {"provider": conversation.endpoint, "name": conversation.model},
        "head": _id(conversation.head_id),
        "messages": [_message(each, place) for each in messages],
        "generations": [_generation(each) for each in generations],
    }


def as_json(conversation: Conversation) -> str:
    return json.dumps(document(conversation), ensure_ascii=False, indent=1) + "\n"


def archive(conversations: Iterable[Conversation], file: IO[bytes]) -> None:
    """The same documents as an archive, which an import takes too: their files stand beside them."""
    kept: list[Conversation] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        with zipped.open(MEMBER, "w", force_zip64=True) as whole:
            for conversation in conversations:
                kept.append(conversation)
                text = json.dumps(document(conversation, place), ensure_ascii=False)
                whole.write((",\n" if len(kept) > 1 else "[\n").encode() + text.encode("utf-8", "replace"))
            whole.write(b"\n]\n" if kept else b"[]\n")
        for conversation in kept:
            add_files(zipped, conversation)


def add_files(zipped: zipfile.ZipFile, conversation: Conversation) -> None:
    """What was sent along with a conversation's messages, each at its place."""
    for attachment in Attachment.objects.filter(message__conversation=conversation).iterator():
        zipped.writestr(place(attachment), attachment.data or attachment.text.encode())


def place(attachment: Attachment) -> str:
    """Where a file stands in an archive."""
    return f"attachments/{attachment.pk}/{_UNSAFE.sub('_', attachment.name).lstrip('.') or 'file'}"


def way_back(conversation: Conversation) -> Literal["json", "archive", ""]:
    """As what an import takes this conversation: one document, an archive with its files beside it, or not at all."""
    files, chars = _sizes(Conversation.objects.filter(pk=conversation.pk))
    if 2 * files + _ESCAPED * chars < MOST_CONVERSATION_BYTES // 2:
        return "json"
    if files <= MOST_CONVERSATION_BYTES and len(as_json(conversation).encode()) <= MOST_CONVERSATION_BYTES:
        return "json"
    text = json.dumps(document(conversation, place), ensure_ascii=False)
    fits = len(text.encode("utf-8", "replace")) <= MOST_CONVERSATION_BYTES
    return "archive" if fits and files <= settings.GYMNASIA.max_import_bytes else ""


def fit_one_document(conversations: QuerySet[Conversation]) -> bool:
    """Whether an import takes all of them as one JSON file, whichever of them is how large."""
    files, chars = _sizes(conversations)
    return 2 * files + chars <= MOST_CONVERSATION_BYTES


def _sizes(conversations: QuerySet[Conversation]) -> tuple[int, int]:
    """Bytes of the files that were sent along, and letters of the messages."""
    files = Attachment.objects.filter(message__conversation__in=conversations).aggregate(all=Sum("size"))
    texts = Message.objects.filter(conversation__in=conversations).aggregate(all=Sum(Length("text")))
    return files["all"] or 0, texts["all"] or 0


def everything(user: AbstractBaseUser | AnonymousUser, place: Place | None = None) -> Iterator[str]:
    """All conversations of a person, archived ones too, as one JSON array, a conversation at a time."""
    yield "["
    separator = "\n"
    for key in Conversation.objects.owned_by(user).order_by("created", "pk").values_list("pk", flat=True):
        conversation = Conversation.objects.owned_by(user).filter(pk=key).first()
        if conversation is not None:  # else deleted while the file was being written
            yield separator + json.dumps(document(conversation, place), ensure_ascii=False)
            separator = ",\n"
    yield "\n]\n"


def file_name(conversation: Conversation, ending: str) -> str:
    """A name that every file system takes."""
    plain = re.sub(r"[^\w\- ]+", "", conversation.title).strip().replace(" ", "-")[:60].strip("-")
    return f"{plain or 'conversation'}.{ending}"


def as_markdown(conversation: Conversation, *, ending: Say, model: Say) -> str:
    """The branch that is shown, as a person would write it down. A reply that is no answer is told, not quoted: in the words
    that `ending` has for it; a model is called what `model` calls it. Both give plain text."""
    pieces = [f"# {_plain(conversation.title)}"]
    given_up = _given_up(conversation, ending)
    for message in branch(conversation):
        if message.kind == MessageKind.USER:
            files = "".join(f"\n\n*{_plain(each.name)}*" for each in message.attachments.all())
            pieces.append(f"## {_('You')}{files}\n\n{_closed(message.text)}")
            pieces += [f"*{_plain(given_up[message.pk])}*"] if message.pk in given_up else []
        else:
            pieces.append(f"## {_said_by(message, model)}\n\n{_closed(message.text)}")
    return "\n\n".join(pieces) + "\n"


def branch(conversation: Conversation, head: Message | None = None) -> list[Message]:
    """The messages that lead to `head` (without one: to the last that is shown), oldest first."""
    found = Message.objects.filter(conversation=conversation).select_related("generation")
    found = found.defer("reasoning", "carry")
    rows = {each.pk: each for each in found.prefetch_related("attachments")}
    last = head.pk if head is not None else conversation.head_id
    at = rows.get(last) if last else None
    path: list[Message] = []
    while at is not None:
        path.append(at)
        at = rows.get(at.parent_id) if at.parent_id else None
    return path[::-1]


def _said_by(message: Message, name: Say) -> str:
    if message.kind == MessageKind.EDITED:
        return _("Answer (edited by a person)")
    if message.origin != Origin.HERE:
        model = message.origin_model or _("model not known")
        return _("Answer (imported, %(model)s)") % {"model": _plain(model)}
    model = name(message.generation) if message.generation else _("model not known")
    return _("Answer (%(model)s)") % {"model": _plain(model)}


def _given_up(conversation: Conversation, ending: Say) -> dict[UUID, str]:
    """One sentence for each question that was given up without an answer: only its last try counts. One whose answer was
    taken away was not given up."""
    replies = Message.objects.filter(conversation=conversation).exclude(kind=MessageKind.USER)
    answered = set(replies.values_list("parent_id", flat=True))
    tries = Generation.objects.filter(conversation=conversation).order_by("number")
    last = {row.parent_id: row for row in tries}
    return {
        question: ending(row)
        for question, row in last.items()
        if question is not None and question not in answered and row.state != State.confirmed
    }


def _closed(text: str) -> str:
    """A text whose last fence is open would swallow what follows it in the file."""
    open_fence = ""
    for found in _FENCE.finditer(text):
        mark = found.group(1)
        if not open_fence:
            open_fence = mark
        elif mark[0] == open_fence[0] and len(mark) >= len(open_fence):
            open_fence = ""
    return f"{text}\n{open_fence}" if open_fence else text


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", " ".join(text.split()))


# --- the parts of the document --------------------------------------------------------------------------------------
def _message(row: Message, place: Place | None) -> dict[str, Any]:
    value: dict[str, Any] = {
        "id": str(row.pk),
        "parent": _id(row.parent_id),
        "kind": row.kind,
        "text": row.text,
        "created": _time(row.created),
        "version": row.version,
        "generation": _id(row.generation_id),
        "origin": row.origin,
    }
    if row.origin_model:
        value["origin_model"] = row.origin_model
    attached = [_attachment(each, place) for each in row.attachments.all()]
    return value | ({"attachments": attached} if attached else {})


def _attachment(row: Attachment, place: Place | None) -> dict[str, Any]:
    value: dict[str, Any] = {"name": row.name, "media_type": row.media_type}
    if place is not None:
        return value | {"file": place(row)}
    if row.data is not None:
        return value | {"base64": b64encode(row.data).decode("ascii")}
    return value | {"text": row.text}


def _generation(row: Generation) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "number": row.number,
        "answers": _id(row.parent_id),
        "state": row.state,
        "confirmed": row.state == State.confirmed,
        "reason": row.reason or None,
        "provider_reason": row.provider_reason or None,
        "provider": row.endpoint,
        "model": row.model,
        "wire": row.wire or None,
        "settings": row.settings,
        "attempt": row.attempt,
        "retry_of": _id(row.retry_of_id),
        "usage": {
            "input": row.usage_input,
            "output": row.usage_output,
            "reasoning": row.usage_reasoning,
            "cached_input": row.usage_cached_input,
        },
        "created": _time(row.created),
        "ended": _time(row.ended_at),
    }


def _time(at: dt.datetime | None) -> str | None:
    return at.isoformat() if at else None


def _id(key: Any) -> str | None:
    return str(key) if key else None
