"""Where sockets are opened."""

from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from chat.consumers import ConversationConsumer

websocket_urlpatterns = [
    path("ws/conversations/<uuid:conversation_id>/", ConversationConsumer.as_asgi()),
    re_path("", WebsocketDenier.as_asgi()),  # nothing else: refused, without a traceback in the log
]
