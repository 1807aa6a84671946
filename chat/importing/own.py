"""Our own export, `gymnasia.conversation` version 1, as a conversation to be kept. Pure.

Its messages are taken; the generations of another installation are not: what was confirmed there was not confirmed here, so
an answer comes as an imported one, with the model that the file names.
"""

import binascii
import datetime as dt
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from chat.importing.shape import (
    NAME_CHARS,
    SOURCE_CHARS,
    File,
    NotReadable,
    Said,
    Talk,
    in_order,
    list_of,
    object_of,
    text_of,
    time_of,
    title_of,
)

FORMAT = "gymnasia.conversation"
VERSION = 1
MOST_FILES = 100


def is_ours(value: dict[str, Any]) -> bool:
    return value.get("format") == FORMAT


Fetch = Callable[[str], bytes | None]


def read(value: dict[str, Any], *, now: dt.datetime, fetch: Fetch | None = None) -> Talk:
    """`fetch` reads a file of the archive by its name, if there is one. Raises `NotReadable`; also for a version that is
    newer than this product."""
    if value.get("version") != VERSION:
        raise NotReadable("version", str(value.get("version"))[:20])
    source = text_of(value.get("id"), "id")
    if not source or len(source) > SOURCE_CHARS - len("gymnasia:"):
        raise NotReadable("no_id")
    created = time_of(value.get("created"), now)
    models = _models(list_of(value.get("generations", []), "generations"))
    left_out: Counter[str] = Counter()
    messages = in_order(
        [
            _said(object_of(each, "message"), created, models, left_out, fetch)
            for each in list_of(value.get("messages"), "messages")
        ]
    )
    head = value.get("head")
    if head is not None and text_of(head, "head") not in {each.key for each in messages}:
        raise NotReadable("parent_missing", "head")
    return Talk(
        source=f"gymnasia:{source}",
        title=title_of(value.get("title")),
        created=created,
        updated=time_of(value.get("updated"), created),
        messages=messages,
        head=head,
        is_archived=value.get("archived") is not None,
        is_pinned=value.get("pinned") is not None,
        left_out=left_out,
    )


def _said(
    value: dict[str, Any],
    created: dt.datetime,
    models: dict[str, str],
    left_out: Counter[str],
    fetch: Fetch | None,
) -> Said:
    kind = value.get("kind")
    if kind not in ("user", "answer", "edited"):  # no sets here: what a file says may have no hash
        raise NotReadable("wrong_type", f"kind: expected user, answer or edited, got {str(kind)[:20]!r}")
    parent = value.get("parent")
    named = value.get("origin_model") or models.get(str(value.get("generation")), "")
    return Said(
        key=text_of(value.get("id"), "id"),
        parent=None if parent is None else text_of(parent, "parent"),
        is_question=kind == "user",
        text=text_of(value.get("text"), "text"),
        created=time_of(value.get("created"), created),
        model=text_of(named, "model")[:NAME_CHARS] if kind == "answer" else "",
        files=_files(list_of(value.get("attachments", []), "attachments"), left_out, fetch),
        is_edited=kind == "edited",
    )


def _files(values: list[Any], left_out: Counter[str], fetch: Fetch | None) -> tuple[File, ...]:
    files = []
    for value in values[:MOST_FILES]:
        each = object_of(value, "attachment")
        name = text_of(each.get("name"), "name")
        if "file" in each:
            place = text_of(each["file"], "file")
            if fetch is None:
                left_out["file"] += 1
            else:
                files.append(File(name, fetch=partial(fetch, place)))
            continue
        try:
            if "base64" in each:
                data = b64decode(text_of(each["base64"], "base64"), validate=True)
            else:
                data = text_of(each.get("text"), "text").encode()
        except (binascii.Error, ValueError) as error:
            if isinstance(error, NotReadable):
                raise
            left_out["file"] += 1
            continue
        files.append(File(name, data))
    left_out["file"] += len(values[MOST_FILES:])
    return tuple(files)


def _models(values: list[Any]) -> dict[str, str]:
    """The model of each generation, by its id."""
    found = {}
    for value in values:
        each = object_of(value, "generation")
        found[str(each.get("id"))] = text_of(each.get("model"), "model")
    return found
