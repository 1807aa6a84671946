"""What a person's replies have used, month by month."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat import spending
from chat.replies import picker


@never_cache
@require_safe
def usage(request: HttpRequest) -> HttpResponse:
    """A table for each month; models by the names that people know."""
    months = [
        {"month": month, "lines": [(picker.label(line.endpoint, line.model), line) for line in month.lines]}
        for month in spending.months(request.user)
    ]
    return render(request, "chat/usage.html", {"months": months})
