"""Where everything is found. Health answers stand outside every check; the rest belongs to `chat` and to allauth."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import include, path, reverse
from django.views.generic import RedirectView

from chat.accounts import oidc
from chat.views import health


@login_not_required
def enter_admin(request: HttpRequest, extra_context: Any = None) -> HttpResponse:  # noqa: ARG001 Django passes it
    """allauth's sign-in guards the admin, with its throttling and its second step: Django's own form is never shown, for it
    would let a password in alone."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))
    if not request.user.is_staff:
        raise PermissionDenied
    return redirect("admin:index")


admin.site.site_header = admin.site.site_title = "Gymnasia"
setattr(admin.site, "login", enter_admin)  # noqa: B010 (not in `vars`: the site is a proxy, and would not see it)

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("admin/", admin.site.urls),
    path("accounts/2fa/", RedirectView.as_view(pattern_name="chat:settings")),  # our own page lists it all
    path("accounts/oidc/<slug:provider_id>/login/", oidc.login),  # allauth's, with its faults told
    path("accounts/", include("allauth.urls")),
    path("", include("chat.urls")),
]

handler400 = "chat.views.errors.bad_request"
handler403 = "chat.views.errors.permission_denied"
handler404 = "chat.views.errors.not_found"
handler500 = "chat.views.errors.server_error"
handler429 = "chat.accounts.limits.too_many_tries"  # allauth asks for it by this name
