"""Search over messages, and beside them the names of conversations: what comes into the index, what leaves it, and what a
person finds.

Takes messages as they come and go, in the transaction in which they do, and the words that a person looks for; gives hits
with excerpts. A draft has no row here, for only messages are handed in; and a message whose generation is not confirmed is
not found even if it had one. Each term must stand in the message, as it is or inside of a word, whatever its case and
accents. Both databases compare the same folded text: SQLite finds it by trigrams of FTS5, PostgreSQL by pg_trgm where the
server has it; terms that are shorter than a trigram are compared one by one, among the person's own messages. Names are in
no index: there are as many as a list can hold, and they are read when they are looked for.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import RawSQL

from chat.folding import fold, spans
from chat.models import Conversation, Departure, IndexRow, Message, MessageKind, Origin, Why
from chat.states.generation import State

PAGE = 20
BATCH = 200
MOST_TERMS = 8
MOST_QUERY_CHARS = 200
MOST_NAMED = 6
TRIGRAM = 3
BEFORE_CHARS, AFTER_CHARS = 60, 180
FTS = "chat_indexrow_fts"  # made, and kept with the rows by triggers, in the migration

_KINDS = (MessageKind.USER, MessageKind.ANSWER, MessageKind.EDITED)
_OF_PEOPLE = (MessageKind.USER, MessageKind.EDITED)
# Of Markdown: emphasis and code; and between cells, or before a heading.
_MARKS = re.compile(r"\*{2,}|`+|~~|(?<!\S)\*(?=\S)|(?<=\S)\*(?!\w)")
_CELLS = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+|\||(?<!\S)#{1,6}(?!\S)")
_TERM = re.compile(r'"([^"]*)"?|(\S+)')


# --- Coming and going -----------------------------------------------------------------------------------------------
def searchable() -> QuerySet[Message]:
    """Every message that may be found: whole, of a conversation that stands; an answer only if it was confirmed, or is
    plainly not of ours."""
    whole = Q(kind__in=_OF_PEOPLE) | Q(generation__state=str(State.confirmed)) | ~Q(origin=Origin.HERE)
    return Message.objects.filter(whole, kind__in=_KINDS, conversation__deleted=None)


def put(message: Message, *, is_new: bool = False) -> None:
    """Let a message be found as it is now. One that had been put in as another version leaves first, and that is noted."""
    if not is_new:
        known = IndexRow.objects.filter(message=message).first()
        if known is not None and _is_of(known, message):
            return
        _leave(IndexRow.objects.filter(message=message), Why.REPLACED)
    put_all([message])


def put_all(messages: Iterable[Message]) -> int:
    """Let many new ones be found, of conversations that stand; says how many. For what comes, or comes back, in bulk."""
    rows = [_row(message) for message in messages if message.kind in _KINDS]
    return len(IndexRow.objects.bulk_create(rows, batch_size=BATCH))


def remove(*, why: Why = Why.DELETED, **of: Any) -> None:
    """Let messages be found no more, at once: those with `conversation_id=` or `message_id=`. Call it in the transaction
    that takes them away."""
    _leave(IndexRow.objects.filter(**of), why)


def _leave(rows: QuerySet[IndexRow], why: Why) -> None:
    with transaction.atomic():
        leaving = list(rows.values("message_id", "conversation_id", "generation_id", "version"))
        if leaving:
            rows.delete()
            Departure.objects.bulk_create([Departure(**each, why=why) for each in leaving], batch_size=BATCH)


def _row(message: Message) -> IndexRow:
    return IndexRow(
        message=message,
        conversation_id=message.conversation_id,
        user_id=message.conversation.user_id,
        generation_id=message.generation_id,
        version=message.version,
        folded=fold(message.text),
        said=message.created,
    )


def _is_of(row: IndexRow, message: Message) -> bool:
    """The generation may have gone since, as a row of the audit may; the text is what was put in."""
    return row.version == message.version and row.folded == fold(message.text)


# --- Finding --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an excerpt: found, or around what was found."""

    text: str
    is_hit: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found, with the stretch of it that shows why."""

    message_id: UUID
    conversation_id: UUID
    title: str
    kind: str
    said: dt.datetime
    is_archived: bool
    excerpt: list[Piece]


@dataclass(frozen=True, slots=True)
class Found:
    """One page of hits, newest first; `is_more` when older ones follow."""

    terms: list[str]
    hits: list[Hit]
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A conversation that is called so."""

    conversation_id: UUID
    title: list[Piece]
    updated: dt.datetime
    is_archived: bool


def terms_of(query: str) -> list[str]:
    """What has to stand in a message: the words of a query, folded; words in double quotes are one term. No sign has a
    meaning but the quotes; what goes past the limits is not looked for."""
    found = (fold(quoted or bare) for quoted, bare in _TERM.findall(query[:MOST_QUERY_CHARS]))
    return list(dict.fromkeys(term for each in found if (term := each.strip())))[:MOST_TERMS]


def find(user: AbstractBaseUser | AnonymousUser, query: str, *, page: int = 1) -> Found:
    """The person's own messages in which every term stands."""
    terms = terms_of(query)
    if not terms or user.pk is None:
        return Found(terms, [])
    rows = IndexRow.objects.filter(user_id=user.pk, message__in=searchable(), conversation__user_id=user.pk)
    start = (max(page, 1) - 1) * PAGE
    found = list(_having(rows, terms).select_related("message", "conversation")[start : start + PAGE + 1])
    return Found(terms, [_hit(row, terms) for row in found[:PAGE]], len(found) > PAGE)


