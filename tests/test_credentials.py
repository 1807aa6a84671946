"""No page of the audit tells a secret, of whatever table; what people sign in with can be taken away and not read."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory
from django.urls import reverse

from chat import sharing
from chat.models import GatePolicy, Preset
from tests.rows import asking, client_of, conversation_of, ended, person, reading, sent

REGISTERED = [
    "account.EmailAddress",
    "auth.Group",
    "auth.User",
    "chat.Conversation",
    "chat.GatePolicy",
    "chat.Generation",
    "chat.JournalRow",
    "chat.Message",
    "chat.Preset",
    "chat.ToolCall",
    "mfa.Authenticator",
    "socialaccount.SocialAccount",
    "usersessions.UserSession",
]
WITHHELD = (Authenticator, SocialAccount, UserSession)
"""Tables of which pages show only named columns."""

SECRET = re.compile(r"secret|token$|seed|data|password|private|^key|_key$|hash")
"""Names of columns that no page shows. The user's password is Django's own summary with a link to set another."""


@pytest.fixture
def planted(db: None) -> list[str]:
    """A row in every table that has a page, and every secret that the rows of one person hold."""
    ana: Any = person("ana", email="ana@example.org", password="correct horse 7")
    client = Client()
    client.force_login(ana)
    key = str(client.session.session_key)
    kinds = {"totp": {"secret": "TOTPSECRET"}, "recovery_codes": {"seed": "RECOVERYSEED", "used_mask": 0}}
    passkey = {"name": "Key", "credential": {"publicKey": "PASSKEYDATA"}}
    for kind, data in {**kinds, "webauthn": passkey}.items():
        Authenticator.objects.create(user=ana, type=kind, data=data)
    app = SocialApp.objects.create(provider="x", client_id="CLIENTID", secret="APPSECRET", key="APPKEY")
    extra = {"id_token": "EXTRADATA"}
    account = SocialAccount.objects.create(user=ana, provider="x", uid="7", extra_data=extra)
    SocialToken.objects.create(app=app, account=account, token="THETOKEN", token_secret="TOKENSECRET")
    UserSession.objects.get_or_create(
        session_key=key, defaults={"user": ana, "ip": "127.0.0.1", "data": {"x": "SESSIONDATA"}}
    )
    ana.emailaddress_set.get_or_create(email="ana@example.org")
    ana.groups.create(name="Coaches")
    Preset.objects.create(name="Ours", text="Be kind.")
    GatePolicy.objects.create(endpoint="openai", gate="whole")
    row = ended(sent(ana), reading())
    ended(sent(person("kim")), asking())
    conversation = conversation_of(row)
    link = sharing.share(conversation, by=ana)
    digest = ana.password.rsplit("$", 1)[1]
    texts = ["TOTPSECRET", "RECOVERYSEED", "PASSKEYDATA", "APPSECRET", "APPKEY", "EXTRADATA", "THETOKEN"]
    return [*texts, "TOKENSECRET", "SESSIONDATA", key, ana.password, digest, link.token]


def pages(model: Any) -> list[str]:
    """The address of every page that the audit has of a table, and of its first rows."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    rows = [
        reverse(f"{name}_{view}", args=[row.pk])
        for row in model.objects.all()[:3]
        for view in ("change", "delete", "history")
    ]
    return [reverse(f"{name}_changelist"), reverse(f"{name}_add"), *rows]


def test_the_tables_that_have_pages_are_these() -> None:
    """An application that is added later, or a newer allauth, brings its own: each must be looked at first."""
    assert sorted(model._meta.label for model in admin.site._registry) == REGISTERED


def test_no_page_of_any_table_tells_a_secret(planted: list[str]) -> None:
    """Whoever may do everything, and whoever may look at everything."""
    looking = Permission.objects.filter(codename__startswith="view_").values_list("codename", flat=True)
    clients = [
        client_of("root", is_staff=True, is_superuser=True),
        client_of("eva", *looking, is_staff=True),
    ]
    told, without_rows, seen = [], [], 0
    for model in admin.site._registry:
        if not model._default_manager.exists():
            without_rows.append(model)
        for client in clients:
            for url in pages(model):
                answer = client.get(url)
                assert answer.status_code in {200, 403}, url
                seen += answer.status_code == 200
                html = answer.content.decode()
                told += [(url, secret) for secret in planted if secret in html]
    assert (told, without_rows) == ([], [])
    assert seen > 2 * len(REGISTERED)


