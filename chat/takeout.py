"""Everything that is kept of a person, as a ZIP of JSON files and their own attachments, for them to take along.

`conversations.json` is what `chat/importing` takes back, of the archive as it is; `conversations/` has more of each.

Takes a person and a file to write into; holds one conversation at a time. Left out is what is no data of theirs: what a
provider wants back, fingerprints of sessions, and how the server ran a reply. It knows no request.
"""

import json
import zipfile
from typing import IO, Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet
from django.utils import timezone

from chat import exporting
from chat.models import Conversation, Generation, Message, Preferences, Preset

FORMAT = "gymnasia.takeout.1"
_LEFT_OUT = {
    "carry",
    "session",
    "owner",
    "fence",
    "lease_until",
    "version",
    "late",
    "user",
    "cancelled_by",
    "password",
    "data",
}
_LEFT_OUT |= {"is_staff", "is_superuser", "is_active"}


def write(person: AbstractBaseUser, file: IO[bytes]) -> None:
    """The whole archive. `account.json` says what else is in it."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        preferences = Preferences.objects.filter(user_id=person.pk).first()
        homeless = Generation.objects.filter(user_id=person.pk, conversation=None)
        homeless = homeless.prefetch_related("tool_calls")
        _add(
            archive,
            "account.json",
            {
                "format": FORMAT,
                "written": timezone.now(),
                "account": facts(person),
                "preferences": facts(preferences) if preferences else {},
                "presets": [facts(each) for each in Preset.objects.owned_by(person)],
                "generations_of_deleted_conversations": [
                    facts(row) | {"tool_calls": _calls(row)} for row in homeless.iterator(chunk_size=500)
                ],
            },
        )
        with archive.open(exporting.MEMBER, "w", force_zip64=True) as whole:
            for piece in exporting.everything(person, exporting.place):
                whole.write(piece.encode("utf-8", "replace"))
        for conversation in Conversation.objects.owned_by(person).order_by("created").iterator():
            _add(archive, f"conversations/{conversation.pk}.json", _conversation(conversation))
            exporting.add_files(archive, conversation)


def facts(row: Model) -> dict[str, Any]:
    """The columns of a row by name, those that are left out aside."""
    return {
        field.name: field.value_from_object(row)
        for field in row._meta.concrete_fields  # noqa: SLF001 (Django's public name for it)
        if field.name not in _LEFT_OUT
    }


def _conversation(conversation: Conversation) -> dict[str, Any]:
    """With every branch: a message names its parent. Drafts stand with their generations, apart from the messages."""
    messages: QuerySet[Message] = conversation.messages.order_by("created").prefetch_related("attachments")
    rows = conversation.generations.order_by("number").select_related("checkpoint")
    rows = rows.prefetch_related("tool_calls")
    return {
        **facts(conversation),
        "messages": [
            {**facts(each), "attachments": [exporting.place(one) for one in each.attachments.all()]}
            for each in messages
        ],
        "generations": [{**facts(each), "draft": _draft(each), "tool_calls": _calls(each)} for each in rows],
    }


def _draft(row: Generation) -> dict[str, Any] | None:
    saved = getattr(row, "checkpoint", None)
    return None if saved is None else facts(saved)


def _calls(row: Generation) -> list[dict[str, Any]]:
    """What its model called, with the arguments as long as they are kept."""
    return [facts(call) for call in row.tool_calls.all()]


def _add(archive: zipfile.ZipFile, name: str, value: dict[str, Any]) -> None:
    archive.writestr(name, json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1))
