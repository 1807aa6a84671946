"""What a gate has not let through is in no frame, no store and no checkpoint, whatever way the reply ends."""

import asyncio
import json
from typing import Any

import pytest

from chat import drafts, generations
from chat.models import Checkpoint, Conversation, GatePolicy, Plan
from chat.planning import SCHEMA
from chat.streaming.frames import Final, Paint, Snapshot
from chat.streaming.gates import GATES
from tests.engine.conftest import MS, WAIT_S, Make, ask, until
from tests.engine.listening import Page
from tests.engine.staging import Stage, end_of, painted
from tests.engine.staging import stage as stage  # noqa: PLC0414 (a fixture)
from tests.fakes.provider import ScriptedProvider
from tests.fakes.script import DONE, FIN, REASON, Cut, Stall, T, Wait, play
from tests.plans import plan, plan_json

KNEE = "My knee hurts. May I squat?"
SAFE = "Rest it for two days. Then ask a physiotherapist."
THOUGHT = "They have pain. I should be careful."


@pytest.fixture(autouse=True)
def coach(prompt_of_its_own: None, settings: Any) -> None:
    """The flow that has a filter."""
    settings.SYSTEM_PROMPT = ""


async def held_now(provider: ScriptedProvider, make_engine: Make, person: Any) -> tuple[Any, Page, Any]:
    """A reply that has sent all its text and is held, with two checkpoints' time passed."""
    provider.script = play(REASON(THOUGHT), T(SAFE), Wait(250), FIN("stop"), DONE)
    engine = await make_engine()
    row = await ask(engine, person, KNEE)
    page = Page(engine, row.conversation_id)
    await until(engine, row, "buffered")
    await asyncio.sleep(120 * MS)  # two ticks of the checkpoint, three of the paint
    return row, page, engine


async def test_a_health_answer_is_nowhere_before_it_is_checked(
    provider: ScriptedProvider, make_engine: Make, person: Any
) -> None:
    """Reasoning waits as well: it would tell what the answer may not."""
    row, page, engine = await held_now(provider, make_engine, person)
    entry = drafts.STORE.get(row.pk)
    assert entry is not None
    assert (entry.draft.snapshot(), entry.draft.is_pending) == (Snapshot(1, 0, "", "", ""), False)
    assert not await engine.db(Checkpoint.objects.exists)
    assert [frame for frame in page.frames if isinstance(frame, Paint | Snapshot)] == []
    row = await until(engine, row, "confirmed")
    assert (row.message.text, row.message.reasoning) == (SAFE, THOUGHT)
    assert (row.gate, row.gate_rule) == ("whole", "health: pain")
    await page.last()
    assert [type(frame) for frame in page.frames if isinstance(frame, Paint | Snapshot | Final)] == [Final]


@pytest.mark.parametrize("end", [Cut(), FIN("length"), FIN("content_filter")])
async def test_a_held_answer_that_ends_short_is_never_seen(stage: Stage, end: Any) -> None:
    """There is nothing that could say whether half of it is fit to be read."""
    row, page = await stage.play(REASON(THOUGHT), T(SAFE), Wait(80), end, DONE, text=KNEE)
    assert row.state == "incomplete"
    assert (painted(page), drafts.snapshot(row)) == ([], Snapshot(1, 0, "", "", ""))
    assert await stage.answers() == []


async def test_a_held_answer_that_is_stopped_is_never_seen(
    provider: ScriptedProvider, make_engine: Make, person: Any
) -> None:
    provider.script = play(T(SAFE), Stall())
    engine = await make_engine()
    row = await ask(engine, person, KNEE)
    page = Page(engine, row.conversation_id)
    await until(engine, row, "buffered")
    assert await engine.db_for_pages(lambda: generations.cancel(row, by=person))
    row = await until(engine, row, "cancelled")
    await page.last()
    assert (painted(page), drafts.snapshot(row)) == ([], Snapshot(1, 0, "", "", ""))


