"""The address and the headers of a request."""

from __future__ import annotations

import pytest

from chat.providers.asking import address, headers
from chat.providers.base import Endpoint, Secret


def endpoint(key: str | None) -> Endpoint:
    """Some endpoint."""
    return Endpoint("e", "E", "w", "http://a", None, "strict", (), Secret(key) if key else None)


@pytest.mark.parametrize(
    "base", ["http://a/v1", "http://a/v1/", "http://a/v1/responses", "http://a/v1/responses/"]
)
def test_the_address_is_built_once(base: str) -> None:
    """People paste all forms."""
    assert address(base, "/responses") == "http://a/v1/responses"


@pytest.mark.parametrize(
    ("name", "key", "sent"),
    [
        ("authorization", None, {}),
        ("authorization", "k", {"authorization": "Bearer k"}),
        ("api-key", "k", {"api-key": "k"}),
    ],
)
def test_the_key_goes_where_the_server_wants_it(name: str, key: str | None, sent: dict[str, str]) -> None:
    """And nowhere if there is none; nobody is asked to compress, since a proxy that compresses also buffers."""
    plain = {"content-type": "application/json", "accept": "text/event-stream", "accept-encoding": "identity"}
    assert headers(endpoint(key), name) == plain | sent
    assert headers(endpoint(key), name, accept="application/json")["accept"] == "application/json"
