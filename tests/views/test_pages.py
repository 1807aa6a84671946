"""A person writes, by plain form or by script; what is refused is said, and the text is kept."""

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from chat import catalogue, conversations, drafts, generations
from chat.models import Conversation, Message, SharedLink
from chat.states.generation import State
from chat.streaming.outcome import Outcome, Reason
from tests.rows import brought_to, cut, draft, ended, opened, reading, sent
from tests.views.reading import JSON, LOCAL, address, attributes, messages, shown


# --- The first page -------------------------------------------------------------------------------------------
def test_first_page_invites(page: Client) -> None:
    """It has the one text area, examples that fill it, and the models."""
    text = shown(page, "/")
    assert text.count("<textarea") == 1
    assert text.count("data-example") == 3
    models = text.partition('<select name="model">')[2].partition("</select>")[0]
    assert re.findall(r'<option value="([^"]+)"( selected)?>([^<]+)', models) == [
        ("scripted:scripted-1", " selected", "Scripted One"),
        ("scripted:scripted:2", "", "Scripted Two"),
    ]


def test_examples_are_about_training_where_the_coach_answers(page: Client, settings: Any) -> None:
    coach = shown(page, "/")
    settings.SYSTEM_PROMPT = "You are a pirate."
    other = shown(page, "/")
    assert ("morning run" in coach, "Lisbon" in coach) == (True, False)
    assert ("morning run" in other, "Lisbon" in other, other.count("data-example")) == (False, True, 3)


def test_examples_fill_the_line_without_a_script(page: Client) -> None:
    """Each example is a link that brings the page back with its text on the line."""
    text = shown(page, "/?q=Is+%3Cb%3E+bold%3F")
    assert re.findall(r"<textarea[^>]*>\n([^<]*)</textarea>", text) == ["Is &lt;b&gt; bold?"]


