"""How this language writes a moment where seconds matter: the audit. Pages of the chat write theirs by `chat_page`."""

DATETIME_FORMAT = "Y-m-d H:i:s"
