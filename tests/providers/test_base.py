"""The shared types keep their secrets and their shape."""

from __future__ import annotations

import json

from chat.providers import WIRES
from chat.providers.base import Endpoint, Image, Prompt, Secret, Turn, UpstreamRequest


def test_a_request_shows_neither_key_nor_words() -> None:
    """It ends up in logs and tracebacks."""
    request = UpstreamRequest("POST", "http://a/v1", {"authorization": "Bearer k"}, b"what a person wrote")
    assert repr(request) == "UpstreamRequest(POST http://a/v1, 19 bytes)"


def test_secrets_can_be_compared_but_not_read_by_accident() -> None:
    """Equality is all that tests and caches need."""
    assert (Secret("a") == Secret("a"), Secret("a") == Secret("b"), Secret("a") == "a") == (
        True,
        False,
        False,
    )
    assert {Secret("a"), Secret("a")} == {Secret("a")}
    assert str(Secret("a")) == "Secret(…)"


# --- pictures -------------------------------------------------------------------------------------------------------
CAT = Image("image/png", "Y2F0")
DOG = Image("image/webp", "ZG9n")
PICTURED = {
    "openai_chat": (
        "messages",
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,Y2F0"}},
                {"type": "image_url", "image_url": {"url": "data:image/webp;base64,ZG9n"}},
                {"type": "text", "text": "Which?\n\nSay."},
            ],
        },
    ),
    "openai_responses": (
        "input",
        {
            "role": "user",
            "content": [
                {"type": "input_image", "image_url": "data:image/png;base64,Y2F0"},
                {"type": "input_image", "image_url": "data:image/webp;base64,ZG9n"},
                {"type": "input_text", "text": "Which?\n\nSay."},
            ],
        },
    ),
    "anthropic": (
        "messages",
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "Y2F0"},
                },
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/webp", "data": "ZG9n"},
                },
                {"type": "text", "text": "Which?\n\nSay."},
            ],
        },
    ),
    "google": (
        "contents",
        {
            "role": "user",
            "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "Y2F0"}},
                {"inlineData": {"mimeType": "image/webp", "data": "ZG9n"}},
                {"text": "Which?\n\nSay."},
            ],
        },
    ),
    "google_interactions": (
        "input",
        {
            "type": "user_input",
            "content": [
                {"type": "image", "data": "Y2F0", "mime_type": "image/png"},
                {"type": "image", "data": "ZG9n", "mime_type": "image/webp"},
                {"type": "text", "text": "Which?\n\nSay."},
            ],
        },
    ),
}


def test_pictures_go_before_their_text_on_every_wire() -> None:
    """In each wire's own form; a picture alone is a turn, and turns of one speaker are still joined."""
    prompt = Prompt("", [Turn("user", "", images=[CAT]), Turn("user", "Which?\n\nSay.", images=[DOG])])
    place = Endpoint("e", "E", "", "http://127.0.0.1:9/v1", None, "strict", ())
    sent = {
        name: json.loads(wire.request(prompt, endpoint=place, model="m").body)[PICTURED[name][0]]
        for name, wire in WIRES.items()
    }
    assert sent == {name: [turn] for name, (_, turn) in PICTURED.items()}
