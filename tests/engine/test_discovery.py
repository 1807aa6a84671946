"""Discovery over a real socket: the picker offers what the server has."""

import asyncio

import pytest

from chat import catalogue
from chat.engine.discovery import discover_forever
from chat.upstream import Upstream
from tests.fakes.provider import ScriptedProvider


@pytest.fixture(autouse=True)
def nothing_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_learnt", {})


async def test_an_unnamed_server_is_asked_for_its_models(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_URL", provider.base_url)
    assert [model.id for model in catalogue.endpoints()["compatible"].models] == ["default"]
    upstream = Upstream(connect_timeout_s=1, idle_timeout_s=1)
    asking = asyncio.create_task(discover_forever(upstream))
    for _ in range(400):
        if catalogue.endpoints()["compatible"].models[0].id != "default":
            break
        await asyncio.sleep(0.01)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await upstream.aclose()
    assert [model.id for model in catalogue.endpoints()["compatible"].models] == ["scripted-1"]


async def test_a_server_whose_models_are_named_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_COMPATIBLE_MODELS", "one, two")
    upstream = Upstream(connect_timeout_s=1, idle_timeout_s=1)
    await asyncio.wait_for(discover_forever(upstream), 1)
    await upstream.aclose()
    assert [model.id for model in catalogue.endpoints()["compatible"].models] == ["one", "two"]
