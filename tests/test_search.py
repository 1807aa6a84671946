"""Search reads messages and nothing else; what goes is found no more at once. One body for every database."""

from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat import conversations, drafts, search
from chat.models import Conversation, Departure, IndexRow, Message, MessageKind, Origin
from chat.search import Health, Hit, Piece
from chat.states.generation import State
from tests.rows import brought_to, conversation_of, draft, ended, fresh, opened, person, reading, sent


@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


def names(user: Any, query: str) -> list[str]:
    """The names that are found, with what was found in brackets."""
    return [
        "".join(f"[{piece.text}]" if piece.is_hit else piece.text for piece in each.title)
        for each in search.named(user, query)
    ]


def texts(user: Any, query: str, **more: Any) -> list[str]:
    """The texts of the messages that are found, newest first."""
    hits = search.find(user, query, **more).hits
    return [Message.objects.get(pk=hit.message_id).text for hit in hits]


# --- the law --------------------------------------------------------------------------------------------------------
def test_questions_and_confirmed_answers_are_found(ana: AbstractBaseUser) -> None:
    """The hit says where it stands, and shows why."""
    row = ended(sent(ana, "How long is a **rest**?"), reading("A long rest: two minutes."))
    question, answer = Message.objects.order_by("created")
    title = conversation_of(row).title
    assert search.find(ana, "Rest").hits == [
        Hit(
            answer.pk,
            conversation_of(row).pk,
            title,
            "answer",
            answer.created,
            False,
            [Piece("A long ", False), Piece("rest", True), Piece(": two minutes.", False)],
        ),
        Hit(
            question.pk,
            conversation_of(row).pk,
            title,
            "user",
            question.created,
            False,
            [Piece("How long is a **", False), Piece("rest", True), Piece("**?", False)],
        ),
    ]


def test_conversations_are_found_by_their_names(ana: AbstractBaseUser) -> None:
    """One's own that stand, also those in the archive; without case and accents; those that were used last first."""
    for title in ("Treino de força", "Forca e fôlego", "FORÇA: gone", "Something else"):
        conversations.rename(conversation_of(sent(ana, "x")), title)
    conversations.discard(Conversation.objects.get(title="FORÇA: gone"), by=ana)
    conversations.archive(Conversation.objects.get(title="Treino de força"), on=True)
    conversations.rename(conversation_of(sent(person("eva"), "x")), "Força of another")
    assert names(ana, "FORCA") == ["[Forca] e fôlego", "Treino de [força]"]
    assert [each.is_archived for each in search.named(ana, "forca")] == [False, True]
    assert names(ana, "folego forca") == ["[Forca] e [fôlego]"]
    assert names(ana, "heron") == []
    assert search.named(AnonymousUser(), "forca") == []


def test_who_looks_for_nothing_goes_back_to_what_was_last(ana: AbstractBaseUser) -> None:
    for number in range(9):
        conversations.rename(conversation_of(sent(ana, "x")), f"Walk {number}")
    conversations.archive(Conversation.objects.get(title="Walk 7"), on=True)
    assert names(ana, " ") == ["Walk 8", "Walk 6", "Walk 5", "Walk 4", "Walk 3", "Walk 2"]
    assert names(ana, "walk") == [f"[Walk] {number}" for number in (8, 7, 6, 5, 4, 3)]


def test_an_excerpt_of_an_answer_reads_as_text(ana: AbstractBaseUser) -> None:
    text = "# Rest\n\n**Two to *three* minutes**, `or` 3 * 4:\n\n| Goal | Rest |\n| --- | ---: |\n| Size | 90 s |"
    ended(sent(ana, "x"), reading(text))
    (hit,) = search.find(ana, "minutes").hits
    assert "".join(piece.text for piece in hit.excerpt) == (
        " Rest Two to three minutes, or 3 * 4: Goal Rest Size 90 s "
    )


