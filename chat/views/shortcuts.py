"""The keyboard's shortcuts as a table, and their page; with a script the same list opens as a dialog.

`static/chat/js/keys.js` reads the keys; a test holds the two lists together.
"""

from typing import NamedTuple

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe


class Shortcut(NamedTuple):
    """What a person can do, by which keys; `action` is its name for the script ("" where the browser does it)."""

    action: str
    keys: tuple[str, ...]
    says: str | Promise


SHORTCUTS = (
    Shortcut("", ("Enter",), _("Ask")),
    Shortcut("", ("Shift", "Enter"), _("Start a new line")),
    Shortcut("", ("Esc",), _("Stop the reply")),
    Shortcut("new", ("Ctrl", "Shift", "O"), _("New conversation")),
    Shortcut("search", ("Ctrl", "K"), _("Search")),
    Shortcut("line", ("Shift", "Esc"), _("Go to the message box")),
    Shortcut("copy", ("Ctrl", "Shift", "C"), _("Copy the last answer")),
    Shortcut("edit", ("Ctrl", "Shift", "E"), _("Edit your last message")),
    Shortcut("shortcuts", ("Ctrl", "/"), _("Show this list")),
)


@login_not_required
@require_safe
def shortcuts(request: HttpRequest) -> HttpResponse:
    """The list as a page of its own."""
    return render(request, "chat/shortcuts.html", {"shortcuts": SHORTCUTS})
