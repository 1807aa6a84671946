"""The nouns. They hold constraints and querysets; verbs stand in `generations.py` and `conversations.py`."""

from .attachment import Attachment, AttachmentKind
from .conversation import Conversation, Message, MessageKind
from .generation import Checkpoint, Generation, JournalRow, Subject
from .preferences import Preferences

__all__ = [
    "Attachment",
    "AttachmentKind",
    "Checkpoint",
    "Conversation",
    "Generation",
    "JournalRow",
    "Message",
    "MessageKind",
    "Preferences",
    "Subject",
]
