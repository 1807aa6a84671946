"""Fills a fresh database with every scene: one conversation each, all of one person who is signed in; and serves it.

`main` takes the server's environment and prints JSON, the fields of a `Stage` without its server, in a process of its
own before the server starts. Unfinished rows hold a lease that does not run out, so that they stand still. `staged_server`
does both. Knows no page.
"""

import contextlib
import datetime as dt
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.browser.scenes import ANSWER, QUESTION, SCENES, SHORT, Scene
from tests.fakes import prepared
from tests.fakes.processes import ROOT, ProviderProcess, ServerProcess, environment

LEASE = dt.timedelta(hours=2)
NAME, PASSWORD = "mira", "long-enough-mira-93"
LIMIT: dict[str, Any] = {
    "GYMNASIA_MESSAGES_PER_HOUR": "100",
    "OPENAI_COMPATIBLE_MODELS": "scripted-1,scripted-2",
    "GYMNASIA_SYSTEM_PROMPT": "",  # the coach, as it comes
    # A lease that ends much later than any runner's counts as none.
    "GYMNASIA_LEASE_S": str(LEASE.total_seconds()),
}
MODEL: dict[str, Any] = {"endpoint": "compatible", "model": "scripted-1"}


def stage() -> dict[str, Any]:
    """Make the person and every scene; the last one is the newest of the list."""
    from django.contrib.auth import get_user_model

    user = get_user_model().objects.create_user(NAME, password=PASSWORD)
    made = {scene.name: _conversation(scene, user) for scene in SCENES}
    guarded = get_user_model().objects.create_user("rui", password=PASSWORD)
    return {
        "sessions": {"mira": _session(user), "rui": _session(guarded), "eva": _session(_hasty())},
        "conversations": made,
        "more": _more(user, made["reading"]) | _second_step(guarded) | _versions(user) | _errors(),
    }


