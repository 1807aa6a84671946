"""A person's own training plans: every version, the latest first."""

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat import plans as kept


@never_cache
@require_safe
def plans(request: HttpRequest) -> HttpResponse:
    """Each with its table and the conversation that it came from."""
    assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 LoginRequiredMiddleware stands before every view
    return render(request, "chat/plans.html", {"plans": kept.of(request.user)})
