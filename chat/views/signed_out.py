"""Who sends a message after their session has ended signs in, and finds the text on the line again.

Takes the plain form of a person who is nobody by now (our script keeps its text itself), keeps its text in the new session
for the page that it was meant for, and gives it back there once.
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseRedirect
from django.utils.translation import gettext as _

from chat.views.answers import wants_json

KEY = "unsent"
FIELDS = ("text", "instructions")
"""What a person writes in at length, by the names of our forms."""


class KeepTextMiddleware(LoginRequiredMiddleware):
    """Django's, for everybody but those who had written something."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseRedirect:
        text = ""
        if request.method == "POST" and not wants_json(request):
            text = next((value for name in FIELDS if (value := request.POST.get(name, ""))), "")
        # One that is longer is no message, and anybody at all may send it: a session is a row of the database.
        if text.strip() and len(text) <= settings.GYMNASIA.max_message_chars:
            request.session[KEY] = {"path": request.path, "text": text}
            messages.info(request, _("You have been signed out. Sign in, and your text is there again."))
        return super().handle_no_permission(request, view_func)


def typed(request: HttpRequest) -> str:
    """What a page's line holds when it is opened: what could not be sent from it, else what its address asks for."""
    return unsent(request) or request.GET.get("q", "").replace("\x00", "")


def unsent(request: HttpRequest) -> str:
    """The text that could not be sent from this page, once; "" for none."""
    kept = request.session.get(KEY)
    if not kept or kept["path"] != request.path:
        return ""
    del request.session[KEY]
    text: str = kept["text"]
    return text.replace("\x00", "")
