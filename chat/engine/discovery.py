"""Asks servers whose models nobody has named which ones they have, so that the picker offers what is there.

Takes the upstream; gives models to the catalogue. A server that does not answer is asked again, more often until it first
did: it may start after us.
"""

import asyncio
import logging

from chat import catalogue
from chat.providers.base import Endpoint
from chat.providers.listing import listing_request, read_listing
from chat.upstream import Upstream, UpstreamFault

log = logging.getLogger(__name__)

SOON_S = 5.0
LATER_S = 300.0
MOST_BYTES = 4 * 1024 * 1024


async def discover_forever(upstream: Upstream) -> None:
    """Keep the catalogue's models current until cancelled."""
    while True:
        unnamed = catalogue.unnamed()
        if not unnamed:
            return
        learnt = [await _learn(upstream, endpoint) for endpoint in unnamed]
        await asyncio.sleep(LATER_S if all(learnt) else SOON_S)


async def _learn(upstream: Upstream, endpoint: Endpoint) -> bool:
    try:
        async with upstream.open(listing_request(endpoint)) as response:
            body = await response.body(at_most=MOST_BYTES)
            models = read_listing(body) if response.status == 200 else ()
    except UpstreamFault as fault:
        log.info("the models of %s are not known yet: %s", endpoint.name, fault)
        return False
    if models:
        catalogue.learn(endpoint.name, models)
    return bool(models)
