"""Who may go on reading: as a request of theirs would be answered now, whatever happened since the page was opened."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from chat import launching, readers
from chat.models import Conversation
from chat.readers import Reader
from tests.rows import person, sent


def signed_in(user: User) -> Reader:
    client = Client()
    client.force_login(user)
    return Reader(client.cookies["sessionid"].value, user.pk)


@pytest.fixture
def ana(db: None) -> User:
    made = person()
    assert isinstance(made, User)
    made.set_password("right-horse-battery")
    made.save()
    return made


@pytest.fixture
def eva(db: None) -> User:
    made = person("eva")
    assert isinstance(made, User)
    return made


def test_everyone_who_is_signed_in_is_admitted_in_two_queries(
    ana: User, eva: User, django_assert_num_queries: Any
) -> None:
    """However many pages are open."""
    everyone = {signed_in(ana), signed_in(ana), signed_in(eva)}
    with django_assert_num_queries(2):
        assert readers.admitted(everyone) == everyone
    assert readers.admitted(set()) == set()


def _forged(user: User) -> None:
    store = SessionStore(Session.objects.get().session_key)
    store["_auth_user_id"] = "0"
    store.save()


def _garbled(user: User) -> None:
    Session.objects.update(session_data="nonsense")


def _deactivated(user: User) -> None:
    get_user_model().objects.filter(pk=user.pk).update(is_active=False)


def _other_password(user: User) -> None:
    user.set_password("another-horse-battery")
    user.save()


def _expired(user: User) -> None:
    Session.objects.update(expire_date=timezone.now() - dt.timedelta(seconds=1))


ENDS: list[Callable[[User], Any]] = [
    lambda user: Session.objects.all().delete(),
    lambda user: user.delete(),
    _deactivated,
    _other_password,
    _expired,
    _forged,
    _garbled,
]


@pytest.mark.parametrize("end", ENDS, ids=range(len(ENDS)))
def test_who_would_be_asked_to_sign_in_is_not_admitted(
    ana: User, eva: User, end: Callable[[User], Any]
) -> None:
    """And nobody else pays for it."""
    hers = signed_in(ana)
    end(ana)
    other = signed_in(eva)
    assert readers.admitted({hers, other}) == {other}
    assert Client(headers={"cookie": f"sessionid={hers.session_key}"}).get("/").status_code == 302


def test_a_session_admits_nobody_but_its_own_person(ana: User, eva: User) -> None:
    hers = signed_in(ana)
    assert readers.admitted({Reader(hers.session_key, eva.pk), Reader("", ana.pk)}) == set()


def test_a_key_that_was_rotated_signs_nobody_out(ana: User, settings: Any) -> None:
    """As Django reads it: what was signed with a former key still counts."""
    hers = signed_in(ana)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a-new-secret", [settings.SECRET_KEY]
    assert readers.admitted({hers}) == {hers}


def test_looking_changes_nothing(ana: User) -> None:
    """A request with a session of another password ends it; a look leaves that to the request."""
    hers = signed_in(ana)
    _other_password(ana)
    readers.admitted({hers})
    assert Session.objects.filter(session_key=hers.session_key).exists()


def test_what_was_deleted_does_not_stand(ana: User, django_assert_num_queries: Any) -> None:
    kept, gone = sent(ana).conversation_id, sent(ana).conversation_id
    assert kept is not None
    assert gone is not None
    Conversation.objects.filter(pk=gone).delete()
    with django_assert_num_queries(1):
        assert readers.standing({kept, gone}) == {kept}


@pytest.mark.django_db(transaction=True)
def test_engines_are_told_of_every_session_that_ends() -> None:
    """By signing out, by a new password (another session takes its place), by whoever deletes the row."""
    told: list[str] = []

    class Told:
        def launch(self, generation: Any) -> None: ...
        def stop(self, generation: Any) -> None: ...
        def closed(self, conversation_id: Any) -> None: ...
        def signed_out(self, session_key: str) -> None:
            assert not Session.objects.filter(session_key=session_key).exists()
            told.append(session_key)

    user = person()
    assert isinstance(user, User)
    engine, client = Told(), Client()
    client.force_login(user)
    keys = [client.cookies["sessionid"].value, signed_in(user).session_key, signed_in(user).session_key]
    launching.register_engine(engine)
    try:
        client.post("/accounts/logout/")
        SessionStore(keys[1]).cycle_key()
        Session.objects.filter(session_key=keys[2]).delete()
    finally:
        launching.unregister_engine(engine)
    assert told == keys
