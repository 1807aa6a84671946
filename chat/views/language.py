"""The chooser of the language: a POST without a script, a cookie, and the person's own choice wherever they sign in."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from chat import languages
from chat.views.answers import SeeOther, wants_json

YEAR_S = 365 * 24 * 3600


@login_not_required
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Take a language and go back to where the chooser was; a language that is not offered changes nothing."""
    code = request.POST.get("language", "")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "/"
    response = HttpResponse(status=204) if wants_json(request) else SeeOther(back)
    if languages.is_offered(code):
        languages.remember(request.user, code)
        set_cookie(response, code)
    return response


def set_cookie(response: HttpResponseBase, code: str) -> None:
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        code,
        max_age=YEAR_S,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
