"""Where the pages and their commands are. All commands are POSTs that work as plain forms."""

from django.urls import path

from chat.views import (
    account,
    attached,
    commands,
    events,
    favicon,
    language,
    organise,
    pages,
    plans,
    presets,
    search,
    shortcuts,
    theme,
    usage,
)

app_name = "chat"

urlpatterns = [
    path("", pages.home, name="home"),
    path("favicon.ico", favicon.favicon),
    path("manifest.webmanifest", favicon.manifest, name="manifest"),
    path("theme/", theme.choose, name="theme"),
    path("shortcuts/", shortcuts.shortcuts, name="shortcuts"),
    path("settings/", account.settings, name="settings"),
    path("settings/download/", account.download, name="download"),
    path("settings/delete/", account.delete, name="delete_account"),
    path("language/", language.choose, name="language"),
    path("conversations/<uuid:conversation_id>/", pages.conversation, name="conversation"),
    path("conversations/<uuid:conversation_id>/events", events.events, name="events"),
    path("conversations/", organise.every, name="conversations"),
    path("contents/", organise.contents, name="contents"),
    path("search/", search.search, name="search"),
    path("messages/<uuid:message_id>/", search.message, name="message"),
    path(
        "conversations/<uuid:conversation_id>/pin/",
        organise.mark,
        {"what": "pinned", "on": True},
        name="pin",
    ),
    path(
        "conversations/<uuid:conversation_id>/unpin/",
        organise.mark,
        {"what": "pinned", "on": False},
        name="unpin",
    ),
    path(
        "conversations/<uuid:conversation_id>/archive/",
        organise.mark,
        {"what": "archived", "on": True},
        name="archive",
    ),
    path(
        "conversations/<uuid:conversation_id>/unarchive/",
        organise.mark,
        {"what": "archived", "on": False},
        name="unarchive",
    ),
    path("conversations/<uuid:conversation_id>/restore/", organise.restore, name="restore"),
    path("conversations/<uuid:conversation_id>/rename/", organise.rename, name="rename"),
    path("conversations/<uuid:conversation_id>/delete/", organise.delete, name="delete"),
    path("plans/", plans.plans, name="plans"),
    path("generations/<uuid:generation_id>/stop/", commands.stop, name="stop"),
    path("generations/<uuid:generation_id>/retry/", commands.retry, name="retry"),
    path("generations/<uuid:generation_id>/turn/", commands.turn, name="turn"),
    path("instructions/", presets.instructions, name="instructions"),
    path("presets/", presets.presets, name="presets"),
    path("presets/<int:preset_id>/", presets.preset, name="preset"),
    path("presets/<int:preset_id>/delete/", presets.delete, name="delete_preset"),
    path("usage/", usage.usage, name="usage"),
    path("attachments/<uuid:attachment_id>/", attached.attachment, name="attachment"),
    path("messages/<uuid:message_id>/source/", commands.source, name="source"),
]
