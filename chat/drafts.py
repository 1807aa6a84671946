"""The draft store: throw-away text, apart from the messages.

In memory while a generation runs in this process, and for a while after its final frame; its checkpoints stand in a table
of their own. Search, copy, export and the next prompt never look here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from chat.models import Checkpoint, Generation
from chat.states.generation import State
from chat.streaming.draft import Draft
from chat.streaming.frames import Final, Snapshot


@dataclass(slots=True)
class Entry:
    """One generation's draft in this process; `final` and `closed_at` are set by its last frame. `finals` holds that frame
    with its HTML, by language: made once for each, however many pages watch."""

    generation_id: UUID
    draft: Draft
    final: Final | None = None
    finals: dict[str, Final] = field(default_factory=dict)
    closed_at: float = 0.0


class DraftStore:
    """Drafts by generation, in this process's memory. Only the engine's loop writes; any thread may read."""

    def __init__(self) -> None:
        self._entries: dict[UUID, Entry] = {}

    def open(self, generation_id: UUID, draft: Draft) -> None:
        self._entries[generation_id] = Entry(generation_id, draft)

    def get(self, generation_id: UUID) -> Entry | None:
        return self._entries.get(generation_id)

    def close(self, generation_id: UUID, final: Final, *, now: float) -> None:
        """The last frame is known: late readers find it here until `purge`."""
        entry = self._entries.get(generation_id)
        if entry is not None:
            entry.final = final
            entry.finals.clear()
            entry.closed_at = now

    def drop(self, generation_id: UUID) -> None:
        self._entries.pop(generation_id, None)

    def purge(self, *, now: float, keep_s: float) -> None:
        """Free what was closed more than `keep_s` seconds ago."""
        for key in [
            e.generation_id for e in self._entries.values() if e.final and now - e.closed_at >= keep_s
        ]:
            self.drop(key)

    def __len__(self) -> int:
        return len(self._entries)


STORE = DraftStore()


def snapshot(generation: Generation) -> Snapshot:
    """The whole draft so far: from memory where it is being written, else from its last checkpoint, else empty."""
    entry = STORE.get(generation.pk)
    if entry is not None:
        return entry.draft.snapshot()
    try:
        saved = generation.checkpoint
    except Checkpoint.DoesNotExist:
        return Snapshot(generation.number, 0, "", "", "")
    return Snapshot(generation.number, saved.seq, saved.answer, saved.reasoning, saved.refusal)


@dataclass(frozen=True, slots=True)
class Save:
    """One draft to be saved, by the runner that holds `fence`."""

    generation_id: UUID
    fence: int
    text: Snapshot


def save(saves: Iterable[Save]) -> None:
    """Write many checkpoints in one transaction. A runner with a stale fence writes nothing, and nobody writes the draft of
    what is confirmed: a runner whose end was stored, but not answered, tries once more and comes here."""
    wanted = {item.generation_id: item for item in saves}
    if not wanted:
        return
    with transaction.atomic():
        # Held until the end: whoever takes a generation from its runner meanwhile, to delete its texts for one, waits.
        unconfirmed = Generation.objects.filter(pk__in=wanted).exclude(state=str(State.confirmed))
        held = unconfirmed.order_by("pk").select_for_update(no_key=True)
        fences = held.values_list("pk", "fence")
        Checkpoint.objects.bulk_create(
            [
                Checkpoint(
                    generation_id=key,
                    seq=wanted[key].text.seq,
                    answer=wanted[key].text.answer,
                    reasoning=wanted[key].text.reasoning,
                    refusal=wanted[key].text.refusal,
                )
                for key, fence in fences
                if fence == wanted[key].fence
            ],
            update_conflicts=True,
            unique_fields=["generation"],
            update_fields=["seq", "answer", "reasoning", "refusal", "at"],
        )
