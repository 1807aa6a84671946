"""What the public lists say, and nothing where they say nothing."""

from decimal import Decimal

import pytest

from chat.prices import price
from chat.providers.endpoints import ENDPOINTS
from chat.streaming.deltas import Usage

MILLION = 1_000_000


def test_what_each_provider_leaves_out_of_its_counts() -> None:
    """Tokens from a cache are cheaper: OpenAI counts them within the input, Anthropic beside it; Google counts thoughts
    beside the output. The same work costs the same, whoever counts."""
    within = price("openai", "gpt-4.1-mini", Usage(MILLION, 0, None, MILLION))
    assert within == price("openai-responses", "gpt-4.1-mini", Usage(MILLION, 0, 0, MILLION))
    plain = price("openai", "gpt-4.1-mini", Usage(MILLION, 0))
    assert within is not None
    assert plain is not None
    assert 0 < within < plain
    model = "claude-haiku-4-5-20251001"
    beside = price("anthropic", model, Usage(0, 0, None, MILLION))
    assert beside is not None
    assert price("anthropic", model, Usage(MILLION, 0, None, MILLION)) == beside + (
        price("anthropic", model, Usage(MILLION, 0)) or 0
    )
    thought = price("google", "gemini-2.5-flash-lite", Usage(0, 0, MILLION))
    assert thought == price("google", "gemini-2.5-flash-lite", Usage(0, MILLION))
    assert price("openai", "gpt-4.1-mini", Usage(0, 0, MILLION)) == Decimal(0)


@pytest.mark.parametrize(
    ("endpoint", "model", "usage"),
    [
        ("local", "SmolLM2-135M-Instruct", Usage(10, 10)),
        ("compatible", "gpt-4.1-mini", Usage(10, 10)),
        ("openai", "no-such-model", Usage(10, 10)),
        ("openai", "gpt-4.1-mini", None),
        ("openai", "gpt-4.1-mini", Usage(None, 10)),
        ("openai", "gpt-4.1-mini", Usage(10, None)),
        ("nowhere", "gpt-4.1-mini", Usage(10, 10)),
    ],
)
def test_what_nobody_lists_has_no_price(endpoint: str, model: str, usage: Usage | None) -> None:
    """Better none than a wrong one."""
    assert price(endpoint, model, usage) is None


@pytest.mark.parametrize(
    "endpoint", [each for each in ENDPOINTS if each.name not in {"local", "compatible", "tai"}]
)
def test_the_models_that_we_offer_have_prices(endpoint: object) -> None:
    """A new row whose model the lists do not know shows no price: then say so here."""
    named = [(model.id, price(endpoint.name, model.id, Usage(10, 10))) for model in endpoint.models]  # type: ignore[attr-defined]
    assert [model for model, found in named if found is None] == []
