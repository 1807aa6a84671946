"""Pages for what went wrong before any view of ours was reached, or inside one; JSON where our script asked."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, parse_cookie
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from chat.views.answers import refusal, wants_json


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 Django passes it
    """A form from a page that was too old; the text that was in it is given back."""
    if wants_json(request):
        return refusal(403, "csrf", _("This page is too old. Copy your text, reload, and send it again."))
    return render(request, "403_csrf.html", {"text": request.POST.get("text", "")}, status=403)


def too_large(request: HttpRequest, most: int) -> HttpResponse:
    """413: more than `most` bytes. The browser still has what was in the form."""
    with translation.override(translation.get_language_from_request(request)):
        sentence = _("One message may have %(most)s at most, with all its files.") % {
            "most": filesizeformat(most)
        }
        if wants_json(request):
            return refusal(413, "too_large", sentence)
        return HttpResponse(render_to_string("413.html", {"sentence": sentence}), status=413)


def too_large_unread(accept: str, languages: str, cookie: str) -> tuple[str, bytes] | None:
    """The same for a body that is refused while it arrives, by the head of its request: content type and text; None for who
    asks for no page."""
    request = HttpRequest()
    request.META = {"HTTP_ACCEPT": accept, "HTTP_ACCEPT_LANGUAGE": languages}
    request.COOKIES = parse_cookie(cookie)
    if "text/html" not in accept and not wants_json(request):
        return None
    answer = too_large(request, settings.GYMNASIA.max_request_bytes)
    return answer["Content-Type"], answer.content


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400."""
    if isinstance(exception, RequestDataTooBig):
        return too_large(request, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if wants_json(request):
        return refusal(400, "bad_request", _("This server did not understand that request."))
    return render(request, "400.html", status=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """403."""
    if wants_json(request):
        return refusal(403, "forbidden", _("You may not do this here."))
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 Django passes it
    """404, which a stranger's conversation is too."""
    if wants_json(request):
        return refusal(404, "not_found", _("There is nothing here. It may have been deleted."))
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: without context processors, for any of them may be what broke. What broke may have come before the language."""
    with translation.override(translation.get_language_from_request(request)):
        return _server_error(request)


def _server_error(request: HttpRequest) -> HttpResponse:
    if wants_json(request):
        return refusal(500, "internal", _("Something broke on our side. It has been written down."))
    return HttpResponse(render_to_string("500.html"), status=500)
