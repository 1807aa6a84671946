"""The ASGI application: pages by HTTP, frames by WebSocket.

A socket is opened only from a page of ours (Origin check) and by a person who is signed in (session); everybody else is
refused before the handshake.
"""

import os
from typing import Any
from urllib.parse import urlsplit

import django
from asgiref.sync import sync_to_async
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")


class OneHop(ASGIHandler):
    """Django's handler with the middlewares in one synchronous chain: one change of threads per request.

    Adapted one by one to the event loop, each of a dozen middlewares hops to a thread and back, twice: a third of what a
    page costs, at the very moment when a reply begins.
    """

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 (Django's signature)
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in the request's own thread."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


django.setup(set_prefix=False)  # loads the applications: what follows may import models
http = OneHop()

from chat.requests import WithoutNul  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402


class SameOrigin:
    """Lets a socket through only from the very origin that serves the page, port included, as Django's CSRF check does.

    It stands outermost: what is behind it reads only origins that are addresses. It also keeps the server's own `send` in
    the scope: the session's wrapper in between looks at the session again for each frame, which a socket cannot change.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        """Hand on, or refuse before the handshake."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get(b"origin", "")
        try:
            place = urlsplit(origin).netloc
        except ValueError:  # brackets that are none
            origin = place = ""
        here = origin == settings.PUBLIC_ORIGIN or place == headers.get(b"host")
        application = self.application if origin and here else WebsocketDenier()
        return await application({**scope, "straight_send": send}, receive, send)


sockets = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
application = WithoutNul(
    ProtocolTypeRouter({"http": http, "websocket": SameOrigin(AllowedHostsOriginValidator(sockets))})
)
