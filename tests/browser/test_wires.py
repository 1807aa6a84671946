"""A conversation in the browser through each wire: the draft grows, becomes an answer, and the next turn knows of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.person import UNFINISHED, NewPerson, Person
from tests.fakes.processes import ServerProcess
from tests.fakes.wires import EveryWire, wire_of, words_of

# Our wire, and the model in the picker that is asked through it.
MODELS = {
    "openai_chat": "openai:gpt-4.1-mini",
    "openai_responses": "openai-responses:gpt-5-mini",
    "anthropic": "anthropic:claude-haiku-4-5-20251001",
    "google": "google:gemini-3.8-flash",
    "google_interactions": "google-interactions:gemini-3.8-flash",
    "tai": "tai:tai-4.1",
}
SIGNED = {"anthropic", "google", "google_interactions"}


@pytest.fixture(scope="module")
def vendors() -> Iterator[EveryWire]:
    with EveryWire() as running:
        yield running


@pytest.fixture(scope="module")
def vendors_server(tmp_path_factory: pytest.TempPathFactory, vendors: EveryWire) -> Iterator[ServerProcess]:
    here = f"http://127.0.0.1:{vendors.port}"
    addresses: dict[str, Any] = {f"{name}_BASE_URL": here for name in ("OPENAI", "ANTHROPIC", "GEMINI")}
    with ServerProcess(
        tmp_path_factory.mktemp("wires"), TAI_BASE_URL=f"{here}/tai/v1", **addresses
    ) as running:
        yield running


def holds(person: Person, wire: str, number: int) -> None:
    """One turn: the draft is seen growing, and what stands there in the end is an answer."""
    if number == 1:
        person.page.locator("select[name=model]").select_option(MODELS[wire])
    reply = person.ask(f"Pergunta {number}: quantas séries?").becomes("confirmed")
    whole = "".join(words_of(wire, number))
    seen = [paint.text for paint in person.paints(reply) if UNFINISHED.match(paint.state)]
    assert seen
    assert (seen[0] != whole, [text for text in seen if not whole.startswith(text)]) == (True, [])
    assert reply.text == whole
    expect(reply.element.locator("[data-copy]")).to_be_visible()


def test_a_conversation_is_held_through_each_wire(
    vendors_server: ServerProcess, vendors: EveryWire, new_person: NewPerson
) -> None:
    """Two turns with each vendor, by one person: what goes out with the second is what was confirmed, and what was signed
    with it, unchanged."""
    person = new_person(vendors_server.url)
    for wire in MODELS:
        person.page.goto(f"{vendors_server.url}/")
        before = len(vendors.requests)
        holds(person, wire, 1)
        holds(person, wire, 2)
        asked = vendors.requests[before:]
        assert [wire_of(record) for record in asked] == [wire, wire]
        first, second = (said(json.loads(record.body)) for record in asked)
        assert ("Pergunta 1: quantas séries?" in first, "Pergunta 2: quantas séries?" in second) == (
            True,
            True,
        )
        # A wire may send the pieces back as they came.
        answer = "".join(words_of(wire, 1))
        assert (answer in "".join(first), answer in "".join(second)) == (False, True)
        assert ("c2lnbmVk" in second) == (wire in SIGNED)
        person.page.reload()
        assert [person.last().state, person.last().text] == ["confirmed", "".join(words_of(wire, 2))]


def said(value: Any) -> list[str]:
    """Every text of a request, in its order."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in said(each)]
