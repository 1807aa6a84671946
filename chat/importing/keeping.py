"""A conversation that was read becomes rows: whole or not at all, and once.

Takes a person and a `Talk`; gives what became of it. Its answers are messages without a generation, marked as imported: they
never claim to have been checked here.
"""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat import attachments, conversations, generations, search
from chat.importing.shape import File, NotReadable, Said, Talk
from chat.models import Conversation, Message, MessageKind, Origin
from chat.streaming.visible import is_visible


@dataclass(frozen=True, slots=True)
class Kept:
    """What came: the conversation (None where it had been there before), its messages, and files that were not taken."""

    conversation: UUID | None
    messages: int = 0
    files_left_out: int = field(default=0)


def keep(user: AbstractBaseUser, talk: Talk) -> Kept:
    """In one transaction. Raises `NotReadable` where a message cannot be kept."""
    _check(talk)
    try:
        return _keep(user, talk)
    except IntegrityError:
        # Another process keeps the same one at this moment: the database lets one of them in.
        with transaction.atomic():
            if _is_here(user, talk):
                return Kept(None)
        raise


def _keep(user: AbstractBaseUser, talk: Talk) -> Kept:
    with transaction.atomic():
        if _is_here(user, talk):
            return Kept(None)
        first = next(each.text for each in talk.messages)
        now = timezone.now()
        conversation = Conversation.objects.create(
            user_id=user.pk,
            source=talk.source,
            title=talk.title or generations.title_of(first),
            named=bool(talk.title),
            archived=now if talk.is_archived else None,
            pinned=now if talk.is_pinned else None,
        )
        ids = {each.key: uuid4() for each in talk.messages}
        rows = [_message(each, conversation, ids) for each in talk.messages]
        Message.objects.bulk_create(rows, batch_size=200)
        files_left_out = sum(_attach(row, said.files) for row, said in zip(rows, talk.messages, strict=True))
        search.put_all(rows)
        head = ids[talk.head] if talk.head is not None else max(rows, key=lambda row: row.created).pk
        Conversation.objects.filter(pk=conversation.pk).update(
            head=head, created=talk.created, updated=talk.updated
        )
        return Kept(conversation.pk, len(rows), files_left_out)


def _check(talk: Talk) -> None:
    if not talk.messages:
        raise NotReadable("empty")
    longest = settings.GYMNASIA.max_answer_chars
    for each in talk.messages:
        if not is_visible(each.text):
            raise NotReadable("empty_message")
        if len(each.text) > longest:
            raise NotReadable("too_long", f"{len(each.text)} characters")


def _is_here(user: AbstractBaseUser, talk: Talk) -> bool:
    """Imported before, or never gone. One that lies deleted makes room: who imports it again wants it."""
    owned = Conversation.objects.select_for_update().filter(user_id=user.pk)
    known = owned.filter(source=talk.source).first()
    kind, _colon, key = talk.source.partition(":")
    if known is None and kind == "gymnasia":
        try:
            known = owned.filter(pk=UUID(key)).first()
        except ValueError:
            return False
    if known is not None and known.deleted is not None:
        conversations.delete(known, by=user)
        return False
    return known is not None


def _message(said: Said, conversation: Conversation, ids: dict[str, UUID]) -> Message:
    return Message(
        id=ids[said.key],
        conversation=conversation,
        parent_id=ids[said.parent] if said.parent is not None else None,
        kind=_kind(said),
        text=said.text,
        origin=Origin.IMPORTED,
        origin_model=said.model,
        created=said.created,
    )


def _kind(said: Said) -> MessageKind:
    if said.is_question:
        return MessageKind.USER
    return MessageKind.EDITED if said.is_edited else MessageKind.ANSWER


def _attach(row: Message, files: tuple[File, ...]) -> int:
    """Keep what may be kept, as if it were uploaded; says how many were not taken."""
    taken = []
    for each in files[: settings.GYMNASIA.max_files]:
        try:
            data = each.read()
            if data is not None:
                taken.append(attachments.read(each.name, data))
        except attachments.NotTaken:
            continue
    if taken:
        attachments.keep(row, taken)
    return len(files) - len(taken)
