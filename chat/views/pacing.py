"""What somebody reads who asks more often than this server allows: when they may go on; their text is kept.

Takes `TooFast` out of whatever view raised it, gives a page with the text ready to be sent, or JSON for our script.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import ngettext

from chat.pace import TooFast
from chat.views.answers import refusal, wants_json


class PaceMiddleware:
    """One place for every view that asks for a reply."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer it, if it is ours."""
        if not isinstance(exception, TooFast):
            return None
        sentence = when(exception.wait_s)
        if wants_json(request):
            answer = refusal(429, "too_fast", sentence)
        else:
            context = {
                "sentence": sentence,
                "text": request.POST.get("text", ""),
                "model": request.POST.get("model", ""),
                "action": request.get_full_path(),
            }
            answer = render(request, "chat/too_fast.html", context, status=429)
        answer["Retry-After"] = str(exception.wait_s)
        return answer


def when(wait_s: int) -> str:
    """In how many minutes, rounded up: whoever believes it and comes back is let in."""
    minutes = -(-wait_s // 60)
    return ngettext(
        "That was more than this server allows within an hour. You can ask again in %(n)s minute.",
        "That was more than this server allows within an hour. You can ask again in %(n)s minutes.",
        minutes,
    ) % {"n": minutes}
