"""Where models are: the table of endpoints, and which of them this environment makes available.

Takes an environment mapping (each `NAME` may be given as `NAME_FILE`, the path of a file that holds it) and
the local model's address; gives endpoints. Keys travel as `Secret` only. Does not connect to anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from chat.providers.base import Endpoint, Model, Secret

__all__ = ["ENDPOINTS", "BadEndpointError", "Endpoint", "Model", "available", "seeing", "setting"]

LOCAL_MODEL = Model("SmolLM2-135M-Instruct", "SmolLM2 135M (local, EN)", plans=False)

OPENAI = Endpoint(
    name="openai",
    label="OpenAI",
    wire="openai_chat",
    base_url="https://api.openai.com/v1",
    key_env="OPENAI_API_KEY",
    profile="openai",
    models=(
        Model("gpt-5.4", "GPT-5.4", sees=True, tunable=False),
        Model("gpt-5-mini", "GPT-5 mini", sees=True, tunable=False),
        Model("gpt-4.1-mini", "GPT-4.1 mini", sees=True),
    ),
)
# The same models behind the newer API: a row of its own, so that a conversation may choose it.
OPENAI_RESPONSES = Endpoint(
    name="openai-responses",
    label="OpenAI (Responses)",
    wire="openai_responses",
    base_url=OPENAI.base_url,
    key_env=OPENAI.key_env,
    profile=OPENAI.profile,
    models=OPENAI.models[:2],  # those that reason
    # In the background a reply outlives its connection, and our process: it is read on by its cursor.
    defaults={"background": True, "store": True, "reasoning_effort": "medium", "reasoning_summary": "auto"},
)
TAI = Endpoint(
    name="tai",
    label="tAI",
    wire="openai_chat",
    base_url="https://api.artfical.com/v1",
    key_env="TAI_API_KEY",
    profile="tai",
    models=(Model("tai-4.1", "tAI 4.1"), Model("tai-4.0.6P", "tAI 4.0.6P")),
)
ANTHROPIC = Endpoint(
    name="anthropic",
    label="Anthropic",
    wire="anthropic",
    base_url="https://api.anthropic.com/v1",
    key_env="ANTHROPIC_API_KEY",
    profile="anthropic",
    models=(
        Model("claude-opus-5-5", "Claude Opus 5.5", sees=True, tunable=False),
        Model("claude-sonnet-5", "Claude Sonnet 5", sees=True, tunable=False),
        Model("claude-haiku-4-5-20251001", "Claude Haiku 4.5", sees=True, tunable=False),
    ),
    defaults={"reasoning_effort": "medium"},
)
GOOGLE = Endpoint(
    name="google",
    label="Google",
    wire="google",
    base_url="https://generativelanguage.googleapis.com/v1beta",
    key_env="GEMINI_API_KEY",
    profile="google",
    models=(
        Model("gemini-3.8-flash", "Gemini 3.8 Flash", sees=True),
        Model("gemini-3.1-pro-preview", "Gemini 3.1 Pro (preview)", sees=True),
        Model("gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite", sees=True),
    ),
    defaults={"reasoning_effort": "medium"},
)
GOOGLE_INTERACTIONS = Endpoint(
    name="google-interactions",
    label="Google (Interactions)",
    wire="google_interactions",
    base_url=GOOGLE.base_url,
    key_env=GOOGLE.key_env,
    profile=GOOGLE.profile,
    models=GOOGLE.models,
    defaults=GOOGLE.defaults,
)
COMPATIBLE = Endpoint(
    name="compatible",
    label="OpenAI-compatible",
    wire="openai_chat",
    base_url="",
    key_env="OPENAI_COMPATIBLE_API_KEY",
    profile="strict",
    models=(Model("default", "Default model"),),
)
LOCAL = Endpoint(
    name="local",
    label="This machine",
    wire="openai_chat",
    base_url="",
    key_env=None,
    profile="llama.cpp",
    models=(LOCAL_MODEL,),
)

# What somebody configured on purpose comes before what is always there: the first is the page's default.
ENDPOINTS = (COMPATIBLE, OPENAI, OPENAI_RESPONSES, ANTHROPIC, GOOGLE, GOOGLE_INTERACTIONS, TAI, LOCAL)


class BadEndpointError(ValueError):
    """A variable of the environment cannot be used; the text is one line that names it and shows no secret."""


def available(environ: Mapping[str, str], *, local_url: str | None = None) -> list[Endpoint]:
    """Return the endpoints that can be asked, the default first; raise `BadEndpointError` for a variable that
    cannot be used.

    `OPENAI_COMPATIBLE_URL` may be joined by `OPENAI_COMPATIBLE_API_KEY`, `OPENAI_COMPATIBLE_MODELS` (names,
    separated by commas), `OPENAI_COMPATIBLE_IMAGE_MODELS` (those that take pictures, `*` for all) and
    `OPENAI_COMPATIBLE_PROFILE` (a vendor of `profiles.py`).
    """
    found = [
        _compatible(environ),
        _named(environ, OPENAI, "OPENAI_BASE_URL"),
        _named(environ, OPENAI_RESPONSES, "OPENAI_BASE_URL"),
        _named(environ, ANTHROPIC, "ANTHROPIC_BASE_URL"),
        _named(environ, GOOGLE, "GEMINI_BASE_URL", version="/v1beta"),
        _named(environ, GOOGLE_INTERACTIONS, "GEMINI_BASE_URL", version="/v1beta"),
        _named(environ, TAI, "TAI_BASE_URL"),
        _local(local_url),
    ]
    return [endpoint for endpoint in found if endpoint is not None]


def seeing(environ: Mapping[str, str], models: tuple[Model, ...]) -> tuple[Model, ...]:
    """Return a compatible server's models, those marked that the environment says take pictures."""
    told = {name.strip() for name in setting(environ, "OPENAI_COMPATIBLE_IMAGE_MODELS").split(",")}
    return tuple(
        msgspec.structs.replace(model, sees=model.sees or "*" in told or model.id in told) for model in models
    )


