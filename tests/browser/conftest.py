"""A browser, a server and people for the walks; whatever is started here is ended by its own process id."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.person import SECOND, NewPerson, Person
from tests.fakes.processes import ProviderProcess, ServerProcess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is a browser test; without Chromium it cannot be run."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProviderProcess]:
    """The scripted provider; the words of a question choose what it does."""
    with ProviderProcess(tmp_path_factory.mktemp("provider")) as running:
        yield running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory, provider: ProviderProcess) -> Iterator[ServerProcess]:
    """The real server, with the scripted provider as its only model; it calls a provider stalled after four seconds."""
    data = tmp_path_factory.mktemp("server")
    with ServerProcess(
        data,
        provider_url=provider.base_url,
        GYMNASIA_IDLE_TIMEOUT_S="4",
        OPENAI_COMPATIBLE_IMAGE_MODELS="*",
        OPENAI_COMPATIBLE_MODELS="scripted-1,scripted-2",
    ) as running:
        yield running


@pytest.fixture
def new_person(chromium: Browser) -> Iterator[NewPerson]:
    """Makes people, each with a browser profile of their own; at the end their consoles must be clean."""
    with contextlib.ExitStack() as stack:
        people: list[Person] = []

        def make(url: str, *, scripts: bool = True, name: str = "", **profile: Any) -> Person:
            made = chromium.new_context(java_script_enabled=scripts, **profile)
            context: BrowserContext = stack.enter_context(made)
            context.set_default_timeout(20 * SECOND)
            person = Person(context, url, scripts=scripts, name=name)
            people.append(person)
            return person.sign_up()

        yield make
        for person in people:
            assert person.complaints == []
            if person.scripts:
                assert person.policy_reports() == []


@pytest.fixture
def walker(server: ServerProcess, new_person: NewPerson) -> Person:
    """One person, signed up, at the front page of the server with the scripted provider."""
    return new_person(server.url)
