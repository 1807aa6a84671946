"""The way out to providers: the only module that imports an HTTP client.

Takes an `UpstreamRequest`, gives the status, the headers and the body's bytes as they come off the network. It knows no
wire: what the bytes mean, and whether a polite end is a whole one, is decided elsewhere.
"""

import asyncio
import contextlib
import datetime as dt
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import cast

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from chat.providers.base import UpstreamRequest

EVENT_STREAM = "text/event-stream"

# The transport gives most faults of the library under it the client's names, but not an answer that is no HTTP.
BROKEN = (httpx.TransportError, aiohttp.ClientError)


class UpstreamFault(Exception):
    """The line failed. The text names the fault and never holds a prompt or a key.

    UpstreamFault
    ├── NotReached   no answer at all: no connection, no headers
    ├── Lost         the body broke off: reset, or fewer bytes than promised
    └── Silent       the body is open, but nothing came for the idle limit
    """


class NotReached(UpstreamFault):
    """No response headers came: the request may be sent again."""


class Lost(UpstreamFault):
    """The connection broke in mid-body."""


class Silent(UpstreamFault):
    """No byte came for the idle limit."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer whose headers have come: `chunks()` may be read once, inside the `open` block."""

    status: int
    headers: Mapping[str, str]
    _response: httpx.Response
    _body_timeout_s: float | None = None

    @property
    def is_event_stream(self) -> bool:
        kind = self.headers.get("content-type", "").split(";", 1)[0].strip().lower()
        return self.status // 100 == 2 and kind == EVENT_STREAM

    @property
    def retry_after_s(self) -> float | None:
        """Seconds that the provider asks us to wait, if it does."""
        return retry_after_s(self.headers.get("retry-after", ""))

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body in pieces of any size. Raises `Lost` or `Silent`; an orderly end proves nothing."""
        encoded = self._response.headers.get("content-encoding", "identity").lower() != "identity"
        # The transport's own stream: the client's `aiter_raw` wraps it twice more, a tenth of the cost of a chunk.
        plain = cast("httpx.AsyncByteStream", self._response.stream)
        pieces = self._response.aiter_bytes() if encoded else plain
        try:
            async for piece in pieces:
                yield piece
        except httpx.TimeoutException as error:
            # The transport reports a reset in mid-body as a connect time-out: only the read time-out is silence.
            raise (Silent if isinstance(error, httpx.ReadTimeout) else Lost)(fault(error)) from None
        except (*BROKEN, httpx.DecodingError) as error:
            raise Lost(fault(error)) from None

    async def body(self, *, at_most: int) -> bytes:
        """The beginning of the body, `at_most` bytes of it; what broke off is given as far as it came."""
        data = bytearray()
        # The status is already an error, so that its text may be short: cut off, or still dripping.
        with contextlib.suppress(UpstreamFault, TimeoutError):
            async with asyncio.timeout(self._body_timeout_s):
                async for piece in self.chunks():
                    data += piece
                    if len(data) >= at_most:
                        break
        return bytes(data[:at_most])


class Upstream:
    """One client per process and event loop: its pool has no ceiling, its time-outs are arguments."""

    def __init__(
        self, *, connect_timeout_s: float, idle_timeout_s: float, answer_timeout_s: float | None = None
    ) -> None:
        self._answer_timeout_s = answer_timeout_s
        # max_connections=0 lifts the ceiling: with None the transport would let the 101st reply wait in silence.
        limits = httpx.Limits(max_connections=0, max_keepalive_connections=20)
        self._client = httpx.AsyncClient(
            transport=AiohttpTransport(limits=limits),
            timeout=httpx.Timeout(idle_timeout_s, connect=connect_timeout_s, pool=None),
            trust_env=False,
        )

    @asynccontextmanager
    async def open(self, request: UpstreamRequest) -> AsyncIterator[Response]:
        """Send `request`; the connection is closed when the block ends, read to its end or not.

        Raises `NotReached` where no headers come.
        """
        try:
            outgoing = self._client.build_request(
                request.method, request.url, headers=request.headers, content=request.body
            )
            async with asyncio.timeout(self._answer_timeout_s):
                response = await self._client.send(outgoing, stream=True)
        except TimeoutError:  # a drip of headers is never silent, and never an answer
            raise NotReached(f"no whole answer head within {self._answer_timeout_s} s") from None
        except (*BROKEN, httpx.InvalidURL, UnicodeError) as error:
            raise NotReached(fault(error)) from None
        try:
            yield Response(response.status_code, response.headers, response, self._answer_timeout_s)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        await self._client.aclose()


def fault(error: Exception) -> str:
    """A fault's name and its first line. Addresses are the installation's own; headers and bodies are never in it."""
    first = str(error).strip().split("\n", 1)[0][:200]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def retry_after_s(value: str) -> float | None:
    """Seconds out of a `Retry-After` header: a number or an HTTP date (RFC 9110, 10.2.3); None if it says nothing."""
    value = value.strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, seconds) if math.isfinite(seconds) else None
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    if at.tzinfo is None:  # "-0000": a time in UTC that says nothing about its place
        at = at.replace(tzinfo=dt.UTC)
    return max(0.0, (at - dt.datetime.now(dt.UTC)).total_seconds())