def setting(environ: Mapping[str, str], name: str) -> str:
    """Return a variable's value, from `NAME` or else from the file that `NAME_FILE` names; "" if there is none."""
    value = environ.get(name, "").strip()
    path = environ.get(f"{name}_FILE", "").strip()
    if value or not path:
        return value
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadEndpointError(
            f"{name}_FILE: expected a file that can be read at {path}, got: {why}"
        ) from error


def _compatible(environ: Mapping[str, str]) -> Endpoint | None:
    url = setting(environ, "OPENAI_COMPATIBLE_URL")
    if not url:
        return None
    names = [name.strip() for name in setting(environ, "OPENAI_COMPATIBLE_MODELS").split(",") if name.strip()]
    return _with(
        COMPATIBLE,
        base_url=_base_url("OPENAI_COMPATIBLE_URL", url),
        key=_key(environ, COMPATIBLE),
        profile=setting(environ, "OPENAI_COMPATIBLE_PROFILE") or COMPATIBLE.profile,
        models=seeing(environ, tuple(Model(name, name) for name in names) or COMPATIBLE.models),
    )


def _named(
    environ: Mapping[str, str], endpoint: Endpoint, url_env: str, *, version: str = "/v1"
) -> Endpoint | None:
    """A vendor's own endpoint: there if it has a key, or an address at which none may be needed."""
    key = _key(environ, endpoint)
    url = setting(environ, url_env)
    if key is None and not url:
        return None
    base_url = _base_url(url_env, url, version=version) if url else endpoint.base_url
    return _with(endpoint, base_url=base_url, key=key)


def _local(local_url: str | None) -> Endpoint | None:
    return _with(LOCAL, base_url=_base_url("local_url", local_url)) if local_url else None


def _key(environ: Mapping[str, str], endpoint: Endpoint) -> Secret | None:
    if endpoint.key_env is None:
        return None
    key = setting(environ, endpoint.key_env)
    if not key:
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadEndpointError(
            f"{endpoint.key_env}: expected a key of visible ASCII characters, got other characters in it"
        )
    return Secret(key)


def _base_url(name: str, url: str, *, version: str = "/v1") -> str:
    """Check an address; one without a path gets the version, `/v1` at nearly every compatible server."""
    try:
        parts = urlsplit(url)
        valid = (
            parts.scheme in {"http", "https"}
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        raise BadEndpointError(
            f"{name}: expected an address such as http://127.0.0.1:8080/v1, got one that is none"
        ) from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadEndpointError(
            f"{name}: expected an address without user, query or fragment, got one with them"
        )
    if not valid:
        raise BadEndpointError(f"{name}: expected an address such as http://127.0.0.1:8080/v1, got {url!r}")
    url = url.rstrip("/")
    return url if parts.path.strip("/") else f"{url}{version}"


def _with(endpoint: Endpoint, **changes: object) -> Endpoint:
    values = {name: getattr(endpoint, name) for name in endpoint.__struct_fields__}
    return Endpoint(**(values | changes))
