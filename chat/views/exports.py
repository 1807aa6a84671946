"""Taking conversations along: one as Markdown or JSON, or on paper; all of them as one file."""

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import IO, TypeVar
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat import exporting
from chat.models import Conversation, Generation
from chat.replies import endings, picker

Response = TypeVar("Response", bound=HttpResponseBase)
CHUNK_BYTES = 256 * 1024


@never_cache
@require_safe
def export(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Which ways there are."""
    row = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
    way = exporting.way_back(row)
    most = settings.GYMNASIA.max_import_bytes // (1024 * 1024)
    return render(request, "chat/export.html", {"conversation": row, "way_back": way, "most_mb": most})


@never_cache
@require_safe
def file(request: HttpRequest, conversation_id: UUID, kind: str) -> HttpResponseBase:
    """The conversation as a file; `kind` is "md" or "json". What an import would not take so comes as an archive."""
    row = get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)
    if kind == "md":
        media_type = "text/markdown; charset=utf-8"
        text = exporting.as_markdown(row, ending=_ending, model=_model)
    elif exporting.way_back(row) == "json":
        media_type, text = "application/json", exporting.as_json(row)
    else:
        return _archive([row], exporting.file_name(row, "zip"))
    return _attached(HttpResponse(text, content_type=media_type), exporting.file_name(row, kind))


def _ending(row: Generation) -> str:
    """How a reply ended short of an answer, in the words of the page."""
    by_person = row.cancelled_by_id is not None
    found = endings.ending(row.state, row.reason, row.detail, by_person=by_person)
    if found is None:
        return _("No answer yet: it was being written when this file was made.")
    return _("No answer: %(mark)s. %(sentence)s") % {"mark": found.mark, "sentence": found.sentence}


def _model(row: Generation) -> str:
    return picker.label(row.endpoint, row.model)


@never_cache
@require_safe
def everything(request: HttpRequest) -> HttpResponseBase:
    """All conversations of a person in one file, which can be imported again; written as it is sent."""
    owned = Conversation.objects.owned_by(request.user)
    if not exporting.fit_one_document(owned):
        return _archive(owned.order_by("created", "pk").iterator(), "gymnasia-conversations.zip")
    pieces = exporting.everything(request.user)
    response = StreamingHttpResponse(_on_a_thread(pieces), content_type="application/json")
    return _attached(response, "gymnasia-conversations.json")


def _archive(conversations: Iterable[Conversation], name: str) -> HttpResponseBase:
    """Put together on disk: it may be large."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the response closes it)
    exporting.archive(conversations, file)
    return _attached(of_file(file, "application/zip"), name)


def of_file(file: IO[bytes], content_type: str) -> StreamingHttpResponse:
    """An open file, sent piece by piece from its beginning and closed then."""
    response = StreamingHttpResponse(_pieces(file), content_type=content_type)
    response["Content-Length"] = str(file.tell())
    file.seek(0)
    return response


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    try:
        while piece := await sync_to_async(file.read)(CHUNK_BYTES):
            yield piece
    finally:
        file.close()


async def _on_a_thread(pieces: Iterator[str]) -> AsyncIterator[bytes]:
    """One conversation after the other: the loop is free while the database is asked."""
    following = sync_to_async(lambda: next(pieces, None))
    while (piece := await following()) is not None:
        yield piece.encode()


def _attached(response: Response, name: str) -> Response:
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    return response
