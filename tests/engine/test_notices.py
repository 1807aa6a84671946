"""What pages are told of a row."""

import uuid
from typing import Any

from chat.engine.notices import final_frame, turn_notice
from chat.models import Generation
from chat.streaming.frames import Final, Turn


def row(**values: Any) -> Generation:
    return Generation(number=3, state="incomplete", reason="stalled", attempt=2, **values)


def test_frames_say_how_a_row_stands() -> None:
    parent, first = uuid.uuid4(), uuid.uuid4()
    ended, following = row(parent_id=parent, retry_of_id=first), Generation(number=4)
    assert turn_notice(ended) == Turn(str(ended.pk), 3, str(parent), "incomplete", "stalled", 2, str(first))
    assert final_frame(ended, seq=8, successor=following) == Final(
        str(ended.pk), 3, 8, "incomplete", "stalled", "", str(following.pk)
    )
    fine = Generation(number=1, state="confirmed")
    assert turn_notice(fine) == Turn(str(fine.pk), 1, None, "confirmed", None, 1, None)
    assert final_frame(fine, seq=1) == Final(str(fine.pk), 1, 1, "confirmed", None, "", None)
