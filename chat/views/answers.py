"""Two ways to answer a POST: 303 for a plain form, JSON for our own script. The commands are the same."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse


class SeeOther(HttpResponseRedirect):
    """303: the page after a POST is fetched by GET, whatever the browser's age."""

    status_code = 303


def wants_json(request: HttpRequest) -> bool:
    """Whether our script asks; a browser that follows a form never names JSON first."""
    return request.headers.get("Accept", "").startswith("application/json")


def refusal(status: int, error: str, message: str, **more: Any) -> HttpResponse:
    """An error for the script: a word for the machine, a sentence for the person."""
    return JsonResponse({"error": error, "message": message, **more}, status=status)
