"""The nouns. They hold constraints and querysets; verbs stand in `generations.py` and `conversations.py`."""

from .attachment import Attachment, AttachmentKind
from .conversation import Conversation, Message, MessageKind, Origin
from .form_key import FormKey
from .generation import Checkpoint, Generation, JournalRow, Subject
from .imported import Import
from .index import Departure, IndexRow, Why
from .plan import Plan
from .policy import GatePolicy
from .preferences import Preferences
from .preset import Preset
from .shared import SharedLink
from .toolcall import ToolCall

__all__ = [
    "Attachment",
    "AttachmentKind",
    "Checkpoint",
    "Conversation",
    "Departure",
    "FormKey",
    "GatePolicy",
    "Generation",
    "Import",
    "IndexRow",
    "JournalRow",
    "Message",
    "MessageKind",
    "Origin",
    "Plan",
    "Preferences",
    "Preset",
    "SharedLink",
    "Subject",
    "ToolCall",
    "Why",
]
