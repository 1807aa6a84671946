"""The way to another service's sign-in, where it cannot be reached or does not say where to go.

allauth answers that with a server error; here it is the page that tells any failed sign-in.
"""

from allauth.socialaccount.providers.openid_connect import views
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@login_not_required
def login(request: HttpRequest, provider_id: str) -> HttpResponse:
    """As allauth's; what its client raises is an OSError, what it cannot read a ValueError or a KeyError."""
    try:
        answer: HttpResponse = views.login(request, provider_id)
    except (OSError, ValueError, KeyError):
        return render(request, "socialaccount/authentication_error.html", status=502)
    return answer
