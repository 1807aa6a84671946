"""Drafts are thrown away: from memory in time, from the table at confirmation, and a stale runner adds nothing."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import AbstractBaseUser

from chat import drafts
from chat.drafts import DraftStore, Save
from chat.models import Checkpoint, Generation
from chat.streaming.draft import Draft
from chat.streaming.frames import Final, Snapshot
from tests.rows import claimed, ended, person, reading, sent

FINAL = Final("g", 1, 2, "confirmed", None, "", None)


def draft_of(text: str, handle: int = 1) -> Draft:
    draft = Draft(handle)
    draft.append("answer", text)
    draft.paint()
    return draft


# --- in memory ------------------------------------------------------------------------------------------------------
def test_an_entry_knows_its_last_frame_from_its_closing() -> None:
    store, key, draft = DraftStore(), uuid4(), draft_of("Two")
    store.open(key, draft)
    entry = store.get(key)
    assert entry is not None
    assert (entry.draft, entry.final, len(store)) == (draft, None, 1)
    store.close(key, FINAL, now=5)
    assert (entry.final, entry.closed_at) == (FINAL, 5)


def test_what_is_over_is_freed_in_time_and_what_is_not_stays() -> None:
    """Sixty seconds for late readers; a draft that is being written may take as long as it likes."""
    store, over, running = DraftStore(), uuid4(), uuid4()
    store.open(over, draft_of("Two"))
    store.open(running, draft_of("Three"))
    store.close(over, FINAL, now=100)
    store.purge(now=159.9, keep_s=60)
    assert len(store) == 2
    store.purge(now=160, keep_s=60)
    assert (store.get(over), len(store)) == (None, 1)
    store.purge(now=9999, keep_s=0)
    assert store.get(running) is not None


def test_closing_and_dropping_what_is_not_there_is_harmless() -> None:
    store, key = DraftStore(), uuid4()
    store.close(key, FINAL, now=1)
    store.drop(key)
    assert (store.get(key), len(store)) == (None, 0)


# --- snapshots ------------------------------------------------------------------------------------------------------
@pytest.fixture
def ana(db: None) -> AbstractBaseUser:
    return person()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> DraftStore:
    fresh = DraftStore()
    monkeypatch.setattr(drafts, "STORE", fresh)
    return fresh


def test_a_snapshot_comes_from_memory_else_from_the_table_else_is_empty(
    ana: AbstractBaseUser, store: DraftStore
) -> None:
    """A page that is loaded in mid-stream shows what was painted, not what was last saved."""
    row = sent(ana)
    assert drafts.snapshot(row) == Snapshot(1, 0, "", "", "")
    Checkpoint.objects.create(generation=row, seq=3, answer="Two", reasoning="Think.", refusal="No.")
    row = Generation.objects.get()
    assert drafts.snapshot(row) == Snapshot(1, 3, "Two", "Think.", "No.")
    store.open(row.pk, draft_of("Two minutes"))
    assert drafts.snapshot(row) == Snapshot(1, 1, "Two minutes", "", "")


# --- checkpoints ----------------------------------------------------------------------------------------------------
def saved() -> list[tuple[int, str, str, str]]:
    rows = Checkpoint.objects.order_by("generation__created")
    return list(rows.values_list("seq", "answer", "reasoning", "refusal"))


def test_many_drafts_are_saved_together_and_again(ana: AbstractBaseUser) -> None:
    """One tick for all of them; the second time replaces the first, and moves its time."""
    first, second = sent(ana, "One?"), sent(ana, "Two?")
    for row in (first, second):
        claimed(row)
    drafts.save(
        [
            Save(first.pk, 1, Snapshot(1, 1, "A", "", "")),
            Save(second.pk, 1, Snapshot(1, 2, "B", "why", "no")),
        ]
    )
    before = Checkpoint.objects.get(pk=first.pk).at
    drafts.save(iter([Save(first.pk, 1, Snapshot(1, 5, "AAA", "", ""))]))
    assert saved() == [(5, "AAA", "", ""), (2, "B", "why", "no")]
    assert Checkpoint.objects.get(pk=first.pk).at > before


def test_a_stale_fence_writes_nothing_beside_one_that_does(ana: AbstractBaseUser) -> None:
    """A frozen process that wakes up must not write over the draft of its successor."""
    lost, held = sent(ana, "One?"), sent(ana, "Two?")
    for row in (lost, held):
        claimed(row)
    drafts.save([Save(lost.pk, 1, Snapshot(1, 1, "old", "", ""))])
    Generation.objects.filter(pk=lost.pk).update(fence=2)
    drafts.save(
        [Save(lost.pk, 1, Snapshot(1, 9, "late", "", "")), Save(held.pk, 1, Snapshot(1, 1, "new", "", ""))]
    )
    assert saved() == [(1, "old", "", ""), (1, "new", "", "")]


def test_what_is_confirmed_has_no_draft_any_more(ana: AbstractBaseUser) -> None:
    """Whoever comes late with one, fence in hand, brings back nothing."""
    row = ended(sent(ana), reading())
    drafts.save([Save(row.pk, row.fence, Snapshot(1, 9, "Two", "", ""))])
    assert (row.state, saved()) == ("confirmed", [])


def test_a_generation_that_is_gone_is_no_error(db: None) -> None:
    drafts.save([Save(uuid4(), 1, Snapshot(1, 1, "A", "", ""))])
    assert saved() == []


def test_nothing_to_save_asks_nothing(db: None, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        drafts.save([])
