"""One rule for characters (docs/lifecycle.md, "What cannot be stored"), for providers and people, on every database.

Most characters are kept, odd ones too. NUL and half a surrogate pair can be stored nowhere: a provider's become U+FFFD, a
person's are told. `./run test` runs this file on SQLite and on PostgreSQL.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlencode
from uuid import uuid4

import msgspec
import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import models
from django.test import Client

from chat import consumers, running, search
from chat.models import Checkpoint, Conversation, Generation, JournalRow, Message, Preferences, Preset
from chat.providers import WIRES, read
from chat.streaming.deltas import is_storable_value
from chat.streaming.frames import Snapshot
from chat.streaming.outcome import Outcome, Reason
from gymnasia.asgi import application
from tests.engine.conftest import WAIT_S
from tests.listeners import cookie_of, db
from tests.recordings.corpus import Case, contract_cases, own_cases
from tests.rows import fresh, opened, person, reading, sent
from tests.visitors import ana, page, scripted  # noqa: F401 (fixtures)

KEPT = "\u2028\u2029\x85\x0b\x0c\x1f\ufeff\u200b\ufffe\U0010ffff😀"
SAID, STORED = f"a\0b\ud800c\ud83d\ude00{KEPT}z", f"a\ufffdb\ufffdc😀{KEPT}z"
PLAIN = f"a{KEPT}z"


# --- what providers say ---------------------------------------------------------------------------------------------
def spoilt(value: Any) -> Iterator[Any]:
    """The value with one of its strings, or one of its names, spoilt: all ways."""
    if isinstance(value, str):
        yield value + SAID
        yield SAID
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in spoilt(each))
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from ({**value, name: other} for other in spoilt(each))
            yield {**value, name + SAID: each}


def spoilt_bodies(case: Case) -> Iterator[bytes]:
    """The body with one string of one event spoilt, or one field of SSE itself: all ways."""
    events = read("sse", [case.body]).events
    for at, event in enumerate(events):
        try:
            others = [json.dumps(other) for other in spoilt(json.loads(event.data))]
        except ValueError:
            continue
        whole = [(each.type, each.last_event_id, each.data) for each in events]
        for data in others:
            yield _body([*whole[:at], (event.type, event.last_event_id, data), *whole[at + 1 :]])
        yield _body([*whole[:at], (event.type, "i\0\ufffe7", event.data), *whole[at + 1 :]])


def _body(events: list[tuple[str, str, str]]) -> bytes:
    told = (
        f"event: {type_}\n" + (f"id: {id_}\n" if id_ else "") + f"data: {data}\n\n"
        for type_, id_, data in events
    )
    return "".join(told).encode()


CASES = [
    case
    for case in [
        *contract_cases("openai_chat", "openai_responses", "anthropic", "gemini", "gemini_interactions"),
        *own_cases("google_interactions"),
    ]
    if len(case.body) < 4000 and not case.body.startswith(b"[")
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_whatever_a_provider_says_can_be_stored(case: Case) -> None:
    """Every string of every event of every wire, one after the other: texts, ids, arguments, signatures, errors, and what
    nobody reads."""
    unstorable = [
        body
        for body in spoilt_bodies(case)
        if not is_storable_value(msgspec.to_builtins(read(case.wire, [body], profile=case.profile)))
    ]
    assert unstorable == []


@pytest.mark.parametrize("wire", WIRES)
def test_whatever_an_error_page_says_can_be_stored(wire: str) -> None:
    for told in (
        {"error": {"message": SAID, "type": SAID, "code": SAID, "status": SAID}},
        {"error": SAID},
        {"message": SAID, "detail": [{"msg": SAID}], "type": "error"},
        SAID,
    ):
        for body in (
            json.dumps(told).encode(),
            json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"),
        ):
            verdict = WIRES[wire].http_error(500, {"content-type": "application/json"}, body)
            assert is_storable_value(msgspec.to_builtins(verdict))


@pytest.mark.parametrize("outcome", [Outcome.complete, Outcome.failed, Outcome.incomplete, Outcome.refused])
@pytest.mark.django_db
def test_an_end_is_stored_whatever_its_words(outcome: Outcome) -> None:
    """Where the row of the end could not be written, the reply would be generating for ever."""
    user = person()
    row = sent(user)
    reason = {"failed": Reason.provider_error, "incomplete": Reason.stalled, "refused": Reason.refusal}
    told = reading(
        STORED,
        outcome,
        reason=reason.get(str(outcome)),
        reasoning_parts=[STORED],
        provider_reason=SAID * 30,
        response_id=SAID * 30,
        last_event=SAID * 30,
        detail=SAID,
        carry=[{"signature": STORED, STORED: [STORED]}],
    )
    shown = Snapshot(row.number, 1, STORED, STORED, STORED)
    running.end(opened(row), told, shown)
    row = fresh(row)
    long = (STORED * 30)[:200]
    assert (row.provider_reason, row.provider_response_id, row.last_event) == (long, long, long)
    if outcome is Outcome.complete:
        message = Message.objects.get(generation=row)
        assert (message.text, message.reasoning) == (STORED, STORED)
        assert json.loads(message.carry) == [{"signature": STORED, STORED: [STORED]}]
        assert [hit.message_id for hit in search.find(user, "ab").hits] == []
        assert search.examine().is_right
    else:
        assert row.detail == JournalRow.objects.order_by("sequence").last().detail == STORED  # type: ignore[union-attr]
        kept = Checkpoint.objects.get(pk=row.pk)
        assert (kept.answer, kept.reasoning, kept.refusal) == (STORED, STORED, STORED)


# --- what people write ----------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_odd_characters_of_people_are_kept(page: Client, ana: User) -> None:  # noqa: F811
    """None of them is a line end, a blank or a fault: a person finds what they wrote."""
    page.post("/", {"text": PLAIN, "model": "scripted:scripted-1"})
    row = Conversation.objects.get()
    assert Message.objects.get().text == PLAIN
    page.post(f"/conversations/{row.pk}/rename/", {"title": f"a\u2028b{KEPT}"})
    page.post("/presets/", {"name": f"n{KEPT}", "text": PLAIN})
    page.post("/instructions/", {"instructions": PLAIN})
    assert Preset.objects.get(user=ana).text == PLAIN
    assert Preferences.objects.get(user=ana).instructions == PLAIN
    assert page.get(f"/conversations/{row.pk}/").status_code == 200


HALF = "a%ED%A0%80b%00c"  # half a surrogate pair in UTF-8's clothes, and a NUL
FORMS = {
    "/": ("text", "model", "preset", "temperature", "max_tokens"),
    "/conversations/{}/": ("text", "model"),
    "/conversations/{}/rename/": ("title",),
    "/presets/": ("name", "text"),
    "/instructions/": ("instructions",),
    "/language/": ("language", "next"),
    "/theme/": ("theme", "next"),
    "/accounts/login/": ("login", "password", "next"),
    "/accounts/signup/": ("username", "email", "password1", "password2", "next"),
    "/accounts/password/reset/": ("email",),
    "/accounts/email/": ("email", "action_add"),
    "/accounts/password/change/": ("oldpassword", "password1", "password2"),
    "/accounts/reauthenticate/": ("password", "next"),
    "/accounts/2fa/totp/activate/": ("code",),
    "/accounts/2fa/webauthn/login/": ("credential",),
    "/accounts/sessions/": ("all",),
    "/accounts/3rdparty/": ("account",),
    "/accounts/oidc/%00/login/": ("process", "next"),
    "/settings/delete/": ("name",),
}


@pytest.mark.parametrize("is_signed_in", [True, False])
@pytest.mark.parametrize("address", FORMS)
@pytest.mark.django_db
def test_no_form_is_brought_down(address: str, page: Client, ana: User, *, is_signed_in: bool) -> None:  # noqa: F811
    """PostgreSQL refuses a NUL wherever it stands, also in a question: each field, alone and all together."""
    row = sent(ana)
    client = page if is_signed_in else Client()
    place = address.format(row.conversation_id)
    fields = FORMS[address]
    plain = {name: "scripted:scripted-1" if name == "model" else "right-horse-battery" for name in fields}
    for spoilt_ones in (*([name] for name in fields), fields):
        form = urlencode({n: v for n, v in plain.items() if n not in spoilt_ones})
        body = "&".join([form, *(f"{name}={HALF}" for name in spoilt_ones)])
        answer = client.post(place, body, content_type="application/x-www-form-urlencoded")
        assert answer.status_code < 500


PLACES = [
    "/?q=a%00b",
    "/?q=%ED%A0%80",
    "/%00",
    "/conversations/{}/?q=a%00b",
    "/conversations/{}/events?poll=1&after=%00:1",
    "/conversations/{}/events?poll=1&after=1%00:1",
    "/accounts/login/?next=%00",
    "/accounts/confirm-email/a%00b/",
    "/accounts/password/reset/key/1-a%00b/",
    "/search/?q=a%00b&page=%00",
    "/?page=%00&archived=%00",
    "/static/%00",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.django_db
def test_no_address_is_brought_down(place: str, page: Client, ana: User) -> None:  # noqa: F811
    place = place.format(sent(ana).conversation_id)
    # 503 is what the events say where no engine runs, as here.
    assert {page.get(place).status_code, Client().get(place).status_code} <= {200, 302, 400, 403, 404, 503}


async def status(place: str, cookies: bytes, kind: str = "http") -> int:
    """What the application answers, as the server hands it the request; of a socket, the code with which it is closed."""
    path, _, query = place.partition("?")
    scope = {
        "type": kind,
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [
            (b"host", b"localhost:8000"),
            (b"origin", b"http://localhost:8000"),
            (b"cookie", cookies),
            (b"user-agent", b"a\0b"),
        ],
        "client": ("127.0.0.1", 4711),
        "server": ("127.0.0.1", 8000),
    }
    wire: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
    await wire.send_input({"type": "http.request" if kind == "http" else "websocket.connect"})
    answer = part = await wire.receive_output(timeout=WAIT_S)
    while kind == "http" and (part["type"] == "http.response.start" or part.get("more_body")):
        part = await wire.receive_output(timeout=WAIT_S)
    if kind == "websocket":
        await wire.send_input({"type": "websocket.disconnect", "code": 1000})
    await wire.wait(timeout=WAIT_S)
    found: int = answer["status"] if kind == "http" else answer["code"]
    return found


COOKIES = (b"a\0bcdefghijklmnop", b'"a\\000bcdefghijklmnop"', b"a\xed\xa0\x80bcdefghij")


@pytest.mark.django_db(transaction=True)
async def test_no_cookie_is_brought_down() -> None:
    """A session is looked up by one, before anybody is signed in; a cookie in quotes may say any character by its number."""
    for name in (b"sessionid", b"csrftoken", b"django_language", b"messages", b"theme"):
        for value in COOKIES:
            told = name + b"=" + value
            assert await status("/", told) == 302
            assert await status("/accounts/login/", told) == 200
            gone = await status(f"/ws/conversations/{uuid4()}/?after=%00", told, "websocket")
            assert gone == consumers.GOING_AWAY  # no engine runs here


ADMIN = [
    "/admin/chat/generation/?q=%00",
    "/admin/chat/generation/?state=%00",
    "/admin/chat/generation/?state__exact=a%00b",
    "/admin/chat/generation/?model=%00",
    "/admin/auth/user/?q=%00",
    "/admin/auth/user/?username=a%00b",
    "/admin/auth/user/%00/change/",
]


@pytest.mark.django_db(transaction=True)
async def test_no_question_of_an_administrator_is_brought_down() -> None:
    known = await db(lambda: cookie_of(get_user_model().objects.create_superuser("root")))
    assert {await status(place, known) for place in ADMIN} <= {200, 302, 404}


# --- the schema -----------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_no_text_is_kept_in_a_column_that_refuses_it() -> None:
    """PostgreSQL's `jsonb` takes neither an escaped NUL nor half a pair: what providers or people wrote is in text."""
    held = {
        f"{model.__name__}.{field.name}"
        for model in (Generation, Message, Conversation, Checkpoint, JournalRow)
        for field in model._meta.get_fields()
        if isinstance(field, models.JSONField)
    }
    assert held == {"Generation.checks", "Generation.settings"}  # both ours alone
