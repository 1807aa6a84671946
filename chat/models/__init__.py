"""The nouns. They hold constraints and querysets; verbs stand in `generations.py` and `conversations.py`."""

from .attachment import Attachment, AttachmentKind
from .conversation import Conversation, Message, MessageKind
from .generation import Checkpoint, Generation, JournalRow, Subject
from .preferences import Preferences
from .preset import Preset

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
    "Preset",
    "Subject",
]
