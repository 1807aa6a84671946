"""The icon where browsers look for it by themselves: on pages that name none, such as the admin's."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.cache import cache_control


@login_not_required
@cache_control(public=True, max_age=86_400)
def favicon(_: HttpRequest) -> HttpResponse:
    """The way to the one file there is; not for ever, since its hashed name changes with it."""
    return HttpResponseRedirect(static("chat/favicon.svg"))
