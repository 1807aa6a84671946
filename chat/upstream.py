"""The way out to providers: the only module that imports an HTTP client.

Takes an `UpstreamRequest`, gives the status, the headers and the body's bytes as they come off the network. It knows no
wire: what the bytes mean, and whether a polite end is a whole one, is decided elsewhere.
"""

import asyncio
import contextlib
import datetime as dt
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self

import aiohttp
import httpx
from aiohttp.client_proto import ResponseHandler
from httpx_aiohttp import AiohttpTransport

from chat.providers.base import UpstreamRequest
from chat.streaming.deltas import storable

EVENT_STREAM = "text/event-stream"
USER_AGENT = "Gymnasia"
STREAM = "gymnasia.stream"
KEEP_ALIVE_S = 5.0  # how long a connection lies idle for the next reply: providers close theirs soon, too
READABLE = frozenset({"", "identity", "gzip", "deflate"})  # ways of packing a body that the client can undo
SLICE_BYTES = (
    16 * 1024
)  # as much of a body as is read before everybody else has a turn: a few milliseconds' work
RETRY_AFTER_MOST_S = 366 * 86_400.0
LATE_S = 0.1  # a timer that comes later than this was not due to the provider
LATE_GRACE_S = 1.0  # how long the kernel's buffers are read before silence is judged again

# The transport gives most faults of the library under it the client's names, but not an answer that is no HTTP; and a body
# is read below both.
BROKEN = (httpx.TransportError, aiohttp.ClientError, OSError)


class UpstreamFault(Exception):
    """The line failed. The text names the fault and never holds a prompt or a key.

    UpstreamFault
    ├── NotReached   not a byte of an answer: no connection, or one that ended or stayed silent
    ├── Garbled      an answer began, and its head is none: no HTTP, too long, broken off
    ├── Lost         the body broke off: reset, or fewer bytes than promised
    └── Silent       the body is open, but nothing came for the idle limit
    """


class NotReached(UpstreamFault):
    """Nothing of an answer came: the request may be sent again."""


class Garbled(UpstreamFault):
    """An answer came that cannot be read: the request has arrived and may cost something, so it is not sent again."""


class Lost(UpstreamFault):
    """The connection broke in mid-body."""


class Silent(UpstreamFault):
    """No byte came for the idle limit."""


class _Line:
    """What is known of the line that a request went out on."""

    answered = False

    def fault(self, told: str) -> UpstreamFault:
        return Garbled(told) if self.answered else NotReached(told)


_LINE: ContextVar[_Line] = ContextVar("line of the request that is being sent")


