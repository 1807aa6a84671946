"""Faults that people reported of other chat products, walked through the whole engine: how bytes come, and how they end.

The numbers are those of the list that the cases were taken from; the later ones are in test_bug_cases_meaning.py.
"""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest

from chat import generations
from chat.streaming.draft import PAINT_CHARS
from tests.engine.conftest import until
from tests.engine.staging import CONFIRMED, FINALS, LOST, TRUNCATED, Stage, end_of, painted, stage
from tests.fakes.script import (
    DONE,
    FIN,
    GAP,
    Cut,
    End,
    Reset,
    Stall,
    Step,
    T,
    Wait,
    chunk,
    whole_answer,
)
from tests.providers import anthropic_bodies as claude

__all__ = ["stage"]  # the fixture


# --- 1, 3, 5, 6: how the bytes come -----------------------------------------------------------------------------
async def test_1_a_line_separator_inside_an_answer_is_text(stage: Stage) -> None:
    """Only CR and LF end a line. Controls must be escaped in JSON; the separators stand there as they are."""
    signs = ["\u2028", "\u2029", "\u0085", "\x1c"]
    for sign in signs:
        row, page = await stage.play(T("left"), Wait(100), T(f"{sign}right"), FIN("stop"), DONE)
        assert end_of(row) == CONFIRMED
        assert page.text(1).endswith(f"{sign}right")
    assert sorted(await stage.answers()) == sorted(f"left{sign}right" for sign in signs)


CRLF = b"".join((FIN("stop"), DONE)).replace(b"\n", b"\r\n")
HALVES = (
    b'data: {"choices":[{"index":0,"delta":\r',
    b'\ndata: {"content":"ab"},"finish_reason":null}]}\r',
    b"\n\r",
    b"\n",
)


async def test_3_a_line_end_that_the_network_cuts_in_two_is_one(stage: Stage) -> None:
    """CR at the end of a packet, LF at the start of the next, in one event of two data lines."""
    first, second, third, fourth = HALVES
    row, _ = await stage.play(first, GAP, second, GAP, third, GAP, fourth, CRLF)
    assert (end_of(row), await stage.answers()) == (CONFIRMED, ["ab"])


async def test_3_byte_by_byte_it_reads_the_same(stage: Stage) -> None:
    body = b"".join(HALVES) + CRLF
    row, _ = await stage.play(*(body[at : at + 1] for at in range(len(body))))
    assert (end_of(row), await stage.answers()) == (CONFIRMED, ["ab"])


async def test_5_no_space_behind_the_colon_and_characters_cut_in_two(stage: Stage) -> None:
    """No frame, and no stored text, may hold a replacement character, whatever ends the lines."""
    for end in (b"\n\n", b"\r\r", b"\r\n\r\n"):
        row, page = await stage.play(
            *(
                b'data:{"choices":[{"delta":{"content":"\xe2\x82',
                GAP,
                b"\xac\xf0\x9f",
                GAP,
                b'\x98\x80"}}]}' + end,
            ),
            *(b'data:{"choices":[{"delta":{},"finish_reason":"stop"}]}' + end, b"data:[DONE]" + end),
        )
        assert end_of(row) == CONFIRMED
        assert "\ufffd" not in "".join(painted(page))
    assert await stage.answers() == ["€😀"] * 3


async def test_6_comments_keep_the_line_alive_and_are_no_first_token(stage: Stage) -> None:
    """Slow models: more comments than the idle limit is long, then a normal answer."""
    await stage.open(idle_timeout_s=0.4)
    comments: list[Step] = [step for _ in range(20) for step in (b": OPENROUTER PROCESSING\n\n", Wait(40))]
    row, _ = await stage.play(*comments, T("At last."), FIN("stop"), DONE)
    assert (end_of(row), await stage.answers()) == (CONFIRMED, ["At last."])
    assert row.opened_at is not None
    assert row.first_text_at is not None
    assert (row.first_text_at - row.opened_at).total_seconds() > 0.6


async def test_6_comments_between_the_lines_of_one_event_are_nothing(stage: Stage) -> None:
    row, _ = await stage.play(
        b'data: {"choices":[{"index":0,\n:\n:keep\ndata: "delta":{"content":"ab"}}]}\n\n', FIN("stop"), DONE
    )
    assert (end_of(row), await stage.answers()) == (CONFIRMED, ["ab"])


WRAPPED = b"data: : OPENROUTER PROCESSING\n\n"


