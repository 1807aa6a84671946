"""Bringing conversations along: a form for the file, and the report of what came of it.

The file is kept by the request and read behind it; the report refreshes itself until that is done.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from chat.importing import runs
from chat.models import Import
from chat.views.answers import SeeOther

# Words of the importers, as sentences: why a file was not read, why a conversation was refused, what was left out of one.
FAULTS = {
    "not_json": gettext_lazy("This is no file of conversations: it is not JSON."),
    "not_utf8": gettext_lazy("This file is not text in UTF-8."),
    "archive": gettext_lazy("This archive cannot be read."),
    "no_member": gettext_lazy("There is no conversations.json in this archive."),
    "cut": gettext_lazy("The file ends in the middle. What stood before that was read."),
    "too_long": gettext_lazy("The file is too large. What stood before the limit was read."),
    "conversation_too_long": gettext_lazy("One conversation is too large; what follows it was not read."),
    "nothing": gettext_lazy("There is no conversation in this file."),
    "refused": gettext_lazy("A thousand in a row were refused; what follows them was not read."),
    "lost": gettext_lazy("The file could not be read on this server. Send it again."),
}
REFUSALS = {
    "unknown_format": gettext_lazy("neither ours nor ChatGPT's format"),
    "version": gettext_lazy("written by a newer version"),
    "no_id": gettext_lazy("has no id"),
    "wrong_type": gettext_lazy("is not built as expected"),
    "ring": gettext_lazy("its messages follow each other in a ring"),
    "parent_missing": gettext_lazy("a message follows one that is not there"),
    "id_twice": gettext_lazy("has an id twice"),
    "nul": gettext_lazy("has a NUL character in it"),
    "too_many_messages": gettext_lazy("has too many messages"),
    "too_long": gettext_lazy("has a message that is too long"),
    "empty": gettext_lazy("has no message"),
    "empty_message": gettext_lazy("has a message that shows nothing"),
    "too_deep": gettext_lazy("is nested too deep"),
    "not_json": gettext_lazy("is not JSON"),
}
LEFT_OUT = {
    "system": gettext_lazy("Instructions of the system"),
    "tool": gettext_lazy("Calls and results of tools"),
    "reasoning": gettext_lazy("Reasoning"),
    "unfinished": gettext_lazy("Answers that were not whole"),
    "picture": gettext_lazy("Messages with nothing but a picture"),
    "hidden": gettext_lazy("What you were never shown"),
    "before_question": gettext_lazy("Answers before any question"),
    "file": gettext_lazy("Files that cannot be kept here"),
}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def bring(request: HttpRequest) -> HttpResponse:
    """GET shows the form and earlier imports; POST takes a file."""
    most = settings.GYMNASIA.max_import_bytes
    error = ""
    if request.method == "POST":
        assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
        file = request.FILES.get("file")
        if file is None or not file.size:
            error = _("Choose a file first.")
        elif file.size > most:
            error = _("This file is larger than %(most)s MB.") % {"most": most // (1024 * 1024)}
        else:
            key = request.POST.get("once", "")
            row = runs.begin(request.user, file.name or "", file.chunks(), key=key, launch=runs.in_background)
            return SeeOther(reverse("chat:import", args=[row.pk]))
    context: dict[str, Any] = {
        "error": error,
        "most_mb": most // (1024 * 1024),
        "imports": Import.objects.owned_by(request.user)[:10],
    }
    return render(request, "chat/import.html", context, status=400 if error else 200)


@never_cache
@require_safe
def report(request: HttpRequest, import_id: UUID) -> HttpResponse:
    """What came, what was there already, what was refused and why."""
    row = get_object_or_404(Import.objects.owned_by(request.user), pk=import_id)
    context: dict[str, Any] = {
        "row": row,
        "is_interrupted": runs.is_interrupted(row, timezone.now()),
        "nothing": _nothing(row) if row.ended and not row.came else "",
        "fault": FAULTS.get(row.fault, row.fault),
        "refusals": [(title, REFUSALS.get(why, why)) for title, why in row.refusals],
        "untold": row.refused - len(row.refusals),
        "left_out": [(LEFT_OUT.get(why, why), count) for why, count in sorted(row.left_out.items()) if count],
    }
    return render(request, "chat/import_report.html", context)


def _nothing(row: Import) -> str:
    """That nothing was taken, and why, where the fault of the file does not say it already."""
    if row.already and row.refused:
        return _("Nothing new was taken: what was not here already was refused, for the reasons below.")
    if row.already:
        return _("Nothing new was taken: what was read was here already.")
    if row.refused:
        return _("Nothing was taken: every conversation was refused, for the reasons below.")
    return _("Nothing was taken from this file.")
