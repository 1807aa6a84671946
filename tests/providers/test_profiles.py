"""Which server is trusted with what."""

from __future__ import annotations

import pytest

from chat.providers.profiles import PROFILES, STRICT, profile
from tests.recordings.corpus import RELAXED


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("llama.cpp", "llama.cpp"),
        ("llamacpp", "llama.cpp"),
        ("LlamaCpp", "llama.cpp"),
        ("Hugging Face", "huggingface"),
        ("azure", "azure"),
        ("azure-foundry", "azure-foundry"),
        ("tAI", "tai"),
        # These differ in nothing that a request or a reading needs to know.
        *((name, "strict") for name in ("deepseek", "qwen", "vllm", "openrouter", "glm", "zai", "alibaba")),
        ("acme", "strict"),
        ("", "strict"),
        (None, "strict"),
    ],
)
def test_a_vendor_finds_its_dialect(name: str | None, found: str) -> None:
    """Spelling does not matter; an unknown name is the strict default."""
    assert profile(name).name == found


def test_only_the_named_servers_may_do_without_done() -> None:
    """Everybody else must prove the end."""
    assert {name for name, dialect in PROFILES.items() if not dialect.done_required} == RELAXED
    assert STRICT.done_required
