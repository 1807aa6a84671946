"""The ASGI application: pages by HTTP, frames by WebSocket.

A socket is opened only from a page of ours (Origin check) and by a person who is signed in (session); everybody else is
refused before the handshake.
"""

import os
from typing import Any
from urllib.parse import urlsplit

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")

http = get_asgi_application()  # loads the applications: what follows may import models

from chat.routing import websocket_urlpatterns  # noqa: E402


class SameOrigin:
    """Lets a socket through only from the very origin that serves the page, port included, as Django's CSRF check does."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        """Hand on, or refuse before the handshake."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get(b"origin", "")
        here = origin == settings.PUBLIC_ORIGIN or urlsplit(origin).netloc == headers.get(b"host")
        return await (self.application if origin and here else WebsocketDenier())(scope, receive, send)


sockets = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
application = ProtocolTypeRouter(
    {"http": http, "websocket": AllowedHostsOriginValidator(SameOrigin(sockets))}
)