async def test_a_health_answer_that_breaks_a_rule_is_withdrawn(stage: Stage) -> None:
    """Nothing of it was shown, nothing is kept, and the rule is told."""
    row, page = await stage.play(T("See a doctor. Take 400 mg of ibuprofen."), FIN("stop"), DONE, text=KNEE)
    assert end_of(row) == ("failed", "policy")
    assert row.detail == "rule dose blocked the answer"
    assert (painted(page), await stage.answers()) == ([], [])


async def test_other_answers_come_by_sentences_and_stop_at_the_first_bad_one(stage: Stage) -> None:
    """What was seen stays; the provider is let go before it has said the rest."""
    row, page = await stage.play(
        T("Warm up first. Take 400"),
        Wait(60),
        T(" mg of ibuprofen before it. Then"),
        Stall(),
        text="How do I begin?",
    )
    assert end_of(row) == ("failed", "policy")
    assert ("".join(painted(page)), drafts.snapshot(row).answer) == ("Warm up first. ", "Warm up first. ")


async def test_a_window_stops_the_stream_at_the_block_that_fails(stage: Stage) -> None:
    await stage.open()
    assert stage.engine is not None
    await stage.engine.db(lambda: GatePolicy.objects.create(endpoint="scripted", gate="window", chars=20))
    row, page = await stage.play(
        T("0123456789 123456789 Push through the pain and go on for long."), Stall(), text="Go on?"
    )
    assert end_of(row) == ("failed", "policy")
    assert (row.gate, row.gate_rule) == ("window 20", "any; switch: scripted")
    assert "".join(painted(page)) == "0123456789 123456789 Push through the pa"


async def test_hold_first_lets_the_rest_through_at_once(stage: Stage) -> None:
    await stage.open()
    assert stage.engine is not None
    await stage.engine.db(lambda: GatePolicy.objects.create(endpoint="scripted", gate="hold_first", chars=20))
    row, page = await stage.play(
        T("0123456789"), Wait(60), T(" 123456789 "), Wait(60), T("and"), Wait(60), T(" on"), FIN("stop"), DONE
    )
    assert end_of(row) == ("confirmed", "")
    assert painted(page)[:2] == ["0123456789 123456789 ", "and"]


async def test_thoughts_that_break_a_rule_are_shown_no_further_and_cost_no_answer(stage: Stage) -> None:
    """A model may think of a dose in order not to tell it."""
    row, page = await stage.play(
        REASON("They want pills. I must not say 400 mg of ibuprofen. So I say less."),
        T("Sleep well first. Then run."),
        FIN("stop"),
        DONE,
        text="How do I begin?",
    )
    assert end_of(row) == ("confirmed", "")
    assert [
        frame.text for frame in page.frames if isinstance(frame, Paint) and frame.lane == "reasoning"
    ] == ["They want pills. "]
    assert row.message.reasoning == "They want pills. "
    assert row.checks[-1] == {"check": "reasoning", "passed": True, "detail": "shown no further: rule dose"}
    assert row.message.text == "Sleep well first. Then run."


HELD: dict[str, tuple[dict[str, Any], str]] = {
    "immediate": ({"gate": "immediate"}, "One. Two, as"),
    "sentence": ({"gate": "sentence"}, "One. "),
    "window": ({"gate": "window", "chars": 5}, "One. Two, "),
    "hold_first": ({"gate": "hold_first", "chars": 40}, ""),
    "whole": ({"gate": "whole"}, ""),
}