def test_no_column_that_sounds_like_a_secret_is_on_a_page() -> None:
    request: Any = RequestFactory().get("/")
    request.user = type("Root", (), {"has_perm": lambda *_: True, "has_module_perms": lambda *_: True})()
    shown = {
        (model._meta.label, str(name))
        for model, page in admin.site._registry.items()
        for name in [
            *flatten_fieldsets(page.get_fieldsets(request, model())),
            *page.get_list_display(request),
        ]
        if SECRET.search(str(name))
    }
    assert shown == {("auth.User", "password")}


@pytest.mark.parametrize(
    "address",
    [
        "mfa/authenticator/?data__secret__startswith=T",
        "mfa/authenticator/?data__icontains=T",
        "socialaccount/socialaccount/?extra_data__icontains=E",
        "usersessions/usersession/?session_key__startswith=a",
        "usersessions/usersession/?user__password__startswith=a",
        "auth/user/?password__startswith=a",
    ],
)
def test_no_filter_guesses_a_secret(planted: list[str], address: str) -> None:
    """Letter by letter, by whether a row is found."""
    root = client_of("root", is_staff=True, is_superuser=True)
    assert root.get(f"/admin/{address}").status_code == 400


def test_nobody_adds_or_changes_what_people_sign_in_with(planted: list[str]) -> None:
    root = client_of("root", is_staff=True, is_superuser=True)
    before = {model: list(model.objects.values()) for model in WITHHELD}
    for model in WITHHELD:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        form = {"user": "1", "type": "totp", "data": "{}", "provider": "x", "uid": "8", "ip": "127.0.0.2"}
        assert root.post(reverse(f"{name}_add"), form).status_code == 403
        for row in model.objects.all():
            assert root.post(reverse(f"{name}_change", args=[row.pk]), form).status_code == 403
    assert {model: list(model.objects.values()) for model in WITHHELD} == before


def test_who_is_locked_out_is_helped_by_deleting(planted: list[str]) -> None:
    root = client_of("root", is_staff=True, is_superuser=True)
    factor = Authenticator.objects.get(type="totp")
    listed = root.get(reverse("admin:mfa_authenticator_changelist")).content.decode()
    assert "TOTP Authenticator" in listed
    done = root.post(reverse("admin:mfa_authenticator_delete", args=[factor.pk]), {"post": "yes"})
    assert done.status_code == 302
    left = sorted(Authenticator.objects.values_list("type", flat=True))
    assert left == ["recovery_codes", "webauthn"]
    assert list(LogEntry.objects.values_list("user__username", "object_repr")) == [
        ("root", "TOTP Authenticator")
    ]


def test_deleting_a_session_signs_that_browser_out(planted: list[str]) -> None:
    """The row alone would go, and whoever stole the session would stay."""
    key = next(text for text in planted if Session.objects.filter(pk=text).exists())
    root = client_of("root", is_staff=True, is_superuser=True)
    theirs = UserSession.objects.get(session_key=key)
    own, _ = UserSession.objects.get_or_create(
        session_key=root.session.session_key, defaults={"user": theirs.user, "ip": "127.0.0.1"}
    )
    delete = "admin:usersessions_usersession_delete"
    assert root.post(reverse(delete, args=[own.pk]), {"post": "yes"}).status_code == 403
    assert root.post(reverse(delete, args=[theirs.pk]), {"post": "yes"}).status_code == 302
    found = (Session.objects.filter(pk=key).exists(), UserSession.objects.filter(pk=theirs.pk).exists())
    assert (found, UserSession.objects.filter(pk=own.pk).exists()) == ((False, False), True)
