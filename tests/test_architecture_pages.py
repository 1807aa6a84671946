"""The laws of the templates: what no page may hold, and where its markup may come from."""

import re

import pytest

from tests.source import CHAT, modules, name_of

TEMPLATES = sorted((CHAT / "templates").rglob("*.html"))
HELP_TEXT = (
    "{{ field.help_text|safe }}"  # Django's own, with a list of its own making; no person's text is in it
)


def test_templates_stand_in_the_folder_of_their_application() -> None:
    """Error pages are where Django looks for them; what overrides allauth is in allauth's folders."""
    ours = {"chat", "account", "allauth", "admin", "mfa", "socialaccount", "usersessions"}
    inside = [path.relative_to(CHAT / "templates") for path in TEMPLATES]
    stray = [
        str(path)
        for path in inside
        if path.parts[0] not in ours and not re.fullmatch(r"\d{3}(_csrf)?\.html", str(path))
    ]
    assert (stray, bool(inside)) == ([], True)


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("an inline style", r"<style\b|\sstyle\s*="),
        ("an inline handler", r"\son[a-z]+\s*="),
        ("an address that is a script", r"javascript:"),
        ("text that is not escaped", r"\|\s*safe\b|\|\s*safeseq\b|autoescape\s+off"),
        ("a script without its nonce", r"<script(?![^>]*\bnonce=\"{{ CSP_NONCE }}\")"),
        ("a script that is written on the page", r"<script(?![^>]*\b(src=|type=\"importmap\"))"),
        ("somebody else's host", r"(src|href|action)\s*=\s*\"(https?:)?//"),
    ],
)
def test_no_template_holds(what: str, pattern: str) -> None:
    """The policy would stop most of it in the browser; here it is stopped before."""
    found = [
        name_of(path)
        for path in TEMPLATES
        if re.search(pattern, path.read_text(encoding="utf-8").replace(HELP_TEXT, ""), re.IGNORECASE)
    ]
    assert found == [], what


def test_markup_is_called_safe_in_few_places() -> None:
    """Each of them cleans or builds it itself."""
    found = {
        name_of(path) for path in modules() if re.search(r"\bmark_safe\(|SafeString\(", path.read_text())
    }
    assert found <= {"chat/replies/reply.py", "chat/templatetags/chat_page.py"}
