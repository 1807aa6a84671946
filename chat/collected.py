"""Our own scripts and styles as they are sent: without the comments that have lines of their own.

Takes a source file, gives it with those lines empty, so that a line's number is the same in both. A quarter of what a page
loads would else be notes to those who read the source. Where it runs from the source (tests, `DEBUG`), they are sent as they
are; what others have written is never touched.
"""

import re
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

_OURS = re.compile(r"chat[/\\](?:js|css)[/\\][\w.-]+\.(?:js|css)")
# Begun and ended at the border of a line: nothing else on it can be meant.
_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/[ \t]*$|//[^\n]*$)", re.DOTALL | re.MULTILINE)


def bare(source: str) -> str:
    """The same lines without those that are comments alone."""
    return _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), source)


class CollectedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # it has no types
    """WhiteNoise's: named by their content, and compressed."""

    def file_hash(self, name: str | None, content: Any = None) -> str | None:
        """Of what is sent: a browser keeps it under this name for ever."""
        named: str | None = super().file_hash(name, content and _sent(name, content))
        return named

    def _save(self, name: str, content: Any) -> str:
        kept: str = super()._save(name, _sent(name, content))
        return kept


def _sent(name: str | None, content: Any) -> Any:
    if not name or not _OURS.fullmatch(name):  # the list of all files has no name
        return content
    content.seek(0)  # whoever looked at it before left it at its end
    return ContentFile(bare(content.read().decode()).encode(), name)
