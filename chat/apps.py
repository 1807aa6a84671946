"""The Django application: what it calls itself, and what it does when the framework says that something comes or goes.

Deleting has many doors (a verb, the admin, a shell, a query, a person whose conversations go with them), and Django's
signal is the one that all of them pass, in the transaction that deletes. A message is saved by several verbs, and each of
them must let it be found.
"""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate, post_save, pre_delete


class ChatConfig(AppConfig):
    name = "chat"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Chat"

    def ready(self) -> None:
        """Models may be imported from here on."""
        pre_delete.connect(_conversation_goes, sender="chat.Conversation")
        pre_delete.connect(_message_goes, sender="chat.Message")
        post_save.connect(_message_comes, sender="chat.Message")
        post_migrate.connect(_schema_changed, sender=self)
        post_delete.connect(_session_goes, sender="sessions.Session")


def _conversation_goes(instance: Any, **_: Any) -> None:
    from chat import conversations

    conversations.let_go(instance.pk)


def _message_comes(instance: Any, created: bool = False, raw: bool = False, **_: Any) -> None:  # noqa: FBT001, FBT002
    from chat import search

    if not raw:
        search.put(instance, is_new=created)


def _schema_changed(plan: Any = (), **_: Any) -> None:
    """An installation that is older than the index has messages and no row of it."""
    from chat import search

    if any(each.name.endswith("_search") and not is_backwards for each, is_backwards in plan):
        search.rebuild()


def _message_goes(instance: Any, origin: Any = None, **_: Any) -> None:
    """Where the deletion began with messages; with its conversation, a message has been let go of already."""
    from chat import conversations

    if getattr(origin, "model", type(origin)) is type(instance):
        conversations.let_go_of_message(instance.pk)


def _session_goes(instance: Any, **_: Any) -> None:
    """By signing out, by another password, in a shell, when its time is up. What was noted of its browser goes along."""
    from allauth.usersessions.models import UserSession

    from chat import readers

    UserSession.objects.filter(session_key=instance.session_key).delete()
    readers.signed_out(instance.session_key)