def test_local_model_is_called_small(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who has only the local model is told what to expect of it."""
    monkeypatch.setattr(catalogue, "endpoints", lambda: {"local": LOCAL})
    assert "It is small and knows English only" in shown(page, "/")


def test_no_model_is_said(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a model the page says so instead of failing after the first question."""
    monkeypatch.setattr(catalogue, "endpoints", dict)
    text = shown(page, "/")
    assert "No model can be asked" in text
    response = page.post("/", {"text": "Hello"})
    assert response.status_code == 400
    assert messages() == []


def test_visitor_is_sent_to_sign_in(client: Client, db: None) -> None:
    """No page shows anything to somebody who is not signed in."""
    response = client.get("/")
    assert (response.status_code, response.headers["Location"]) == (302, "/accounts/login/?next=/")


# --- Showing --------------------------------------------------------------------------------------------------
def test_answer_is_ready_with_its_text_and_reasoning(page: Client, ana: User) -> None:
    """A confirmed reply: rendered, folded reasoning, copied from its message, no refresh and no Stop."""
    generation = ended(sent(ana), reading("**Two** minutes."))
    text = shown(page, address(generation))
    message = Message.objects.get(kind="answer")
    assert [each["state"] for each in attributes(text)] == ["confirmed"]
    assert (
        '<div class="lane answer prose" data-lane="answer"><p><strong>Two</strong> minutes.</p>\n</div>'
        in text
    )
    assert '<details class="reasoning"><summary>' in text
    assert f'href="/messages/{message.pk}/source/" data-copy' in text
    assert 'http-equiv="refresh"' not in text
    assert "data-source" not in text
    assert "/retry/" not in text


def test_text_is_never_markup(page: Client, ana: User) -> None:
    """Neither a person's message nor a title nor a model's answer can bring a script onto the page."""
    attack = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    generation = ended(
        sent(ana, attack), reading(attack + "\n\n[x](javascript:alert(3)) ![y](https://a.b/c.png)")
    )
    text = shown(page, address(generation))
    assert "<script>alert" not in text
    assert "<img" not in text
    assert 'href="javascript' not in text
    assert text.count(html.escape(attack)) >= 1


def test_draft_goes_on_from_where_it_stands(page: Client, ana: User) -> None:
    """A reload in mid-stream shows the whole draft; the script continues from its number with its own source."""
    generation = opened(sent(ana)).generation
    drafts.save(
        [drafts.Save(generation.pk, generation.fence, draft(generation, "Rest *two* </template>", seq=7))]
    )
    text = shown(page, address(generation))
    assert [(each["state"], each["seq"]) for each in attributes(text)] == [("buffered", "7")]
    assert "<p>Rest <em>two</em> &lt;/template&gt;</p>" in text
    assert '<template data-source="answer">Rest *two* &lt;/template&gt;</template>' in text
    assert '<template data-source="reasoning">Think.</template>' in text
    assert "data-copy" not in text
    assert ">ready<" not in text


@pytest.mark.parametrize(
    ("outcome", "reason", "kind", "sentence"),
    [
        (
            Outcome.incomplete,
            Reason.max_tokens,
            "limit",
            "The model came to its length limit before it was done.",
        ),
        (
            Outcome.refused,
            Reason.model_refusal,
            "refused",
            "The model declined to answer. Other words may help.",
        ),
        (Outcome.failed, Reason.quota, "failed", "Another model may work."),
    ],
)
def test_end_that_is_no_answer(
    page: Client, ana: User, outcome: Outcome, reason: Reason, kind: str, sentence: str
) -> None:
    """The draft stays, marked; one sentence says what happened, one button what to do; it is no message."""
    generation = ended(sent(ana), reading("Two", outcome, reason=reason, retryable=False))
    text = shown(page, address(generation))
    assert [each["reason"] for each in attributes(text)] == [str(reason)]
    assert f'<div class="ending" data-kind="{kind}">' in text
    assert sentence in text
    assert f'formaction="/generations/{generation.pk}/retry/"' in text
    assert "<p>Two</p>" in text
    assert ">ready<" not in text
    assert messages() == [("user", "How long?")]


def test_only_the_last_reply_can_be_tried_again(page: Client, ana: User) -> None:
    """After the person went on, an old button could only disappoint."""
    first = ended(sent(ana), cut())
    owned = Conversation.objects.get()
    second = ended(sent(ana, "And now?", conversation=owned), cut())
    text = shown(page, address(first))
    assert re.findall(r"/generations/([^/]+)/retry/", text) == [str(second.pk)]


def test_earlier_attempts_are_folded(page: Client, ana: User) -> None:
    """What was tried before stays to be seen, under the message that it tried to answer."""
    first = ended(sent(ana), cut())
    second = ended(generations.retry(first, user=ana), reading())
    text = shown(page, address(first))
    assert "1 earlier attempt</summary>" in text
    assert [each["generation"] for each in attributes(text)] == [str(first.pk), str(second.pk)]


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_a_page(page: Client, ana: User, state: State) -> None:
    """Whatever the table of states allows can be met by a person who opens the page."""
    generation = ended(sent(ana), reading()) if state is State.confirmed else brought_to(state, ana)
    text = shown(page, address(generation))
    assert [each["state"] for each in attributes(text)] == [str(state)]


def test_length_of_a_conversation_costs_no_queries(
    page: Client, ana: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Six turns, answered and cut, are read in as many queries as one."""
    first = ended(sent(ana), reading())
    owned = Conversation.objects.get()
    for turn in range(5):
        ended(sent(ana, f"And {turn}?", conversation=owned), cut() if turn % 2 else reading())
    page.get(address(first))
    # Session, user, conversation, tree, messages, files, plans, generations, head, written, newest, presets, contents.
    with django_assert_num_queries(13):
        text = shown(page, address(first))
    assert len(attributes(text)) == 6


# --- Whose it is ----------------------------------------------------------------------------------------------
def test_stranger_finds_nothing(stranger: Client, ana: User) -> None:
    """A conversation of somebody else does not exist: not to be read, and not to be written to."""
    generation = ended(sent(ana), reading())
    assert stranger.get(address(generation)).status_code == 404
    assert stranger.post(address(generation), {"text": "Hello"}).status_code == 404
    answer = stranger.post(address(generation), {"text": "Hello"}, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert len(messages()) == 2


def test_contents_list_only_what_is_mine(page: Client, stranger: Client, ana: User) -> None:
    """The table of contents is fetched through its owner too."""
    generation = sent(ana, "A secret plan")
    assert f'href="{address(generation)}"' in shown(page, "/")
    assert "A secret plan" not in shown(stranger, "/")


def test_page_is_never_cached(page: Client, ana: User) -> None:
    """Going back shows how things stand now, and a shared computer keeps no copy."""
    generation = ended(sent(ana), reading())
    assert "no-store" in page.get(address(generation)).headers["Cache-Control"]


def test_policy_needs_no_exception(page: Client, ana: User) -> None:
    """Every script tag carries the nonce, and no element a style or a handler of its own."""
    generation = ended(sent(ana), reading("| a |\n|--:|\n| 1 |"))
    response = page.get(address(generation))
    text = response.content.decode()
    nonce = re.search(r"'nonce-([^']+)'", response.headers["Content-Security-Policy"])
    assert nonce is not None
    scripts = re.findall(r"<script([^>]*)>", text)
    assert len(scripts) == 3
    assert all(f'nonce="{nonce[1]}"' in script for script in scripts)
    assert re.findall(r"\s(?:style|on\w+)=", text) == []


def test_title_says_where_one_is(page: Client, ana: User) -> None:
    """Also after a change of name."""
    generation = sent(ana)
    owned = Conversation.objects.get()
    conversations.rename(owned, "Rests & <pauses>")
    assert "<title>Rests &amp; &lt;pauses&gt; · Gymnasia</title>" in shown(page, address(generation))


def test_what_goes_back_to_the_provider_is_on_no_page(page: Client, ana: User) -> None:
    """Signatures of reasoning are for whoever signed."""
    row = ended(sent(ana), reading("Fine.", carry=[{"signature": "heron"}]))
    message = Message.objects.get(generation=row)
    assert "heron" in message.carry
    owned = f"/conversations/{row.conversation_id}/"
    page.post(f"{owned}share/")
    paths = [owned, f"/generations/{row.pk}/turn/", f"/messages/{message.pk}/source/", f"{owned}export.md"]
    paths.append(f"/s/{SharedLink.objects.get().token}/")
    assert [path for path in paths if "heron" in page.get(path).content.decode()] == []
    assert "Fine." in page.get(owned).content.decode()
