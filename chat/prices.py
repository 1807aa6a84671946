"""What a reply cost, by the public price lists: an estimate in US dollars, or nothing where the lists know nothing.

Takes an endpoint's name, a model and the tokens that its provider counted; gives a price. Pure data of the package
`genai-prices`, as it was when this server was installed: nothing is fetched.
"""

from decimal import Decimal
from typing import NamedTuple

import genai_prices

from chat.streaming.deltas import Usage


class Provider(NamedTuple):
    """How the lists call a provider, and what its counts leave out: `cached` tokens of the input, `reasoning` ones of
    the output."""

    name: str
    leaves_out_cached: bool = False
    leaves_out_reasoning: bool = False


# What runs here costs nothing that anybody lists, and a compatible server may be anybody's.
PROVIDERS = {
    "openai": Provider("openai"),
    "openai-responses": Provider("openai"),
    "anthropic": Provider("anthropic", leaves_out_cached=True),
    "google": Provider("google", leaves_out_reasoning=True),
    "google-interactions": Provider("google", leaves_out_reasoning=True),
}
PLACES = Decimal("0.000001")


def price(endpoint: str, model: str, usage: Usage | None) -> Decimal | None:
    """The price of that usage, to a millionth of a dollar; None where provider, model or counts are not known."""
    provider = PROVIDERS.get(endpoint)
    if provider is None or usage is None or usage.input is None or usage.output is None:
        return None
    cached = usage.cached_input or 0
    read = usage.input + (cached if provider.leaves_out_cached else 0)
    written = usage.output + ((usage.reasoning or 0) if provider.leaves_out_reasoning else 0)
    counted = genai_prices.Usage(
        input_tokens=read, cache_read_tokens=min(cached, read), output_tokens=written
    )
    try:
        found = genai_prices.calc_price(counted, model, provider_id=provider.name)
    except (LookupError, ValueError):
        return None
    return found.total_price.quantize(PLACES)
