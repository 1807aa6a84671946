"""One web process around Daphne's server: the engine starts with the loop and drains before it stops.

Takes a listening socket and who keeps the local model. Importing this module makes Twisted's reactor: the event loop
policy must be set before.
"""

import asyncio
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from daphne.server import Server
from django.conf import settings
from django.urls import reverse
from twisted.internet import defer
from twisted.internet import reactor as current_reactor
from twisted.internet.endpoints import AdoptedStreamServerEndpoint
from twisted.python.failure import Failure

from chat import catalogue, consumers
from chat.drafts import STORE
from chat.engine.embedded import EmbeddedEngine
from chat.local_model import Keeper
from chat.protocols import bound, hear_resets
from chat.views.errors import too_large_unread

log = logging.getLogger(__name__)

HARD_STOP_S = 15.0
FAREWELL_S = 1.0
KEEP_LOOK_S = 0.5
MOST_FRAME_BYTES = 4 * 1024 * 1024
reactor: Any = current_reactor  # Twisted's module stands for an object; its types say otherwise


class Serving:
    """Serve until a signal comes. SIGTERM and Ctrl-C drain: own generations end at once and say why."""

    def __init__(self, listening: socket.socket, keeper: Keeper) -> None:
        self._listening = listening
        self._keeper = keeper
        catalogue.use_local(keeper.current)
        self.engine = EmbeddedEngine(settings.GYMNASIA, store=STORE, endpoints=catalogue.endpoints)

    def run(self, *, ready: Callable[[], None]) -> None:
        """Block until the server has stopped; `ready` is called once it accepts connections."""
        from django.utils.module_loading import import_string

        module, _, name = settings.ASGI_APPLICATION.rpartition(".")
        application = import_string(f"{module}.{name}")
        server = Server(
            application=application,
            endpoints=["unused:the socket is adopted below"],
            signal_handlers=True,
            http_timeout=None,
            websocket_timeout=-1,
            # A proxy cuts a line that is silent for its taste; Daphne looks every two seconds whether it is time.
            ping_interval=settings.GYMNASIA.heartbeat_s,
            application_close_timeout=5,
            server_name="gymnasia",
            proxy_forwarded_address_header=None,
            verbosity=1,
            # They bound what is sent as well as what comes: frames are kept near `ahead_bytes` by the subscription.
            websocket_max_message_size=MOST_FRAME_BYTES,
            websocket_max_frame_size=MOST_FRAME_BYTES,
        )
        server.endpoints = []

        def start() -> None:
            consumers.serve_from(self.engine)
            started = defer.Deferred.fromFuture(asyncio.ensure_future(self.engine.start()))
            self._keeping = asyncio.ensure_future(self._keep_the_model())
            started.addCallback(lambda _: self._accept(server, ready))
            started.addErrback(self._fail)

        hear_resets(reactor)
        reactor.callWhenRunning(start)
        # In its place, not beside it: it would cancel every response while its last frames are on their way.
        kill = server.kill_all_applications
        server.kill_all_applications = lambda: self._drain(server).addBoth(lambda _: kill())
        server.run()
        if self._fault is not None:
            raise self._fault

    async def _keep_the_model(self) -> None:
        while True:
            await asyncio.sleep(KEEP_LOOK_S)
            try:
                made = await asyncio.to_thread(self._keeper.look, time.monotonic())
            except Exception:
                log.exception("the local model could not be looked after; tried again")
            else:
                if made is not None:
                    catalogue.use_local(made)

    _fault: BaseException | None = None

    def _accept(self, server: Server, ready: Callable[[], None]) -> None:
        conf = settings.GYMNASIA
        # The form around a file is small.
        long_bytes = conf.max_import_bytes + conf.max_request_bytes
        long_path = reverse("chat:imports").encode()
        bound(
            server,
            request_bytes=conf.max_request_bytes,
            long_bytes=long_bytes,
            long_path=long_path,
            tell=too_large_unread,
        )
        endpoint: Any = AdoptedStreamServerEndpoint(  # type: ignore[no-untyped-call]
            reactor, self._listening.fileno(), self._listening.family
        )
        listener = endpoint.listen(server.http_factory)
        listener.addCallback(server.listen_success)
        listener.addCallback(lambda _: ready())
        listener.addErrback(self._fail)

    def _fail(self, failure: Failure) -> None:
        self._fault = failure.value
        log.error("the server could not start: %s", failure.getErrorMessage())
        reactor.stop()

    def _drain(self, server: Server) -> defer.Deferred[None]:
        """Twisted waits for this before it closes anything. A thread that does not come to its end (a page that renders)
        must not keep a server alive that was told to stop: after a while the process ends whatever it does."""
        watch = threading.Timer(HARD_STOP_S, os._exit, [1])
        watch.daemon = True
        watch.start()
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._farewell(server)))

    async def _farewell(self, server: Server) -> None:
        """The engine ends and sends everyone away; then what is being answered has a moment to end by itself."""
        self._keeping.cancel()
        await self.engine.drain()
        details = list(server.connections.values())
        answering = [each["application_instance"] for each in details if "application_instance" in each]
        if answering:
            await asyncio.wait(answering, timeout=FAREWELL_S)
