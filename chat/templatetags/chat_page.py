"""What every page needs and no view should have to say: icons, and the table of contents."""

import datetime as dt
import secrets
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import UUID

from babel.dates import format_skeleton
from django import template
from django.conf import settings
from django.db.models import F
from django.templatetags.static import static
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from chat import retention
from chat import styles as rules
from chat.models import Conversation, Plan
from chat.views import shortcuts, theme

register = template.Library()

CONTENTS_MAX = 60


class Group(NamedTuple):
    """Conversations of one stretch of time, newest first."""

    label: str | Promise
    conversations: list[Conversation]


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the sprite; always beside words, so hidden from readers of the screen."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("chat/icons.svg"), name
    )


@register.simple_tag(takes_context=True)
def styles(context: template.Context, *names: str) -> SafeString:
    """The rules of our own sheets, in the page itself; the policy knows them by the page's nonce."""
    rules_html = mark_safe(rules.sheet(*names))  # noqa: S308 our own files
    return format_html('<style nonce="{}">{}</style>', context["CSP_NONCE"], rules_html)


@register.filter
def when(at: dt.datetime | None, room: str = "") -> str:
    """A time as `times.js` shows it: today by the clock, this year by the day, before that with the year; in `narrow` room
    without the day then."""
    if not at:
        return ""
    day, today = timezone.localdate(at), timezone.localdate()
    if day == today:
        return date_format(timezone.localtime(at), "H:i")
    # The browser and Babel have the forms of each language from one source, Unicode's.
    year = "yMMM" if room == "narrow" else "yMMMd"
    return format_skeleton(
        "MMMd" if day.year == today.year else year, timezone.localtime(at), locale=_locale()
    )


def _locale() -> str:
    return translation.to_locale(translation.get_language() or settings.LANGUAGE_CODE)


@register.simple_tag
def once_key() -> SafeString:
    """A form's own key, so that a double click sends it once."""
    return format_html('<input type="hidden" name="once" value="{}">', secrets.token_urlsafe(12))


@register.inclusion_tag("chat/_languages.html", takes_context=True)
def language_chooser(context: template.Context, *, named: bool = True) -> dict[str, Any]:
    """The languages that there are, each a button by its own name; nothing where there is but one. Not `named` it is no
    landmark: for a page that has another one, and says beside this one what it is."""
    request = context.get("request")
    return {
        "named": named,
        "languages": settings.LANGUAGES if len(settings.LANGUAGES) > 1 else [],
        "chosen": translation.get_language(),
        "next": request.get_full_path() if request is not None and request.method == "GET" else "/",
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("chat/_theme.html", takes_context=True)
def theme_chooser(context: template.Context, *, named: bool = True) -> dict[str, Any]:
    """Light, dark, or as the system has it: three buttons, one of them pressed. `named` as above."""
    request = context.get("request")
    word = request.COOKIES.get(theme.COOKIE, "") if request is not None else ""
    return {
        "named": named,
        "themes": [("light", _("Light")), ("system", _("Like the system")), ("dark", _("Dark"))],
        "chosen": word if word in theme.THEMES else "system",
        "next": request.get_full_path() if request is not None and request.method == "GET" else "/",
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("chat/_shortcuts.html")
def shortcut_list() -> dict[str, Any]:
    """The keyboard's shortcuts, for the dialog and for the page."""
    return {"shortcuts": shortcuts.SHORTCUTS}


@register.inclusion_tag("chat/_contents.html", takes_context=True)
def contents(context: template.Context) -> dict[str, Any]:
    """The person's conversations as a table of contents: what is pinned, then the newest by age, in one query; one more
    says whether they have plans."""
    user = context.get("user")
    if user is None or not user.is_authenticated:
        return {"user": None, "groups": [], "plans": False}
    owned = Conversation.objects.owned_by(user).only(
        "id", "title", "updated", "user_id", "pinned", "archived"
    )
    order = F("pinned").desc(nulls_last=True), "-updated"
    rows = list(owned.filter(archived=None).order_by(*order)[: CONTENTS_MAX + 1])
    shown = rows[:CONTENTS_MAX]
    pinned = [row for row in shown if row.pinned is not None]
    groups = [Group(_("Pinned"), pinned)] if pinned else []
    groups += by_age([row for row in shown if row.pinned is None], timezone.localdate())
    current = context.get("conversation")
    return {
        "user": user,
        "request": context.get("request"),
        "csrf_token": context.get("csrf_token"),
        "groups": groups,
        "is_more": len(rows) > CONTENTS_MAX,
        "current": current.pk if current is not None else None,
        "home": context.get("home", False),
        "plans": Plan.objects.filter(user_id=user.pk).exists(),
    }


@register.inclusion_tag("chat/_undo.html", takes_context=True)
def undo(context: template.Context) -> dict[str, Any]:
    """Says what was deleted or archived by the request that led here, with the way back, as long as there is one."""
    request, user = context.get("request"), context.get("user")
    if request is None or user is None or not user.is_authenticated:
        return {}
    rows = {
        "lying": ("deleted", retention.restorable(user.pk)),
        "put_away": ("put_away", Conversation.objects.owned_by(user).filter(archived__isnull=False)),
    }
    found = {}
    for name, (said, among) in rows.items():
        with suppress(ValueError):
            found[name] = among.filter(pk=UUID(request.GET.get(said, ""))).first()
    return found


def by_age(conversations: list[Conversation], today: dt.date) -> list[Group]:
    """Split a newest-first list into today, yesterday, this week and earlier; empty stretches are left out."""
    limits: list[tuple[str | Promise, dt.date]] = [
        (_("Today"), today),
        (_("Yesterday"), today - dt.timedelta(days=1)),
        (_("This week"), today - dt.timedelta(days=6)),
        (_("Earlier"), dt.date.min),
    ]
    groups = [Group(label, []) for label, _oldest in limits]
    for conversation in conversations:
        day = timezone.localdate(conversation.updated)
        index = next(i for i, (_label, oldest) in enumerate(limits) if day >= oldest)
        groups[index].conversations.append(conversation)
    return [group for group in groups if group.conversations]
