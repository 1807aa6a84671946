"""The shared types keep their secrets and their shape."""

from __future__ import annotations

from chat.providers.base import Secret, UpstreamRequest


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