def test_nothing_that_is_not_an_answer_is_found(ana: AbstractBaseUser) -> None:
    """No draft, no reasoning, nothing carried, no remains: whatever state it ended in."""
    writing = sent(ana, "One?")
    opened(writing)
    drafts.save([drafts.Save(writing.pk, 1, draft(writing, "heron draft"))])
    ended(sent(ana, "Two?"), reading("Fine.", reasoning_parts=["heron thought"], carry=[{"sig": "heron"}]))
    for state in (State.cancelled, State.incomplete, State.failed, State.expired):
        brought_to(state, ana, text=f"Three {state}?")
    assert search.find(ana, "heron").hits == []
    assert IndexRow.objects.count() == Message.objects.count()


def test_a_message_of_a_generation_that_is_not_confirmed_would_not_be_found(ana: AbstractBaseUser) -> None:
    """The last wall: no such row is ever made, and one that were made all the same is not shown."""
    row = fresh(opened(sent(ana, "One?")).generation)
    forged = Message.objects.create(
        conversation=conversation_of(row), kind=MessageKind.ANSWER, text="Forged heron.", generation=row
    )
    unowned = Message.objects.create(
        conversation=conversation_of(row), kind=MessageKind.ANSWER, text="Orphan heron."
    )
    assert search.find(ana, "heron").hits == []
    assert search.examine() == Health(missing=0, stray=2, stale=0)
    search.rebuild()
    assert set(Departure.objects.values_list("message_id", "why")) == {
        (forged.pk, "reindexed"),
        (unowned.pk, "reindexed"),
    }


def test_an_imported_answer_is_found(ana: AbstractBaseUser) -> None:
    """It has no generation and says that it came from elsewhere."""
    row = sent(ana, "One?")
    Message.objects.create(
        conversation=conversation_of(row),
        kind=MessageKind.ANSWER,
        text="An imported heron.",
        origin=Origin.IMPORTED,
    )
    assert texts(ana, "heron") == ["An imported heron."]


def test_nobody_finds_what_is_somebody_elses(ana: AbstractBaseUser) -> None:
    sent(ana, "Where do herons sleep?")
    assert texts(person("eva", is_staff=True, is_superuser=True), "herons") == []
    assert texts(AnonymousUser(), "herons") == []
    assert texts(ana, "herons") == ["Where do herons sleep?"]


# --- coming and going -----------------------------------------------------------------------------------------------
def test_each_row_says_its_generation_and_version(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana, "How LONG?"), reading("Två minuter."))
    question, answer = Message.objects.order_by("created")
    assert list(
        IndexRow.objects.order_by("said").values_list("message_id", "generation_id", "version", "folded")
    ) == [
        (question.pk, None, 1, "how long?"),
        (answer.pk, row.pk, 1, "tva minuter."),
    ]


def test_a_replaced_version_leaves_at_once_and_that_is_noted(ana: AbstractBaseUser) -> None:
    row = ended(sent(ana, "One?"), reading("The old heron."))
    answer = Message.objects.get(kind=MessageKind.ANSWER)
    answer.text, answer.version = "The new stork.", 2
    answer.save()
    assert (texts(ana, "heron"), texts(ana, "stork")) == ([], ["The new stork."])
    [left] = Departure.objects.all()
    assert (left.message_id, left.conversation_id, left.generation_id, left.version, left.why) == (
        answer.pk,
        answer.conversation_id,
        row.pk,
        1,
        "replaced",
    )
    answer.save()
    assert Departure.objects.count() == 1


