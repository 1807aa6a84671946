"""What allauth's forms lack on our sheet: one word for one thing, the first line ready to write on, no promise of mail.

Takes bound fields, gives words and widgets. Knows no view; the forms and their checks stay allauth's own.
"""

from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField, Form
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

register = template.Library()

LABELS: dict[str, str | Promise] = {
    "login": _("Username or e-mail"),
    "remember": _("Remember me"),
    "email": _("E-mail"),
    "email_optional": _("E-mail (optional)"),
    "code": _("Code"),
    "name": _("What you call it"),
}
PASSWORDS = {"oldpassword", "password1", "password2"}


@register.filter
def label_of(field: BoundField) -> str | Promise:
    """The field's name in our words; one that we have no words for keeps its own."""
    optional = "" if field.field.required else "_optional"
    if field.name in PASSWORDS:
        return str(field.label).capitalize()  # allauth writes them as titles
    return LABELS.get(field.name + optional) or LABELS.get(field.name) or field.label


@register.simple_tag
def widget_of(field: BoundField, *, focus: bool) -> SafeString:
    """The field's line. What a person signs in with is filled in by browsers as the username that it mostly is."""
    # The label says it already, and a placeholder goes away when somebody writes.
    attributes: dict[str, Any] = {"placeholder": False, "autofocus": focus}
    if field.name == "login":
        attributes["autocomplete"] = "username"
    return field.as_widget(attrs=attributes)


@register.filter
def first_to_write(form: Form) -> BoundField | None:
    """Where the cursor belongs: the first field with an error, else the first one."""
    fields = form.visible_fields()
    return next((field for field in fields if field.errors), fields[0] if fields else None)


@register.simple_tag
def sends_mail() -> bool:
    """Whether mail leaves this server; without it no page may say that some was sent."""
    return bool(getattr(settings, "SENDS_MAIL", False))


# What a browser calls itself, the more special names first: each also bears the names of those that came before it.
BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "Linux": "Linux",
}


@register.filter
def browser(agent: str) -> str:
    """A browser's long name in two words that its person knows."""
    name = next((word for sign, word in BROWSERS.items() if f"{sign}/" in agent), "")
    system = next((word for sign, word in SYSTEMS.items() if sign in agent), "")
    return ", ".join(word for word in (name, system) if word) or gettext("An unknown browser")
