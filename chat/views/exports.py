"""Taking conversations along: one as Markdown or JSON, or on paper; all of them as one file."""

from collections.abc import AsyncIterator, Iterator
from typing import TypeVar
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat import exporting
from chat.models import Conversation

Response = TypeVar("Response", bound=HttpResponseBase)
KINDS = {
    "md": ("text/markdown; charset=utf-8", exporting.as_markdown),
    "json": ("application/json", exporting.as_json),
}


@never_cache
@require_safe
def export(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Which ways there are."""
    row = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
    return render(request, "chat/export.html", {"conversation": row})


@never_cache
@require_safe
def file(request: HttpRequest, conversation_id: UUID, kind: str) -> HttpResponse:
    """The conversation as a file; `kind` is one of `KINDS`."""
    row = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
    media_type, write = KINDS[kind]
    return _attached(HttpResponse(write(row), content_type=media_type), exporting.file_name(row, kind))


@never_cache
@require_safe
def everything(request: HttpRequest) -> HttpResponseBase:
    """All conversations of a person in one file, which can be imported again; written as it is sent."""
    pieces = exporting.everything(request.user)
    response = StreamingHttpResponse(_on_a_thread(pieces), content_type="application/json")
    return _attached(response, "gymnasia-conversations.json")


async def _on_a_thread(pieces: Iterator[str]) -> AsyncIterator[bytes]:
    """One conversation after the other: the loop is free while the database is asked."""
    following = sync_to_async(lambda: next(pieces, None))
    while (piece := await following()) is not None:
        yield piece.encode()


def _attached(response: Response, name: str) -> Response:
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    return response