def test_a_discarded_conversation_is_found_no_more_until_it_is_brought_back(ana: AbstractBaseUser) -> None:
    """Also where its reply was being written: that ends in the same moment."""
    conversation = conversation_of(ended(sent(ana, "Where do herons sleep?"), reading("Herons stand.")))
    sent(ana, "And do herons swim?", conversation=conversation)
    sent(ana, "Other herons?")
    conversations.discard(conversation, by=ana)
    assert texts(ana, "herons") == ["Other herons?"]
    assert list(Departure.objects.values_list("why", flat=True)) == ["deleted"] * 3
    assert conversations.restore(conversation) is True
    assert texts(ana, "herons") == [
        "Other herons?",
        "And do herons swim?",
        "Herons stand.",
        "Where do herons sleep?",
    ]
    assert search.examine().is_right


@pytest.mark.parametrize("door", ["verb", "query", "message", "person"])
def test_what_is_deleted_for_good_leaves_through_every_door(ana: AbstractBaseUser, door: str) -> None:
    """The audit survives, without a word of the text."""
    conversation = conversation_of(ended(sent(ana, "Where do herons sleep?"), reading("Herons stand.")))
    conversation_id = conversation.pk
    if door == "verb":
        conversations.delete(conversation, by=ana)
    elif door == "query":
        type(conversation).objects.filter(pk=conversation.pk).delete()
    elif door == "message":
        Message.objects.get(parent=None).delete()
    else:
        ana.delete()
    assert IndexRow.objects.count() == 0
    left = Departure.objects.values_list("conversation_id", "why")
    assert list(left) == [(conversation_id, "deleted")] * 2
    assert search.examine() == Health(0, 0, 0)


# --- what people type -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Alongamento é AÇÃO", "acao"),
        ("Straße und Maß", "STRASSE"),
        ("cafe\u0301 noir", "Café"),
        ("日本語で話す", "本語"),
        ("가나다", "나"),
        ("שלום עולם", "עולם"),
        ("مرحبا", "مرحبا"),
        ("Go \U0001f3c3\U0001f3fd\u200d♀️ now", "\U0001f3c3\U0001f3fd\u200d♀️"),
        ("a C++ & C# guide", "c++"),
        ("100% sure_thing", "%"),
        ("100% sure_thing", "e_t"),
        ('say "NEAR" or AND', '"near'),
        ("it's", "'s"),
        ("x", "x"),
        ("a\\b", "\\"),
        ("first\nsecond third", '"first second"'),
    ],
)
def test_is_found(ana: AbstractBaseUser, text: str, query: str) -> None:
    """Whatever the case, the accents, the script; short words, signs and phrases too."""
    sent(ana, text)
    sent(ana, "Something else entirely")
    assert texts(ana, query) == [text]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("two words", '"words two"'),
        ("two words", "two three"),
        ("abc", "a%c"),
        ("abc", "a_c"),
        ("abc", "ab*"),
        ("abc def", "abc NOT def"),
        ("abc def", "folded:abc"),
    ],
)
def test_is_not_found(ana: AbstractBaseUser, text: str, query: str) -> None:
    """Every term must stand there, and no sign is an operator."""
    sent(ana, text)
    assert texts(ana, query) == []


@pytest.mark.parametrize("query", ["", "  ", '""', '"', "\x00", "\u200b\ufeff", '" "'])
def test_nothing_to_look_for_finds_nothing(ana: AbstractBaseUser, query: str) -> None:
    sent(ana, "Anything")
    assert search.find(ana, query).hits == []


