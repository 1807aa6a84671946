"""What can be asked now: the environment's endpoints, and the local model for as long as its process lives."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chat import catalogue
from chat.local_model import Absent, LocalModel


class Child(LocalModel):
    """A local model whose process says what the test wants."""

    def __init__(self, *, is_ready: bool = True, gone: str | None = None) -> None:
        self.base_url = "http://127.0.0.1:4321/v1"
        self.child = SimpleNamespace(is_ready=is_ready, gone=gone)

    def ready(self) -> bool:
        return bool(self.child.is_ready)

    def exit_reason(self) -> str | None:
        return cast("str | None", self.child.gone)


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys of the person who runs the tests must not decide them."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_COMPATIBLE_URL", "OPENAI_COMPATIBLE_MODELS"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)
    before: Any = catalogue._local
    yield
    catalogue.use_local(before)


def test_without_keys_and_local_model_there_is_nothing_to_ask() -> None:
    catalogue.use_local(Absent("it is switched off"))
    assert catalogue.endpoints() == {}
    assert catalogue.local_state() == "absent: it is switched off"
    assert catalogue.find("local:SmolLM2-135M-Instruct") is None


def test_a_model_that_loads_can_be_chosen_already() -> None:
    """Asking it waits for it; a page that came early would otherwise say that there is no model."""
    catalogue.use_local(Child(is_ready=False))
    assert catalogue.local_state() == "loading"
    assert list(catalogue.endpoints()) == ["local"]


def test_the_local_model_is_asked_where_it_listens() -> None:
    catalogue.use_local(Child())
    found = catalogue.find("local:SmolLM2-135M-Instruct")
    assert found is not None
    endpoint, model = found
    assert (catalogue.local_state(), endpoint.base_url) == ("ready", "http://127.0.0.1:4321/v1")
    assert (endpoint.name, model.id) == ("local", "SmolLM2-135M-Instruct")


def test_a_model_whose_process_ended_is_offered_no_more() -> None:
    local = Child()
    catalogue.use_local(local)
    local.child.gone = "its process was killed (perhaps for want of memory)"
    assert catalogue.endpoints() == {}
    assert catalogue.local_state() == "absent: its process was killed (perhaps for want of memory)"


def test_a_model_that_is_started_again_is_asked_all_the_same() -> None:
    """It may be back at the next try; until then it cannot be reached, and the reply says so."""
    local = Child(gone="its process was killed")
    local.is_kept = True
    catalogue.use_local(local)
    assert list(catalogue.endpoints()) == ["local"]
    assert catalogue.local_state() == "absent: its process was killed"


def test_what_somebody_set_up_on_purpose_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is the default of the page; the environment is read at each use."""
    catalogue.use_local(Child())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_COMPATIBLE_URL", "http://127.0.0.1:8080/v1")
    monkeypatch.setenv("OPENAI_COMPATIBLE_MODELS", "qwen:7b, phi")
    assert list(catalogue.endpoints()) == ["compatible", "openai", "openai-responses", "local"]
    found = catalogue.find("compatible:qwen:7b")
    assert found is not None
    assert found[1].id == "qwen:7b"  # only the first colon parts a model from its endpoint


@pytest.mark.parametrize("value", ["", "local", "local:", "local:other", ":SmolLM2-135M-Instruct", "x:y"])
def test_what_is_no_choice_here_is_none(value: str) -> None:
    catalogue.use_local(Child())
    assert catalogue.find(value) is None
