"""Every variable of the environment, as docs/settings.md shows them: `python -m gymnasia.reference` writes that file.

Takes the tables, `VARIABLES` here and `KNOBS` of `chat/conf.py`; gives Markdown. It reads no environment: `env.py`,
`settings.py` and `chat/providers/endpoints.py` do, and a test compares their names with these rows.
"""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from chat.conf import KNOBS, PREFIX
from chat.providers.profiles import is_known

PATH = Path(__file__).parents[1] / "docs" / "settings.md"

HEAD = """# Settings

Everything that may differ between two installations is a variable of the environment. Without any, `./run` serves on
this machine's loopback with the local model. A variable that cannot be used stops the start with one line that names it.

Written from `gymnasia/reference.py` and `chat/conf.py` by `python -m gymnasia.reference`; a test fails when this file
lags."""


OURS = {"GYMNASIA_STREAMS", "GYMNASIA_SCREENSHOT"}
"""What only our own tests read."""


class Variable(NamedTuple):
    """One row; `has_file` says that `NAME_FILE` may name a file that holds the value, as container platforms do it."""

    name: str
    default: str
    help: str
    has_file: bool = False


VARIABLES: dict[str, tuple[Variable, ...]] = {
    "Where it serves, and what it keeps": (
        Variable("PORT", "8000", "Port; 0 lets the system choose."),
        Variable("GYMNASIA_HOST", "127.0.0.1", "Address that is listened on."),
        Variable(
            "GYMNASIA_PUBLIC_URL",
            "",
            "Address by which people reach it, such as https://chat.example.org. With https, cookies become secure, "
            "plain HTTP is redirected, and HSTS is sent for a year, for subdomains too, with `preload`.",
        ),
        Variable(
            "GYMNASIA_BEHIND_PROXY",
            "false",
            "Believe the proxy's X-Forwarded-Proto. Only where a proxy in front always sets it.",
        ),
        Variable(
            "GYMNASIA_HOSTS",
            "localhost,127.0.0.1,[::1]",
            "Names that requests may ask for, beside the public address.",
        ),
        Variable(
            "GYMNASIA_DATA", "var", "Folder of the database, the signing key, collected files and logs."
        ),
        Variable(
            "DATABASE_URL",
            "a file in the data folder",
            "`postgresql://user:password@host:port/name`, with any of libpq's options behind a `?`; or "
            "`sqlite:///path/to/file`, four slashes for an absolute path.",
            has_file=True,
        ),
        Variable("REDIS_URL", "", "Reserved: nothing reads it yet.", has_file=True),
        Variable(
            "DJANGO_SECRET_KEY",
            "made once, kept in the data folder",
            "Signs sessions; a new one signs everybody out.",
            has_file=True,
        ),
        Variable(
            "EMAIL_URL",
            "",
            "Mail server, such as `smtp+tls://user:password@mail.example.org:587`. With it, a new account's address must "
            "be confirmed.",
            has_file=True,
        ),
        Variable(
            "GYMNASIA_OIDC_URL",
            "",
            "Issuer of an OpenID Connect service that people may sign in with, such as "
            "https://login.example.org/realms/main. It wants to know our address /accounts/oidc/sso/login/callback/.",
        ),
        Variable("GYMNASIA_OIDC_ID", "", "Our client id there."),
        Variable("GYMNASIA_OIDC_SECRET", "", "Our client secret there.", has_file=True),
        Variable("GYMNASIA_OIDC_NAME", "the issuer's host", "What the button calls it."),
        Variable("GYMNASIA_LOG_LEVEL", "INFO", "DEBUG, INFO, WARNING, ERROR or CRITICAL."),
        Variable("GYMNASIA_DEBUG", "false", "Django's debug pages. Never where others can reach it."),
    ),
    "Which models answer": (
        Variable("GYMNASIA_LOCAL_MODEL", "true", "Start the local model beside the server."),
        Variable(
            "OPENAI_COMPATIBLE_URL",
            "",
            "Any server that speaks chat completions, such as http://127.0.0.1:11434/v1.",
            has_file=True,
        ),
        Variable("OPENAI_COMPATIBLE_API_KEY", "", "Its key, if it wants one.", has_file=True),
        Variable(
            "OPENAI_COMPATIBLE_MODELS",
            "what the server lists",
            "Names of its models, separated by commas.",
        ),
        Variable(
            "OPENAI_COMPATIBLE_IMAGE_MODELS",
            "what the server lists",
            "Those of its models that take pictures, separated by commas; `*` for all.",
        ),
        Variable(
            "OPENAI_COMPATIBLE_PROFILE",
            "strict",
            "Its dialect: ollama, llama.cpp, groq, mistral … (`chat/providers/profiles.py`).",
        ),
        Variable("OPENAI_API_KEY", "", "Key for OpenAI.", has_file=True),
        Variable("OPENAI_BASE_URL", "OpenAI's own", "Another address of that service.", has_file=True),
        Variable("ANTHROPIC_API_KEY", "", "Key for Anthropic.", has_file=True),
        Variable("ANTHROPIC_BASE_URL", "Anthropic's own", "Another address of that service.", has_file=True),
        Variable("GEMINI_API_KEY", "", "Key for Google's Gemini.", has_file=True),
        Variable("GEMINI_BASE_URL", "Google's own", "Another address of that service.", has_file=True),
        Variable("TAI_API_KEY", "", "Key for tAI.", has_file=True),
        Variable("TAI_BASE_URL", "tAI's own", "Another address of that service.", has_file=True),
        Variable(
            "GYMNASIA_SIGNUP_RATE",
            "20/m/ip",
            "How many accounts one address may make: count / s, m, h or d / ip.",
        ),
        Variable(
            "GYMNASIA_MATERIAL",
            "none",
            "Text that answers quote, such as hours and prices: models are told it, and an answer with a figure or a date "
            "that it does not have is taken back.",
            has_file=True,
        ),
        Variable(
            "GYMNASIA_SYSTEM_PROMPT",
            "a fitness coach",
            "What a model is told before each conversation. Makes the flow `custom`.",
        ),
    ),
}