@pytest.mark.parametrize(
    "query",
    [
        "a" * 10_000,
        "abc " * 2_500,
        '"' * 999,
        "(" * 500,
        "NEAR(a b, 5)",
        "' OR 1=1 --",
        "^abc",
        "-abc",
        "a\x00b",
        "\ud800",
        "\u202eabc",
        "%" * 150,
    ],
)
def test_a_hostile_query_is_only_a_query(ana: AbstractBaseUser, query: str) -> None:
    sent(ana, "abc")
    assert len(search.find(ana, query).hits) <= 1
    assert len(search.terms_of(query)) <= search.MOST_TERMS


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_stretch_of_a_message_finds_it(ana: AbstractBaseUser, data: st.DataObject) -> None:
    """Unless it shows nothing; and its excerpt is made of the message's own characters."""
    text = data.draw(
        st.text(st.characters(exclude_characters='\x00"', exclude_categories=["Cs"]), min_size=1)
    )
    start = data.draw(st.integers(0, len(text) - 1))
    stretch = text[start : data.draw(st.integers(start + 1, len(text)))]
    conversation = conversation_of(sent(ana, "Made for this"))
    message = Message.objects.create(conversation=conversation, kind=MessageKind.USER, text=text)
    found = search.find(ana, f'"{stretch}"')
    if found.terms and len(stretch) <= 100:
        assert found.hits[0].message_id == message.pk
        assert any(piece.is_hit for piece in found.hits[0].excerpt)
    conversations.delete(conversation, by=ana)


def test_pages_of_hits(ana: AbstractBaseUser) -> None:
    """Newest first, a page at a time; none comes twice."""
    for number in range(search.PAGE + 2):
        sent(ana, f"heron {number}")
    first, second = search.find(ana, "heron"), search.find(ana, "heron", page=2)
    assert [first.is_more, second.is_more] == [True, False]
    shown = [hit.excerpt[-1].text for hit in [*first.hits, *second.hits]]
    assert shown == [f" {number}" for number in reversed(range(search.PAGE + 2))]


def test_an_excerpt_of_a_long_text_begins_near_the_hit() -> None:
    text = "word " * 500 + "the Heron\nstands " + "end " * 500
    pieces = search.excerpt(text, ["heron"])
    assert [piece.text for piece in pieces if piece.is_hit] == ["Heron"]
    whole = "".join(piece.text for piece in pieces)
    assert whole.startswith("…word word")
    assert "the Heron stands end" in whole
    assert whole.endswith("end…")
    assert len(whole) < 260


def test_an_excerpt_holds_no_markup_of_its_own() -> None:
    """Pieces are text: the template escapes them."""
    assert search.excerpt("<b>Heron</b>", ["heron"]) == [
        Piece("<b>", False),
        Piece("Heron", True),
        Piece("</b>", False),
    ]


# --- looking after it -----------------------------------------------------------------------------------------------
def test_rebuilding_mends_whatever_is_wrong(ana: AbstractBaseUser) -> None:
    """Missing, strange and stale rows, and the full-text table of SQLite."""
    for text in ("heron one", "heron two", "heron three"):
        sent(ana, text)
    one, two, _three = IndexRow.objects.order_by("pk")
    one.delete()
    IndexRow.objects.filter(pk=two.pk).update(folded="stork")
    Message.objects.filter(text="heron three").update(kind=MessageKind.ANSWER)
    assert search.examine() == Health(missing=1, stray=1, stale=1)
    assert search.rebuild() == Health(missing=1, stray=1, stale=1)
    assert search.examine() == Health(0, 0, 0)
    assert texts(ana, "heron") == ["heron two", "heron one"]


def test_the_full_text_table_follows_its_rows_whoever_writes_them(ana: AbstractBaseUser) -> None:
    """The triggers are there: a migration that alters the table must make them again."""
    if connection.vendor != "sqlite":
        return  # there is no such table
    sent(ana, "heron")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE chat_indexrow SET folded = 'stork'")
        cursor.execute("SELECT rowid FROM chat_indexrow_fts WHERE chat_indexrow_fts MATCH 'stork'")
        assert len(cursor.fetchall()) == 1
        cursor.execute("DELETE FROM chat_indexrow")
        cursor.execute("SELECT rowid FROM chat_indexrow_fts WHERE chat_indexrow_fts MATCH 'stork'")
        assert cursor.fetchall() == []
        cursor.execute("INSERT INTO chat_indexrow_fts(rowid, folded) VALUES (999, 'ghost')")
    assert search.examine().is_sound is False
    search.rebuild()
    assert search.examine() == Health(0, 0, 0)
