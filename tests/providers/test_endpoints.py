"""Which endpoints an environment makes available, and that it keeps its secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.providers import WIRES
from chat.providers.base import Model, Secret
from chat.providers.endpoints import ENDPOINTS, BadEndpointError, available, seeing, setting

KEY = "sk-very-secret-0123456789"


def test_nothing_configured_is_only_the_local_model() -> None:
    """And without that, nothing."""
    assert available({}) == []
    (local,) = available({}, local_url="http://127.0.0.1:5000")
    assert (local.name, local.base_url, local.profile, local.key) == (
        "local",
        "http://127.0.0.1:5000/v1",
        "llama.cpp",
        None,
    )


def test_what_was_configured_comes_first() -> None:
    """The first one is the page's default."""
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_COMPATIBLE_URL": "https://models.example/api/"}
    compatible, openai, responses, local = available(environ, local_url="http://127.0.0.1:5000/v1")
    assert [endpoint.name for endpoint in (compatible, openai, responses, local)] == [
        "compatible",
        "openai",
        "openai-responses",
        "local",
    ]
    assert (compatible.base_url, compatible.key, compatible.profile) == (
        "https://models.example/api",
        None,
        "strict",
    )
    assert (openai.base_url, openai.key, openai.profile) == (
        "https://api.openai.com/v1",
        Secret(KEY),
        "openai",
    )


@pytest.mark.parametrize(
    ("prefix", "default", "rows"),
    [
        (
            "OPENAI",
            "https://api.openai.com/v1",
            {
                "openai": ("openai_chat", "openai", "/v1"),
                "openai-responses": ("openai_responses", "openai", "/v1"),
            },
        ),
        ("ANTHROPIC", "https://api.anthropic.com/v1", {"anthropic": ("anthropic", "anthropic", "/v1")}),
        (
            "GEMINI",
            "https://generativelanguage.googleapis.com/v1beta",
            {
                "google": ("google", "google", "/v1beta"),
                "google-interactions": ("google_interactions", "google", "/v1beta"),
            },
        ),
        ("TAI", "https://api.artfical.com/v1", {"tai": ("openai_chat", "tai", "/v1")}),
    ],
)
def test_a_vendor_has_a_row_per_api(prefix: str, default: str, rows: dict[str, tuple[str, str, str]]) -> None:
    """One key, and one address, opens all of a vendor's APIs; each speaks a wire that there is."""
    found = available({f"{prefix}_API_KEY": KEY})
    moved = available({f"{prefix}_API_KEY": KEY, f"{prefix}_BASE_URL": "http://127.0.0.1:9"})
    assert {each.name: (each.wire, each.profile) for each in found} == {
        name: (wire, profile) for name, (wire, profile, _) in rows.items()
    }
    assert {each.base_url for each in found} == {default}
    assert {each.key for each in found} == {Secret(KEY)}
    assert [each.base_url for each in moved] == [
        f"http://127.0.0.1:9{version}" for _, _, version in rows.values()
    ]
    assert {each.wire for each in found} <= WIRES.keys()


def test_the_table_is_in_the_order_of_the_page() -> None:
    """Everything configured: every row, in its order."""
    environ = {
        "OPENAI_COMPATIBLE_URL": "http://a/v1",
        **{f"{name}_API_KEY": KEY for name in ("OPENAI", "ANTHROPIC", "GEMINI", "TAI")},
    }
    found = available(environ, local_url="http://127.0.0.1:5000/v1")
    assert [each.name for each in found] == [each.name for each in ENDPOINTS]