def render() -> str:
    """Return the whole of docs/settings.md."""
    sections = [HEAD]
    for title, rows in VARIABLES.items():
        lines = [f"## {title}", "", "| variable | default | what it does |", "| --- | --- | --- |"]
        for row in rows:
            also = f" (also `{row.name}_FILE`)" if row.has_file else ""
            lines.append(f"| `{row.name}`{also} | {row.default or 'none'} | {row.help} |")
        sections.append("\n".join(lines))
    lines = ["## Limits and times", "", "| variable | default | least | unit | what it does |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for knob in KNOBS:
        name = PREFIX + knob.name.upper()
        lines.append(f"| `{name}` | {knob.default:,} | {knob.least:,} | {knob.unit} | {knob.help} |")
    sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"


def oddities(environ: Mapping[str, str]) -> list[str]:
    """One line for each variable that is probably misspelt: it has no effect, and somebody expects one."""
    known = {row.name for rows in VARIABLES.values() for row in rows} | OURS
    known |= {PREFIX + knob.name.upper() for knob in KNOBS}
    lines = []
    for name in sorted(name for name in environ if name.startswith(PREFIX) and name not in known):
        close = difflib.get_close_matches(name, known, 1)
        hint = f" Is {close[0]} meant?" if close else ""
        lines.append(f"{name} is no variable of Gymnasia and has no effect.{hint}")
    vendor = environ.get("OPENAI_COMPATIBLE_PROFILE", "")
    if vendor and not is_known(vendor):
        lines.append(
            f"OPENAI_COMPATIBLE_PROFILE: {vendor!r} is no vendor that is known; its streams are read strictly."
        )
    return lines


def main() -> None:
    """Write the file."""
    PATH.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
