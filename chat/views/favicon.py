"""The icon where browsers look for it by themselves, and what a telephone needs to install the page as an app."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control


@login_not_required
@cache_control(public=True, max_age=86_400)
def favicon(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 Django passes it
    """The way to the one file there is; not for ever, since its hashed name changes with it."""
    return HttpResponseRedirect(static("chat/favicon.svg"))


@login_not_required
@cache_control(public=True, max_age=3_600)
def manifest(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 Django passes it
    """A view, since the icons' names hold their sums and a file would name old ones."""
    sizes = [("chat/icons/icon-192.png", "192x192"), ("chat/icons/icon-512.png", "512x512")]
    icons = [{"src": static(name), "sizes": size, "type": "image/png"} for name, size in sizes]
    body = {
        "name": "Gymnasia",
        "short_name": "Gymnasia",
        "description": _("Chat with a model; what streams is a draft until it is whole."),
        "start_url": reverse("chat:home"),
        "scope": "/",
        "display": "standalone",
        "background_color": "#fbfaf7",
        "theme_color": "#fbfaf7",
        "icons": [*icons, {**icons[1], "purpose": "maskable"}],
    }
    return JsonResponse(body, content_type="application/manifest+json")
