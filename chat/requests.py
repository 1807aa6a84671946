"""What comes in without what no database takes: a NUL in an address, a cookie or another header.

Takes the scope of a request or a socket, gives it to the application without. SQLite would answer that nothing is found;
PostgreSQL refuses the question, and what looks a session up by such a cookie would fail before anybody is signed in. What
forms send is looked at by their fields. (docs/lifecycle.md, "What cannot be stored".)
"""

from collections.abc import Awaitable, Callable
from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

Application = Callable[[dict[str, Any], Any, Any], Awaitable[Any]]


class WithoutNul:
    """An ASGI application around another."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        """Hand on: the query without its NULs, and no header that holds one."""
        if scope["type"] in {"http", "websocket"}:
            query, headers = scope.get("query_string", b""), scope["headers"]
            if b"%00" in query or any(_holds_nul(*header) for header in headers):
                kept = [header for header in headers if not _holds_nul(*header)]
                scope = {**scope, "query_string": _without_nul(query), "headers": kept}
        return await self.application(scope, receive, send)


def no_such_place(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Any:
    """A middleware: nothing has a NUL in its address, so nothing is looked up by one."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path_info:
            raise Http404
        return get_response(request)

    return answer


def _without_nul(query: bytes) -> bytes:
    while b"%00" in query:  # what is left may be put together to one again
        query = query.replace(b"%00", b"")
    return query


def _holds_nul(name: bytes, value: bytes) -> bool:
    # A cookie in quotes may say a character by its number, in three octal digits.
    return b"\0" in value or (name.lower() == b"cookie" and b"\\000" in value)
