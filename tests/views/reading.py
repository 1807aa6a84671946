"""What tests of pages read off them."""

import re

from django.test import Client

from chat.models import Generation, Message
from chat.providers.base import Endpoint, Model

JSON = {"Accept": "application/json"}
LOCAL = Endpoint(
    name="local",
    label="This machine",
    wire="openai_chat",
    base_url="http://127.0.0.1:9",
    key_env=None,
    profile="llama.cpp",
    models=(Model("tiny", "Tiny"),),
)


def address(generation: Generation) -> str:
    return f"/conversations/{generation.conversation_id}/"


def shown(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def messages() -> list[tuple[str, str]]:
    return list(Message.objects.order_by("created").values_list("kind", "text"))


def attributes(text: str) -> list[dict[str, str]]:
    """The data attributes of every reply on a page."""
    tags = re.findall(r'<article class="reply"([^>]*)>', text)
    return [dict(re.findall(r'data-(\w+)="([^"]*)"', tag)) for tag in tags]
