"""What is asked of a provider, and how often, so that nothing goes on there for nobody."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from chat.engine.cancelling import answers
from chat.models import Generation
from chat.providers.base import UpstreamRequest
from chat.states.generation import GENERATION, State
from chat.upstream import NotReached
from tests.engine.conftest import endpoint_at


class Line:
    """An upstream that answers with these statuses in turn; None does not answer."""

    def __init__(self, *statuses: int | None) -> None:
        self.statuses = list(statuses)
        self.asked: list[str] = []

    @asynccontextmanager
    async def open(self, request: UpstreamRequest) -> AsyncIterator[Any]:
        self.asked.append(request.url.rsplit("/v1/", 1)[-1])
        status = self.statuses.pop(0)
        if status is None:
            raise NotReached("nobody there")
        yield type("Response", (), {"status": status})


async def answered(line: Line, *, wire: str = "openai_responses", **values: Any) -> list[str]:
    wanted: dict[str, Any] = {
        "provider_response_id": "resp_1",
        "settings": {"background": True},
        "to": "failed",
    }
    wanted |= values
    row = Generation(state=wanted.pop("to"), **wanted)
    endpoint = endpoint_at("http://127.0.0.1:1/v1", wire=wire)
    upstream: Any = line
    return [answer async for answer in answers(row, endpoint, upstream, backoff_s=0)]


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        ([200], ["HTTP 200"]),
        ([404], ["HTTP 404"]),  # it is over there already, or was never kept
        ([None, 408, 200], ["NotReached", "HTTP 408", "HTTP 200"]),
        ([429, 500, 503], ["HTTP 429", "HTTP 500", "HTTP 503"]),
    ],
)
async def test_it_is_asked_until_it_answers_for_good(statuses: list[int | None], told: list[str]) -> None:
    line = Line(*statuses)
    assert await answered(line) == told
    assert line.asked == ["responses/resp_1/cancel"] * len(told)


@pytest.mark.parametrize("state", State)
async def test_it_is_asked_however_it_ended_short_and_never_for_an_answer_or_what_goes_on(
    state: State,
) -> None:
    """Another runner may hold the row by now: what goes on is its reply."""
    line = Line(200)
    ended_short = GENERATION.is_final(state) and state is not State.confirmed
    assert await answered(line, to=str(state)) == (["HTTP 200"] if ended_short else [])


@pytest.mark.parametrize(
    "values",
    [{"provider_response_id": ""}, {"settings": {}}, {"wire": "openai_chat"}],
    ids=["no name", "not in the background", "a wire that only streams"],
)
async def test_what_ends_with_its_connection_is_not_asked_about(values: dict[str, Any]) -> None:
    line = Line()
    assert (await answered(line, **values), line.asked) == ([], [])
