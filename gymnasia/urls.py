"""Where everything is found. Health answers stand outside every check; the rest belongs to `chat` and to allauth."""

from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.urls import include, path

from chat.views import health

# allauth's sign-in, with its throttling, guards the admin too.
vars(admin.site)["login"] = login_required(admin.site.login)

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("", include("chat.urls")),
]

handler400 = "chat.views.errors.bad_request"
handler403 = "chat.views.errors.permission_denied"
handler404 = "chat.views.errors.not_found"
handler500 = "chat.views.errors.server_error"
