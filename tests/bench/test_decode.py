"""The decode bench runs, and its streams are what it says: without the vendors' clients, and with few deltas."""

import pytest

from bench.decode import measure, report
from bench.wire_readers import READERS, floor, product
from bench.wire_streams import WIRES, stream


@pytest.mark.parametrize("wire", WIRES)
def test_the_product_and_the_floor_read_the_same_texts(wire: str) -> None:
    """A bench whose readers read different things measures nothing."""
    body = stream(wire, 50)
    texts = (body.answer, body.reasoning)
    assert (product(body.chunks, wire), floor(body.chunks, wire)) == (texts, texts)


def test_a_short_run_gives_every_figure() -> None:
    found = measure("openai_chat", [READERS[-1]], deltas=50, runs=1)
    assert set(found["us_per_event"]) == {"ours", READERS[-1].name}
    assert f"| {READERS[-1].name} |" in report("openai_chat", found)