def test_everything_about_the_compatible_endpoint_may_be_said() -> None:
    """Key, models and dialect."""
    (endpoint,) = available(
        {
            "OPENAI_COMPATIBLE_URL": "http://127.0.0.1:1234",
            "OPENAI_COMPATIBLE_API_KEY": KEY,
            "OPENAI_COMPATIBLE_MODELS": "one, two:8b ,",
            "OPENAI_COMPATIBLE_IMAGE_MODELS": " two:8b, three",
            "OPENAI_COMPATIBLE_PROFILE": "ollama",
        }
    )
    assert (endpoint.base_url, endpoint.key, endpoint.profile, endpoint.models) == (
        "http://127.0.0.1:1234/v1",
        Secret(KEY),
        "ollama",
        (Model("one", "one"), Model("two:8b", "two:8b", sees=True)),
    )


def test_all_models_of_a_server_may_take_pictures() -> None:
    """What a server says of itself stays; `*` marks the rest."""
    models = (Model("a", "a"), Model("b", "b", sees=True))
    assert seeing({}, models) == models
    assert seeing({"OPENAI_COMPATIBLE_IMAGE_MODELS": "*"}, models) == (Model("a", "a", sees=True), models[1])


def test_a_base_url_alone_is_enough() -> None:
    """A proxy of one's own may add the key itself."""
    endpoint, _ = available({"OPENAI_BASE_URL": "http://proxy.example/openai/v1/"})
    assert (endpoint.name, endpoint.base_url, endpoint.key) == (
        "openai",
        "http://proxy.example/openai/v1",
        None,
    )


def test_a_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    """NAME wins over NAME_FILE; both are stripped."""
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n", encoding="utf-8")
    assert setting({"A_FILE": str(path)}, "A") == KEY
    assert setting({"A_FILE": str(path), "A": " x "}, "A") == "x"
    assert setting({}, "A") == ""
    endpoint, _ = available({"OPENAI_API_KEY_FILE": str(path)})
    assert endpoint.key == Secret(KEY)


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        (
            {"OPENAI_API_KEY_FILE": "/nowhere/key"},
            "OPENAI_API_KEY_FILE: expected a file that can be read at /nowhere/key",
        ),
        ({"OPENAI_API_KEY": f"{KEY}\nx"}, "OPENAI_API_KEY: expected a key of visible ASCII characters"),
        ({"OPENAI_API_KEY": f"{KEY} x"}, "OPENAI_API_KEY: expected a key of visible ASCII characters"),
        ({"OPENAI_COMPATIBLE_URL": "localhost:80"}, "OPENAI_COMPATIBLE_URL: expected an address such as"),
        ({"OPENAI_COMPATIBLE_URL": "ftp://a/b"}, "OPENAI_COMPATIBLE_URL: expected an address such as"),
        ({"OPENAI_COMPATIBLE_URL": "http://"}, "OPENAI_COMPATIBLE_URL: expected an address such as"),
        ({"OPENAI_COMPATIBLE_URL": "http://a:x/"}, "OPENAI_COMPATIBLE_URL: expected an address such as"),
        ({"OPENAI_COMPATIBLE_URL": "http://[::1"}, "OPENAI_COMPATIBLE_URL: expected an address such as"),
        ({"OPENAI_BASE_URL": f"http://me:{KEY}@a/v1"}, "OPENAI_BASE_URL: expected an address without user"),
        ({"OPENAI_BASE_URL": f"http://a/v1?key={KEY}"}, "OPENAI_BASE_URL: expected an address without user"),
    ],
)
def test_a_bad_variable_is_one_clear_line(environ: dict[str, str], text: str) -> None:
    """It names the variable, and shows no secret."""
    with pytest.raises(BadEndpointError) as caught:
        available(environ)
    message = str(caught.value)
    assert message.startswith(text)
    assert KEY not in message
    assert "\n" not in message


def test_no_repr_shows_a_key() -> None:
    """Endpoints end up in logs and tracebacks."""
    endpoint, _ = available({"OPENAI_API_KEY": KEY})
    assert endpoint.key is not None
    assert endpoint.key.reveal() == KEY
    assert all(
        KEY not in text for text in (repr(endpoint), str(endpoint), f"{endpoint.key}", repr([endpoint.key]))
    )
