"""How a generation's row is told to pages: its last frame, and the notice that may come at any time.

Takes rows, gives frames. Knows no listener and no HTML: the process that renders for a page adds that.
"""

from chat.models import Generation
from chat.streaming.frames import Final, Turn


def final_frame(row: Generation, *, seq: int, successor: Generation | None = None) -> Final:
    """The last frame of a generation; the page's own process adds the HTML for its reader."""
    return Final(
        generation=str(row.pk),
        handle=row.number,
        seq=seq,
        state=row.state,
        reason=row.reason or None,
        html="",
        successor=str(successor.pk) if successor else None,
    )


def turn_notice(row: Generation) -> Turn:
    """How a generation stands: unnumbered, and harmless when it comes twice."""
    return Turn(
        generation=str(row.pk),
        handle=row.number,
        parent=str(row.parent_id) if row.parent_id else None,
        state=row.state,
        reason=row.reason or None,
        attempt=row.attempt,
        retry_of=str(row.retry_of_id) if row.retry_of_id else None,
    )