async def test_what_each_gate_holds_is_in_no_frame_no_store_and_no_checkpoint(stage: Stage) -> None:
    """All that there is has been read: what it lets through comes into all three, and what it holds into none of them, not
    even with the stop that ends it."""
    engine = await stage.open(checkpoint_interval_ms=10)
    assert sorted(HELD) == sorted(GATES)
    for policy, seen in HELD.values():

        def chosen(policy: dict[str, Any] = policy) -> Conversation:
            GatePolicy.objects.all().delete()
            GatePolicy.objects.create(endpoint="scripted", **policy)
            return Conversation.objects.create(
                user_id=stage.person.pk, endpoint="scripted", model="scripted-1"
            )

        stage.provider.script = play(T("One. Two"), T(", as"), Stall())
        conversation: Conversation = await engine.db_for_pages(chosen)
        page = Page(engine, conversation.pk)
        row = await ask(engine, stage.person, "How do I begin?", conversation=conversation)
        run = engine._runs[row.pk]
        await until(engine, row, "buffered")
        async with asyncio.timeout(WAIT_S):
            while run.stream.reading().answer != "One. Two, as" or run.saved_seq == 0 < len(seen):  # noqa: ASYNC110
                await asyncio.sleep(MS)
        await engine.db_for_pages(lambda row=row: generations.cancel(row, by=stage.person))
        await page.last()
        await engine.idle()
        row = await until(engine, row, "cancelled")
        entry = drafts.STORE.get(row.pk)
        assert entry is not None
        assert (row.gate.split()[0], entry.draft.snapshot().answer) == (policy["gate"], seen)
        assert (row.checkpoint.answer, page.text(1)) == (seen, seen)


MATERIAL = "The pool is 25 m long. A month costs 50 euros."


async def test_an_answer_that_quotes_our_material_is_seen_when_its_figures_stand_there(
    stage: Stage, settings: Any
) -> None:
    """The model is told the material, nothing is shown before the check, and a figure of its own making is never shown."""
    settings.MATERIAL = MATERIAL
    await stage.open()
    row, page = await stage.play(T("It is 50 m long."), FIN("stop"), DONE, text="How long is the pool?")
    assert (end_of(row), row.gate, row.gate_rule) == (
        ("failed", "ungrounded"),
        "whole",
        "flow: coach, material",
    )
    assert row.checks[-1] == {"check": "grounded", "passed": False, "detail": "1 not in the material: 50 m"}
    assert (painted(page), drafts.snapshot(row).answer, await stage.answers()) == ([], "", [])
    row, page = await stage.play(T("It is 25 m long."), FIN("stop"), DONE, text="How long is the pool?")
    assert (end_of(row), painted(page)) == (("confirmed", ""), [])
    assert row.checks[-1] == {"check": "grounded", "passed": True}
    assert await stage.answers() == ["It is 25 m long."]
    assert MATERIAL in stage.provider.requests[-1].json["messages"][0]["content"]


@pytest.mark.parametrize("profile", ["openai", "strict"])
async def test_a_plan_is_asked_for_by_schema_or_in_words_and_is_nowhere_before_it_is_checked(
    stage: Stage, profile: str
) -> None:
    """By the request that really goes out. Half an object, however it ended, is no plan and was never seen."""
    await stage.open(profile=profile)
    text = plan_json()
    half = (T(text[:80]), Wait(60), FIN("length"), DONE)
    row, page = await stage.play(*half, text="Make me a training plan")
    assert (end_of(row), row.flow) == (("incomplete", "max_tokens"), "plan")
    assert (painted(page), drafts.snapshot(row).answer) == ([], "")
    assert stage.engine is not None
    assert not await stage.engine.db(Plan.objects.exists)
    row, page = await stage.play(
        T(text[:80]), Wait(60), T(text[80:]), FIN("stop"), DONE, text="Make me a training plan"
    )
    [kept] = await stage.engine.db(lambda: list(Plan.objects.values_list("version", "generation", "data")))
    assert (end_of(row), painted(page), kept) == (("confirmed", ""), [], (1, row.pk, plan()))
    for request in stage.provider.requests:
        asked = request.json.get("response_format", {}).get("json_schema", {}).get("schema")
        in_words = json.dumps(SCHEMA) in request.json["messages"][0]["content"]
        assert (asked == SCHEMA, in_words) == (profile == "openai", True)  # in words as well, for every model
