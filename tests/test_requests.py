"""What an application is told of a request in which a NUL stands."""

from typing import Any

import pytest
from django.http import Http404, HttpResponse
from django.test import RequestFactory

from chat.requests import WithoutNul, no_such_place

COOKIE, AGENT = (b"cookie", b"sessionid=abc; theme=dark"), (b"user-agent", b"Mozilla")


async def told(scope: dict[str, Any]) -> dict[str, Any]:
    """The scope that comes out at the other side."""
    seen: list[dict[str, Any]] = []

    async def application(scope: dict[str, Any], _receive: Any, _send: Any) -> None:
        seen.append(scope)

    await WithoutNul(application)(scope, None, None)
    (found,) = seen
    return found


@pytest.mark.parametrize("kind", ["http", "websocket"])
async def test_an_ordinary_request_is_handed_on_as_it_is(kind: str) -> None:
    scope = {"type": kind, "query_string": b"q=100%2500&b=%0", "headers": [COOKIE, AGENT]}
    assert await told(scope) is scope


@pytest.mark.parametrize(
    ("query", "left"),
    [(b"q=a%00b", b"q=ab"), (b"%00=%00", b"="), (b"q=%%0000", b"q="), (b"q=%0%000&a=1", b"q=&a=1")],
)
async def test_a_query_loses_its_nul(query: bytes, left: bytes) -> None:
    assert await told({"type": "http", "query_string": query, "headers": [COOKIE]}) == {
        "type": "http",
        "query_string": left,
        "headers": [COOKIE],
    }


@pytest.mark.parametrize(
    "header",
    [
        (b"cookie", b"sessionid=a\0b"),
        (b"Cookie", b'sessionid="a\\000b"'),
        (b"user-agent", b"a\0b"),
    ],
)
async def test_a_header_with_a_nul_is_left_out(header: tuple[bytes, bytes]) -> None:
    """Who sends such a cookie is nobody, as with any other that was never given out."""
    scope = {"type": "websocket", "headers": [AGENT, header]}
    assert await told(scope) == {"type": "websocket", "query_string": b"", "headers": [AGENT]}


async def test_digits_behind_a_backslash_are_no_nul_elsewhere() -> None:
    scope = {"type": "http", "query_string": b"", "headers": [(b"referer", b"C:\\000")]}
    assert await told(scope) is scope


async def test_what_is_no_request_is_handed_on() -> None:
    scope = {"type": "lifespan"}
    assert await told(scope) is scope


def test_nothing_is_looked_up_by_an_address_with_a_nul() -> None:
    whole = HttpResponse()
    answer = no_such_place(lambda request: whole)
    assert answer(RequestFactory().get("/a/")) is whole
    for address in ("/%00/", "/s/a%00b"):
        with pytest.raises(Http404):
            answer(RequestFactory().get(address))
