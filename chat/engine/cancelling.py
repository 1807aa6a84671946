"""Having a provider end what goes on there without a connection: closing the line ends nothing in the background.

Takes the row of a generation that has ended here; gives what the provider answered, try by try. It writes nothing and knows
no run.
"""

import asyncio
from collections.abc import AsyncIterator

from chat.models import Generation
from chat.providers import WIRES
from chat.providers.base import Endpoint, ResumableWire
from chat.states.generation import State
from chat.upstream import Upstream, UpstreamFault

ATTEMPTS = 3  # how often a provider is asked


async def answers(
    row: Generation, endpoint: Endpoint, upstream: Upstream, *, backoff_s: float
) -> AsyncIterator[str]:
    """Ask until the provider answers for good, or `ATTEMPTS` times, and yield each answer; nothing where the reply ran on no
    longer than its connection, goes on here, or became an answer."""
    wire = WIRES[endpoint.wire]
    if not isinstance(wire, ResumableWire) or not row.provider_response_id:
        return
    if not row.settings.get("background") or not row.is_final or row.state == State.confirmed:
        return
    request = wire.cancel_request(endpoint=endpoint, response_id=row.provider_response_id)
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(backoff_s * 2 ** (attempt - 1))
        try:
            async with upstream.open(request) as response:
                answer = f"HTTP {response.status}"
                done = response.status < 500 and response.status not in (408, 429)
        except UpstreamFault as fault:
            answer, done = type(fault).__name__, False
        yield answer
        if done:
            return