@pytest.mark.parametrize(
    ("wire", "steps"),
    [
        ("openai_chat", [WRAPPED, T("Hi"), FIN("stop"), DONE]),
        ("anthropic", [WRAPPED, claude.START, claude.HI, claude.END_TURN, claude.STOP]),
    ],
)
async def test_6_a_comment_that_a_gateway_wrapped_as_data_is_no_answer(
    stage: Stage, wire: str, steps: list[Step]
) -> None:
    row, _ = await stage.play(*steps, wire=wire)
    assert (end_of(row), await stage.answers()) == (CONFIRMED, ["Hi"])


# --- 8: one enormous event --------------------------------------------------------------------------------------
async def test_8_an_event_of_three_million_characters_is_read_and_painted_in_bounded_frames(
    stage: Stage,
) -> None:
    await stage.open(max_answer_chars=4_000_000)
    row, page = await stage.play(T("a"), T("x" * 3_000_000), T("b"), FIN("stop"), DONE)
    answers = await stage.answers()
    assert (end_of(row), [len(text) for text in answers]) == (CONFIRMED, [3_000_002])
    assert answers == ["a" + "x" * 3_000_000 + "b"]
    assert max(len(text) for text in painted(page)) <= PAINT_CHARS


@pytest.mark.parametrize(
    ("limit_bytes", "piece_bytes", "pieces"),
    [(64 * 1024, 16 * 1024, 2000), (8 * 1024 * 1024, 256 * 1024, 240)],
)
async def test_8_an_event_over_the_limit_is_refused_and_the_line_closed(
    stage: Stage, limit_bytes: int, piece_bytes: int, pieces: int
) -> None:
    """The draft is kept and labelled; neither memory nor what was taken off the network grows with the event."""
    await stage.open(max_event_bytes=limit_bytes)
    piece = b"x" * piece_bytes
    giant: tuple[Step, ...] = (T("One "), GAP, b'data: {"choices":[{"delta":{"content":"', *[piece] * pieces)
    tracemalloc.start()
    row, _ = await stage.play(*giant, Stall())
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (end_of(row), row.retryable) == (("failed", "event_too_large"), False)
    assert (row.checkpoint.answer, await stage.answers()) == ("One ", [])
    (record,) = await asyncio.to_thread(
        stage.provider.wait_until, lambda requests: requests[0].peer_closed_at is not None
    )
    # What was on its way when the line was closed stands in the buffers of two sockets.
    assert record.bytes_sent < limit_bytes + 12 * 1024 * 1024 < piece_bytes * pieces
    assert peak_bytes < 5 * limit_bytes + 12 * 1024 * 1024


# --- 10: the end that proves nothing ----------------------------------------------------------------------------
HALF = (T("The dose is 5"), GAP, T("0"))


ENDS: dict[str, tuple[list[Step], tuple[str, str]]] = {
    "a polite end": ([End()], TRUNCATED),
    "usage, then a polite end": ([chunk({}, None, usage={"prompt_tokens": 9}), End()], TRUNCATED),
    "DONE without a finish": ([DONE], TRUNCATED),
    "a finish without DONE": ([FIN("stop"), End()], TRUNCATED),
    "a reset": ([GAP, Reset()], LOST),
    "a body that breaks off": ([Cut()], LOST),
    "a finish and a reset": ([FIN("stop"), GAP, Reset()], LOST),
    "silence": ([Stall()], ("incomplete", "stalled")),
}


async def test_10_half_an_answer_is_never_the_answer(stage: Stage) -> None:
    """Whatever ends the line, politely or not: no message, and the draft labelled."""
    await stage.open(idle_timeout_s=0.3)
    found = {}
    for name, (ending, _) in ENDS.items():
        row, _ = await stage.play(*HALF, *ending)
        found[name] = (end_of(row), row.checkpoint.answer)
    assert found == {name: (told, "The dose is 50") for name, (_, told) in ENDS.items()}
    assert await stage.answers() == []


async def test_10_another_try_is_offered_and_stands_alone(stage: Stage) -> None:
    engine = await stage.open()
    row, _ = await stage.play(*HALF, End())
    stage.provider.script = whole_answer("The dose is 500 mg.")
    again = await engine.db_for_pages(lambda: generations.retry(row, user=stage.person))
    again = await until(engine, again, *FINALS)
    assert (end_of(again), await stage.answers()) == (CONFIRMED, ["The dose is 500 mg."])


async def test_10_where_the_dialect_needs_no_done_the_finish_counts(stage: Stage) -> None:
    for ending in (End(), Cut()):
        row, _ = await stage.play(*HALF, FIN("stop"), GAP, ending, profile="llama.cpp")
        assert end_of(row) == CONFIRMED
    assert await stage.answers() == ["The dose is 50"] * 2
