"""The Django application; it registers nothing but itself and its system checks."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Chat"
