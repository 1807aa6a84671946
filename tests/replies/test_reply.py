"""One template for page, fragment and final frame; a draft is never dressed as an answer."""

import datetime as dt
import re
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from chat import drafts, generations, running
from chat.drafts import STORE
from chat.models import Generation
from chat.replies.reply import render_reply, reply_of
from chat.streaming.draft import Draft
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Outcome, Reason
from tests.rows import cut, draft, ended, opened, reading, sent


def inside(page: Client, generation: Generation) -> str:
    """What stands inside the reply's element on the page."""
    text = page.get(f"/conversations/{generation.conversation_id}/").content.decode()
    found = re.search(r"<article[^>]*>(.*?)</article>", text, re.DOTALL)
    assert found is not None
    return found[1]


def test_final_frame_brings_what_the_page_shows(page: Client, ana: User) -> None:
    """The element must not change when the page is reloaded a second later."""
    whole = ended(sent(ana), reading("Two\n\n```python\nx = 1\n```"))
    assert render_reply(whole) == inside(page, whole)
    short = ended(sent(ana, "Again?"), cut())
    assert render_reply(short) == inside(page, short)


def test_no_token_in_a_frame(ana: User) -> None:
    """A frame is made without a request: its buttons belong to the page's form."""
    html = render_reply(ended(sent(ana), cut()))
    assert "csrf" not in html
    assert html.count('form="commands"') == 1


def test_answer_comes_from_its_message(ana: User) -> None:
    """Not from a draft that may still be in memory."""
    generation = ended(sent(ana), reading())
    other = Draft(generation.number)
    other.append("answer", "something else")
    STORE.open(generation.pk, other)
    try:
        reply = reply_of(generation)
    finally:
        STORE.drop(generation.pk)
    assert reply.message is not None
    assert (reply.answer.html, reply.answer.source, reply.ending) == ("<p>Two minutes.</p>\n", "", None)


def test_draft_comes_from_memory_before_its_checkpoint(ana: User) -> None:
    """Memory is up to a second ahead of what was saved."""
    generation = opened(sent(ana)).generation
    drafts.save([drafts.Save(generation.pk, generation.fence, draft(generation, "Old", seq=1))])
    live = Draft(generation.number)
    live.append("reasoning", "Hm. ")
    live.append("answer", "New *text")
    live.paint()
    STORE.open(generation.pk, live)
    try:
        reply = reply_of(Generation.objects.get(pk=generation.pk))
    finally:
        STORE.drop(generation.pk)
    assert (reply.unfinished, reply.message, reply.seq) == (True, None, 2)
    assert [(lane.name, lane.html, lane.source) for lane in reply.lanes] == [
        ("answer", "<p>New *text</p>\n", "New *text"),
        ("reasoning", "<p>Hm.</p>\n", "Hm. "),
        ("refusal", "", ""),
    ]


def test_nothing_received_is_still_a_reply(ana: User) -> None:
    """A failure before the first word shows its sentence, not an empty bubble."""
    generation = sent(ana)
    reply = reply_of(Generation.objects.get(pk=generation.pk))
    assert (reply.seq, reply.answer.html, reply.unfinished) == (0, "", True)


def test_refusal_is_shown_in_its_own_words(ana: User) -> None:
    """What the model said when it declined is kept with the draft, beside our sentence."""
    job = opened(sent(ana))
    result = reading("", Outcome.refused, reason=Reason.model_refusal, refusal="I can't.")
    row = running.end(job, result, Snapshot(1, 3, "", "", "I can't.")).generation
    html = render_reply(row)
    assert "<p>I can't.</p>" in html
    assert 'data-kind="refused"' in html


def test_every_end_says_who_wrote_and_when(ana: User) -> None:
    """A reply that was cut is asked about as often as one that is ready: which model, at what time."""
    for generation in (ended(sent(ana), cut()), ended(sent(ana), reading())):
        html = render_reply(generation)
        assert '<span class="model">Scripted One</span>' in html
        assert generation.ended_at is not None
        assert len(re.findall(r'<time datetime="[^"]+">\d\d:\d\d</time>', html)) == 1
        generations.cancel(generation, by=ana)


def test_other_words_of_a_state_never_make_it_ready(ana: User) -> None:
    """Whatever text a cut reply has, neither ready nor copy appears."""
    html = render_reply(ended(sent(ana), cut()))
    assert (">ready<" in html, "data-copy" in html) == (False, False)


@pytest.mark.parametrize(
    ("language", "figures"),
    [
        ("en", ["0.6 s", "12 s", "12,345", "678", "US$ 0.0042", "0.7", "9,000"]),
        ("pt-br", ["0,6 s", "12 s", "12.345", "678", "US$ 0,0042", "0,7", "9.000"]),
        ("es", ["0,6 s", "12 s", "12 345", "678", "US$ 0,0042", "0,7", "9 000"]),
    ],
)
def test_what_a_reply_took_is_told_in_the_figures_of_the_language(
    ana: User, language: str, figures: list[str]
) -> None:
    """First word, end, tokens in and out, price, and how it was asked for."""
    row = ended(sent(ana), reading())
    Generation.objects.filter(pk=row.pk).update(
        first_text_at=row.created + dt.timedelta(seconds=0.6),
        ended_at=row.created + dt.timedelta(seconds=12),
        usage_input=12_345,
        usage_output=678,
        price_usd=Decimal("0.0042"),
        settings={"temperature": 0.7, "max_tokens": 9_000},
    )
    with translation.override(language):
        html = render_reply(Generation.objects.get(pk=row.pk))
    told = [text.replace("\xa0", " ") for text in re.findall(r"<dd>(.*?)</dd>", html)]
    assert (told, html.count("<dt>")) == (figures, len(figures))
