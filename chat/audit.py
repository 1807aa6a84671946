"""What the pages of the audit are made of: read-only pages, filters with an end, tables whose cells are escaped, timelines.

Takes rows, gives parts of Django's own admin pages. Which table is shown how stands in `admin.py`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from chat.journal import SUBJECTS
from chat.models import Generation, JournalRow, ToolCall

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin

NOTHING = "-"


class ReadOnly(Base):
    """Looking needs the model's view permission; the rest is refused to everybody, superusers included."""

    actions = None
    list_per_page, show_full_result_count = 50, False

    class Media:
        css = {"all": ["chat/css/audit.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 (Django passes it)
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class AskedBy(admin.SimpleListFilter):
    """Whose replies: those who asked last, and whoever is looked at; a list of everybody would have no end."""

    title, parameter_name = _("user"), "user"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        lately = Generation.objects.exclude(user=None).order_by("-created").values_list("user", flat=True)
        people = get_user_model().objects.filter(pk__in=[*dict.fromkeys(lately[:500])][:15] + self.chosen)
        return [(str(person.pk), person.get_username()) for person in people.order_by("username")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Generation]) -> QuerySet[Generation]:  # noqa: ARG002
        return queryset.filter(user__in=self.chosen) if self.value() else queryset

    @property
    def chosen(self) -> list[int]:
        value = self.value() or ""  # of an address: it may be anything
        return [int(value)] if value.isdecimal() and len(value) < 19 else []


class Called(admin.SimpleListFilter):
    """Which tool: those that were called last, and whichever is looked at; a model may call anything."""

    title, parameter_name = _("tool"), "name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002
        lately = ToolCall.objects.order_by("-created").values_list("name", flat=True)[:500]
        names = {*[*dict.fromkeys(lately)][:15], self.value() or ""} - {""}
        return [(name, name) for name in sorted(names)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ToolCall]) -> QuerySet[ToolCall]:  # noqa: ARG002
        return queryset.filter(name=self.value()) if self.value() else queryset


def link(row: Model | None) -> SafeString | str:
    """The row's own page here."""
    if row is None:
        return NOTHING
    url = reverse(f"admin:chat_{type(row).__name__.lower()}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, str(row))


def table(head: Iterable[Any], rows: Iterable[tuple[Any, ...]]) -> SafeString | str:
    """An HTML table of escaped cells; a cell that is empty says so."""
    body = [
        (format_html_join("", "<td>{}</td>", [(NOTHING if cell in {None, ""} else cell,) for cell in row]),)
        for row in rows
    ]
    if not body:
        return NOTHING
    return format_html(
        '<div class="audit" tabindex="0"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>',
        format_html_join("", "<th>{}</th>", [(cell,) for cell in head]),
        format_html_join("", "<tr>{}</tr>", body),
    )


def timeline(subject: Generation | ToolCall) -> SafeString | str:
    """Every move, oldest first, and how long after the one before."""
    name, _machine = SUBJECTS[type(subject)]
    moves = JournalRow.objects.filter(subject=name, subject_id=subject.pk).order_by("sequence")
    lines, before = [], subject.created
    for move in moves:
        after_s = (move.at - before).total_seconds()
        before = move.at
        lines.append(
            (
                move.sequence,
                f"{move.at:%Y-%m-%d %H:%M:%S.%f}"[:-3],
                f"+{after_s:.3f} s",
                move.from_state,
                move.trigger,
                move.to_state,
                move.actor,
                move.reason,
                move.detail,
                move.fence,
            )
        )
    head = ("#", _("when"), _("after"), _("from"), _("trigger"), _("to"), _("who"), _("reason"))
    return table((*head, _("detail"), _("fence")), lines)
