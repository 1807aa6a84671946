"""The chooser of light and dark: a POST without a script, a cookie that the page's root is read off."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from chat.views.answers import SeeOther, wants_json
from chat.views.language import YEAR_S

COOKIE = "theme"
THEMES = ("light", "dark")


@login_not_required
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Take "light" or "dark", or "system" for neither; any other word changes nothing."""
    chosen = request.POST.get("theme", "")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "/"
    response = HttpResponse(status=204) if wants_json(request) else SeeOther(back)
    if chosen in THEMES:
        response.set_cookie(
            COOKIE,
            chosen,
            max_age=YEAR_S,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
    elif chosen == "system":
        response.delete_cookie(COOKIE, samesite="Lax")
    return response