def named(user: AbstractBaseUser | AnonymousUser, query: str) -> list[Named]:
    """The person's own conversations in whose name every term stands, those that were used last first, a few at most. Where
    nothing is looked for: those that they come back to most likely, without the archive."""
    terms = terms_of(query)
    rows = Conversation.objects.owned_by(user).order_by("-updated", "-pk")
    if not terms:
        rows = rows.filter(archived=None)[:MOST_NAMED]
    found: list[Named] = []
    for row in rows.only("title", "updated", "archived").iterator():
        folded = fold(row.title)
        if all(term in folded for term in terms):
            found.append(Named(row.pk, _marked(row.title, terms), row.updated, row.archived is not None))
        if len(found) == MOST_NAMED:
            break
    return found


def _marked(title: str, terms: list[str]) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for start, end in spans(title, terms):
        pieces += [Piece(title[at:start], is_hit=False), Piece(title[start:end], is_hit=True)]
        at = end
    pieces.append(Piece(title[at:], is_hit=False))
    return [piece for piece in pieces if piece.text]


def _having(rows: QuerySet[IndexRow], terms: list[str]) -> QuerySet[IndexRow]:
    long = [term for term in terms if len(term) >= TRIGRAM]
    if connection.vendor == "sqlite" and long:
        wanted = " AND ".join('"' + term.replace('"', '""') + '"' for term in long)
        # The table's name is ours, what is looked for is a parameter.
        matching = RawSQL(f"SELECT rowid FROM {FTS} WHERE {FTS} MATCH %s", [wanted])  # noqa: S608, S611
        rows = rows.filter(pk__in=matching)
        terms = [term for term in terms if len(term) < TRIGRAM]
    for term in terms:
        rows = rows.filter(folded__contains=term)
    return rows


def _hit(row: IndexRow, terms: list[str]) -> Hit:
    return Hit(
        message_id=row.message_id,
        conversation_id=row.conversation_id,
        title=row.conversation.title,
        kind=row.message.kind,
        said=row.said,
        is_archived=row.conversation.archived is not None,
        excerpt=_plain(excerpt(row.message.text, terms), row.message.kind),
    )


def _plain(pieces: list[Piece], kind: str) -> list[Piece]:
    """Around the hits of an answer the marks of its Markdown go; what a person wrote is as they wrote it."""
    if kind == MessageKind.USER:
        return pieces
    bare = [
        each if each.is_hit else Piece(_line(_CELLS.sub(" ", _MARKS.sub("", each.text))), is_hit=False)
        for each in pieces
    ]
    return [each for each in bare if each.text]


def excerpt(text: str, terms: list[str]) -> list[Piece]:
    """The stretch around the first place where a term stands, from word to word, on one line, with the places marked."""
    places = spans(text, terms)
    first = places[0][0] if places else 0
    start, end = max(0, first - BEFORE_CHARS), min(len(text), first + AFTER_CHARS)
    if start:
        start = next((at + 1 for at in range(start, first) if text[at].isspace()), start)
    if end < len(text):
        end = next((at for at in range(end, max(first, end - 30), -1) if text[at].isspace()), end)
    pieces = [Piece("…", is_hit=False)] if start else []
    at = start
    for begin, close in places:
        if begin >= end:
            break
        pieces += [Piece(_line(text[at:begin]), is_hit=False), Piece(_line(text[begin:close]), is_hit=True)]
        at = close
    pieces.append(Piece(_line(text[at : max(at, end)]), is_hit=False))
    if end < len(text):
        pieces.append(Piece("…", is_hit=False))
    return [piece for piece in pieces if piece.text]


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


# --- Looking after it -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Health:
    """How the index differs from the messages: all zero and sound when it is right."""

    missing: int
    stray: int
    stale: int
    is_sound: bool = True

    @property
    def is_right(self) -> bool:
        return self.is_sound and not (self.missing or self.stray or self.stale)


def examine() -> Health:
    """Compare the index with the messages, text by text."""
    stale = sum(1 for row in _indexed() if not _is_of(row, row.message))
    return Health(_missing().count(), _stray().count(), stale, _is_sound())


def rebuild() -> Health:
    """Make the index right, a few hundred rows at a time; says what was wrong. Safe while the server runs."""
    before = Health(_missing().count(), _stray().count(), 0, _is_sound())
    _leave(_stray(), Why.REINDEXED)
    stale = 0
    for row in _indexed():
        if not _is_of(row, row.message):
            stale += 1
            put(row.message)
    while some := list(_missing().select_related("conversation").order_by("pk")[:BATCH]):
        put_all(some)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {FTS}({FTS}) VALUES ('rebuild')")  # noqa: S608
    return Health(before.missing, before.stray, stale, before.is_sound)


def _missing() -> QuerySet[Message]:
    return searchable().filter(index_row=None)


def _stray() -> QuerySet[IndexRow]:
    owned = IndexRow.objects.filter(conversation=F("message__conversation"), user=F("conversation__user"))
    return IndexRow.objects.exclude(message__in=searchable(), pk__in=owned)


def _indexed() -> Iterator[IndexRow]:
    rows = IndexRow.objects.filter(message__in=searchable()).select_related("message__conversation")
    return rows.order_by("pk").iterator(chunk_size=BATCH)


def _is_sound() -> bool:
    """Whether SQLite's full-text table says the same as the rows that it follows."""
    if connection.vendor != "sqlite":
        return True
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {FTS}({FTS}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
    except DatabaseError:
        return False
    return True