@dataclass(frozen=True, slots=True)
class Response:
    """An answer whose headers have come: `chunks()` may be read once, inside the `open` block."""

    status: int
    headers: Mapping[str, str]
    _response: httpx.Response
    _idle_timeout_s: float
    _body_timeout_s: float | None = None

    @property
    def is_event_stream(self) -> bool:
        kind = self.headers.get("content-type", "").split(";", 1)[0].strip().lower()
        return self.status // 100 == 2 and kind == EVENT_STREAM and self._encoding in READABLE

    @property
    def kind(self) -> str:
        """What the answer says that it is."""
        kind = self.headers.get("content-type", "no content type")[:80]
        return kind if self._encoding in READABLE else f"{kind} packed as {self._encoding[:20]}"

    @property
    def retry_after_s(self) -> float | None:
        """Seconds that the provider asks us to wait, if it does."""
        return retry_after_s(self.headers.get("retry-after", ""))

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body in pieces of any size. Raises `Lost` or `Silent`; an orderly end proves nothing."""
        read = self._reading()
        with _Patience(self._idle_timeout_s) as patience:
            try:
                while True:
                    patience.begin()
                    piece = await read()
                    patience.end()
                    if not piece:
                        return
                    for slice_ in _slices(piece):
                        yield slice_
                        if slice_ is not piece:
                            await asyncio.sleep(0)
            except asyncio.CancelledError:
                if patience.is_our_cancellation():
                    raise Silent(f"no byte for {self._idle_timeout_s} s") from None
                raise
            except (*BROKEN, httpx.DecodingError) as error:
                patience.end()
                # What came before the break, while nobody was asking, has come all the same: the stream keeps it, and tells
                # of the break first. It has no public way to it.
                if not self._is_packed and (left := self._stream._read_nowait(-1)):  # noqa: SLF001
                    yield left
                raise Lost(fault(error)) from None

    def _reading(self) -> Callable[[], Awaitable[bytes]]:
        """What gives the next piece, whatever has come, as soon as it has come; nothing at the end."""
        if not self._is_packed:
            # The client's and the transport's iterators wrap this call four times, a quarter of the cost of an event.
            return self._stream.readany
        pieces = self._response.aiter_bytes()
        return lambda: anext(pieces, b"")

    @property
    def _is_packed(self) -> bool:
        return self._encoding not in {"", "identity"}

    @property
    def _encoding(self) -> str:
        return self.headers.get("content-encoding", "").strip().lower()

    @property
    def _stream(self) -> aiohttp.StreamReader:
        stream: aiohttp.StreamReader = self._response.extensions[STREAM]
        return stream

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


def _slices(piece: bytes) -> Iterator[bytes]:
    """The piece itself, nearly always. What has come at full speed, or was packed a hundred times smaller, is many: read in
    one go it would hold up every page of the server."""
    if len(piece) <= SLICE_BYTES:
        yield piece
        return
    for at in range(0, len(piece), SLICE_BYTES):
        yield piece[at : at + SLICE_BYTES]


class _Patience:
    """Ends one task's wait for bytes that lasts longer than the limit. One timer for a whole body: a token costs no more
    than a look at the clock.

    A process that was frozen finds its limits passed when it wakes up, and bytes that have come meanwhile waiting in the
    kernel: a look that comes late lets the body be read first, once. The transport's own time-out would not.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._waiting_since: float | None = None
        self._spared_since: float | None = None
        self._is_over = False

    def __enter__(self) -> Self:
        self._look_at(self._loop.time() + self._limit_s)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def begin(self) -> None:
        """The task waits for bytes from now on."""
        self._waiting_since = self._loop.time()

    def end(self) -> None:
        """It waits no more."""
        self._waiting_since = None

    def is_our_cancellation(self) -> bool:
        """Whether the task was cancelled by this limit and by nobody else."""
        return self._is_over and self._task is not None and self._task.uncancel() == 0

    def _look_at(self, due: float) -> None:
        self._due = due
        self._timer = self._loop.call_at(due, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        since = now if self._waiting_since is None else self._waiting_since
        if since + self._limit_s > now:
            self._look_at(since + self._limit_s)
        elif now - self._due > LATE_S and self._spared_since != since:
            self._spared_since = (
                since  # once for each wait: a loop that is always late must not wait for ever
            )
            self._look_at(now + min(self._limit_s, LATE_GRACE_S))
        elif self._task is not None:
            self._is_over = True
            self._task.cancel()


class Upstream:
    """One client per process and event loop: its pool has no ceiling, its time-outs are arguments."""

    def __init__(
        self, *, connect_timeout_s: float, idle_timeout_s: float, answer_timeout_s: float | None = None
    ) -> None:
        self._idle_timeout_s, self._body_timeout_s = idle_timeout_s, answer_timeout_s
        longest_s = connect_timeout_s + idle_timeout_s
        self._head_timeout_s = min(longest_s, answer_timeout_s or longest_s)
        self._client = httpx.AsyncClient(
            transport=_Transport(
                # max_connections=0 lifts the ceiling: with None the transport would let the 101st reply wait in silence.
                limits=httpx.Limits(max_connections=0, keepalive_expiry=KEEP_ALIVE_S),
                trust_env=False,
            ),
            timeout=httpx.Timeout(None, connect=connect_timeout_s),
            # A cookie that came with one person's reply must not go out with another's.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            headers={"user-agent": USER_AGENT, "accept-encoding": "identity"},  # what packs also buffers
            trust_env=False,
        )

    @asynccontextmanager
    async def open(self, request: UpstreamRequest) -> AsyncIterator[Response]:
        """Send `request`; the connection is closed when the block ends, read to its end or not.

        Raises `NotReached` where nothing comes, `Garbled` where what comes is no head.
        """
        response = await self._send(request)
        try:
            yield Response(
                response.status_code,
                _headers(response),
                response,
                self._idle_timeout_s,
                self._body_timeout_s,
            )
        finally:
            await response.aclose()

    async def _send(self, request: UpstreamRequest) -> httpx.Response:
        line = _Line()
        under_way = _LINE.set(line)
        try:
            outgoing = self._client.build_request(
                request.method, request.url, headers=request.headers, content=request.body
            )
            async with asyncio.timeout(self._head_timeout_s):
                return await self._client.send(outgoing, stream=True)
        except TimeoutError:  # a drip of headers is never silent, and never an answer
            raise line.fault(f"no whole answer head within {self._head_timeout_s} s") from None
        except (*BROKEN, httpx.InvalidURL, ValueError) as error:  # an address or a header that is none
            raise line.fault(fault(error)) from None
        finally:
            _LINE.reset(under_way)

    async def aclose(self) -> None:
        await self._client.aclose()


class _Protocol(ResponseHandler):
    """aiohttp's end of a connection, which tells the request's line of the first byte that comes back on it: afterwards the
    library no longer tells an answer that broke off from none."""

    _line: _Line | None = None

    def set_response_params(self, **how: Any) -> None:
        """A request goes out."""
        self._line = _LINE.get(None)
        super().set_response_params(**how)

    def data_received(self, data: bytes) -> None:
        if self._line is not None and data:
            self._line.answered = True
            self._line = None
        super().data_received(data)


class _Head(aiohttp.ClientResponse):
    """Without the words of the status line: they may be in any letters, which the transport takes for UTF-8."""

    @property
    def reason(self) -> None:
        return None

    @reason.setter
    def reason(self, told: str | None) -> None: ...


class _Transport(AiohttpTransport):
    """httpx over aiohttp, with aiohttp's own reader of a body among the extensions of its response, and no cookies there
    either."""

    def get_client(self) -> aiohttp.ClientSession:
        session: aiohttp.ClientSession = super().get_client()
        session._cookie_jar = aiohttp.DummyCookieJar()  # noqa: SLF001
        session._response_class = _Head  # noqa: SLF001
        loop = asyncio.get_running_loop()
        session.connector._factory = lambda: _Protocol(loop)  # type: ignore[union-attr]  # noqa: SLF001
        return session

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response: httpx.Response = await super().handle_async_request(request)
        response.extensions[STREAM] = response.stream._aiohttp_response.content  # type: ignore[union-attr]  # noqa: SLF001
        return response


def _headers(response: httpx.Response) -> dict[str, str]:
    """The headers by their names in small letters; of one that comes twice, the first."""
    found: dict[str, str] = {}
    for name, value in response.headers.multi_items():
        found.setdefault(name.lower(), storable(value))
    return found


def fault(error: Exception) -> str:
    """A fault's name and its first line. Addresses are the installation's own; headers and bodies are never in it."""
    told = str(error).strip()
    if isinstance(error, aiohttp.ClientResponseError):
        # A head that cannot be read, which the rest of the line quotes.
        told = error.message.partition(":")[0]
    first = told.split("\n", 1)[0][:200]
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
        return min(max(0.0, seconds), RETRY_AFTER_MOST_S) if math.isfinite(seconds) else None
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    if at.tzinfo is None:  # "-0000": a time in UTC that says nothing about its place
        at = at.replace(tzinfo=dt.UTC)
    return min(max(0.0, (at - dt.datetime.now(dt.UTC)).total_seconds()), RETRY_AFTER_MOST_S)
