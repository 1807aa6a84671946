"""A signed-in person, a stranger, and one scripted model to choose."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat import catalogue
from chat.providers.base import Endpoint, Model
from tests.rows import person

SCRIPTED = Endpoint(
    name="scripted",
    label="Scripted",
    wire="openai_chat",
    base_url="http://127.0.0.1:9",
    key_env=None,
    profile="strict",
    models=(Model("scripted-1", "Scripted One"), Model("scripted:2", "Scripted Two")),
)


def user(name: str, **more: Any) -> User:
    made = person(name, **more)
    assert isinstance(made, User)
    return made


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only endpoint that there is."""
    monkeypatch.setattr(catalogue, "endpoints", lambda: {SCRIPTED.name: SCRIPTED})


@pytest.fixture
def ana(db: None) -> User:
    return user("ana")


@pytest.fixture
def page(ana: User) -> Client:
    """Ana's browser."""
    client = Client()
    client.force_login(ana)
    return client


@pytest.fixture
def stranger(db: None) -> Client:
    """Somebody else's browser, and a member of staff at that: they see no more than anybody."""
    client = Client()
    client.force_login(user("eva", is_staff=True, is_superuser=True))
    return client