def _hasty() -> Any:
    """Somebody who has asked as often as an hour allows."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from chat.models import Generation

    user = get_user_model().objects.create_user("eva", password=PASSWORD)
    now = timezone.now()
    Generation.objects.bulk_create(
        Generation(user=user, number=number, state="failed", reason="internal", ended_at=now)
        for number in range(settings.GYMNASIA.messages_per_hour)
    )
    return user


def _versions(user: Any) -> dict[str, str]:
    """A conversation whose message and whose reply have versions, and the forms that make them."""
    from chat import branches, conversations, generations
    from chat.models import Import, Message
    from tests import rows

    row = rows.ended(generations.send(user=user, text="How long?", **MODEL), rows.reading("Two minutes."))
    assert row.parent is not None
    again = rows.ended(
        branches.edit_question(row.parent, user=user, text=QUESTION), rows.reading(ANSWER, reasoning_parts=[])
    )
    last = rows.ended(generations.retry(again, user=user), rows.reading(SHORT, reasoning_parts=[]))
    conversation = rows.conversation_of(last)
    conversations.rename(conversation, "Rest between sets: versions")
    question, answer = last.parent_id, Message.objects.get(generation=last).pk
    cut = generations.send(user=user, text="And then?", **MODEL)
    _bring(cut, next(scene for scene in SCENES if scene.name == "cut"))
    brought = Import.objects.create(
        user=user,
        name="conversations.json",
        size=81_234,
        ended=row.created,
        came=41,
        messages=612,
        already=2,
        refused=1,
        refusals=[["Untitled", "empty_message"]],
        left_out={"tool": 7, "picture": 2},
    )
    return {
        "versions": f"/conversations/{conversation.pk}/",
        "edit": f"/messages/{question}/edit/",
        "again": f"/generations/{last.pk}/again/",
        "delete_version": f"/messages/{answer}/delete/",
        "elsewhere": f"/messages/{row.parent_id}/",
        "edit_draft": f"/generations/{cut.pk}/edit/",
        "imported": f"/import/{brought.pk}/",
    }


def _errors() -> dict[str, str]:
    """The page that needs nothing of what may have broken."""
    from django.template.loader import render_to_string

    return {"broken": render_to_string("500.html")}


def _second_step(user: Any) -> dict[str, str]:
    """Somebody with an app, codes and a passkey."""
    from allauth.mfa.models import Authenticator
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP

    TOTP.activate(user, "JBSWY3DPEHPK3PXP")
    RecoveryCodes.activate(user)
    key = Authenticator.objects.create(user=user, type="webauthn", data={"name": "Telephone"})
    return {"key": f"/accounts/2fa/webauthn/keys/{key.pk}/"}


def _more(user: Any, conversation_id: str) -> dict[str, str]:
    """What else has a page: name and address."""
    from chat import sharing
    from chat.models import Conversation, Preset

    link = sharing.share(Conversation.objects.get(pk=conversation_id), by=user)
    preset = Preset.objects.create(user=user, name="Strict", text="Short answers. Metric units. No praise.")
    return {
        "preset": f"/presets/{preset.pk}/",
        "shared": f"/s/{link.token}/",
        "paper_form": _paper_form(),
    }


def _paper_form() -> str:
    """The component itself; nothing on the way to a person makes one yet."""
    from django.template.loader import render_to_string

    action = {
        "id": "1",
        "title": "Add three sessions a week to your training plan",
        "rows": [("Plan", "First month"), ("Days", "Monday, Wednesday, Friday"), ("How much", "12 sessions")],
        "undo": "Yes, for seven days",
        "decline": "/",
        "approve": "/",
    }
    return render_to_string("chat/_paper_form.html", {"action": action})


def _session(user: Any) -> str:
    from importlib import import_module

    from allauth.account.internal.flows.login import record_authentication
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    # As somebody who has just said their password again: what asks for it is seen, not the asking alone.
    record_authentication(SimpleNamespace(session=session), user, method="password", reauthenticated=True)
    session["account_authentication_methods"][-1]["at"] += LEASE.total_seconds()
    session.create()
    return str(session.session_key)


def _conversation(scene: Scene, user: Any) -> str:
    from chat import conversations, generations
    from chat.models import Generation
    from tests import plans, rows

    first = generations.send(user=user, text="How many sets, and how long a rest?", **MODEL)
    conversation = rows.conversation_of(rows.ended(first, rows.reading(SHORT, reasoning_parts=[])))
    row = generations.send(user=user, text=scene.question, conversation=conversation, **MODEL)
    if scene.state == "confirmed":
        answer = plans.plan_json() if scene.plan else scene.answer
        ended = rows.ended(row, rows.reading(answer, reasoning_parts=[scene.reasoning]))
        if scene.plan:
            _plan(ended)
    else:
        _bring(row, scene)
    Generation.objects.filter(pk=row.pk).update(created=row.created - dt.timedelta(seconds=scene.waited_s))
    conversations.rename(conversation, title_of(scene))
    return str(conversation.pk)


def _plan(row: Any) -> None:
    from chat.models import Generation, Plan
    from tests import plans

    Generation.objects.filter(pk=row.pk).update(flow="plan")
    data = plans.plan()
    Plan.objects.create(
        user=row.user,
        message=row.message,
        generation=row,
        version=1,
        title=data["title"],
        data=data,
        schema_version=1,
    )


def title_of(scene: Scene) -> str:
    """Titles as people's lists have them; the scene that is on the page has the question's."""
    return scene.question if scene.question != QUESTION else f"Rest between sets: {scene.name}"


def _bring(row: Any, scene: Scene) -> None:
    from django.utils import timezone

    from chat import drafts, journal
    from chat.models import Generation
    from chat.states.generation import GENERATION, State
    from chat.streaming.frames import Snapshot
    from chat.streaming.outcome import Reason
    from tests import rows

    text = Snapshot(row.number, 1, scene.answer, scene.reasoning, scene.refusal)
    drafts.save([drafts.Save(row.pk, row.fence, text)])
    for trigger in rows.path_to(State(scene.state)):
        target = GENERATION.next_state(State(row.state), trigger)
        assert target is not None
        reason = Reason(scene.reason) if target in GENERATION.finals else None
        more = {"cancelled_by_id": row.user_id} if target is State.cancelled else {}
        times = rows.times_of(target)
        journal.fire(row, trigger, seen=row.state, actor="stage", reason=reason, **times, **more)
    if scene.unfinished:
        Generation.objects.filter(pk=row.pk).update(owner="stage", lease_until=timezone.now() + LEASE)


@dataclass(frozen=True)
class Stage:
    """A running server, and where its scenes are."""

    server: ServerProcess
    sessions: dict[str, str]
    conversations: dict[str, str]
    more: dict[str, str]

    @property
    def url(self) -> str:
        return self.server.url

    def path(self, scene: str) -> str:
        """Where a scene, or what else there is, is found."""
        return self.more.get(scene) or f"/conversations/{self.conversations[scene]}/"

    def cookie(self, person: str) -> Any:
        """What signs a browser in, for Playwright."""
        return {"name": "sessionid", "value": self.sessions[person], "url": self.url}


@contextlib.contextmanager
def staged_server(data: Path, provider: ProviderProcess) -> Iterator[Stage]:
    """The real server on a database that holds every scene."""
    prepared.fill(data)
    done = subprocess.run(
        [sys.executable, "-m", "tests.browser.staged"],
        cwd=ROOT,
        env=environment(GYMNASIA_DATA=str(data), OPENAI_COMPATIBLE_URL=provider.base_url, **LIMIT),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with ServerProcess(data, provider_url=provider.base_url, **LIMIT) as server:
        yield Stage(server, **json.loads(done.stdout))


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
    import django

    django.setup()
    sys.stdout.write(json.dumps(stage()))


if __name__ == "__main__":
    main()
