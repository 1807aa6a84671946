"""A network that can be lost: a TCP relay on loopback that is cut and mended while pages talk through it.

Takes the port of a server, gives a port that leads there. Runs on a thread and loop of its own. Knows no protocol.
"""

import asyncio
import socket
import struct
import threading
from contextlib import suppress
from typing import Self


class Relay:
    """`with Relay(port) as relay: … relay.port … relay.cut() … relay.mend()`."""

    def __init__(self, target: int) -> None:
        self.target, self.port = target, 0
        self._whole = True
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        started = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._carry, "127.0.0.1", 0), self._loop
        )
        self._server = started.result(5)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *exc: object) -> None:
        self.cut()
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def cut(self) -> None:
        """Reset every connection, and every new one, until mended."""
        asyncio.run_coroutine_threadsafe(self._cut(), self._loop).result(5)

    def mend(self) -> None:
        """Let connections through again."""
        self._whole = True

    async def _cut(self) -> None:
        self._whole = False
        for writer in list(self._open):
            _reset(writer)

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            _reset(writer)
            return
        # Known before the other half is there: a cut in between is a cut of this one too.
        both = {writer}
        self._open |= both
        try:
            with suppress(OSError, asyncio.CancelledError):
                there, back = await asyncio.open_connection("127.0.0.1", self.target)
                both.add(back)
                if writer.transport.is_closing():
                    return
                self._open.add(back)
                await asyncio.gather(self._pipe(reader, back), self._pipe(there, writer))
        finally:
            self._open -= both
            for one in both:
                one.transport.abort()

    async def _pipe(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
        # One side's end ends both: half-open connections are not what this is for.
        sink.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """RST instead of a polite end: linger of zero seconds."""
    with suppress(OSError):
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
