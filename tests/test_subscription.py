"""Whatever happens on the way, a page ends with the text of the draft, and its socket's memory is bounded."""

from chat.engine.hub import Farewell
from chat.models import Generation
from chat.streaming.frames import Final, Turn
from chat.subscription import Cursor
from tests.followed import HTML, Page, Scene


# --- joining --------------------------------------------------------------------------------------------------------
async def test_without_a_cursor_the_newest_reply_is_told_from_its_beginning() -> None:
    """Older ones are on the page already."""
    scene = Scene()
    scene.generation("confirmed")
    writer = scene.running()
    writer.paint("Think.", "reasoning")
    writer.paint("Two ")
    writer.paint("minutes")
    await scene.joined()
    assert scene.asked_from == 0
    assert scene.page.frames == [writer.turn(), [2, 1, "Think.", "r"], [2, 3, "Two minutes", "a", 1]]
    await writer.publish(writer.paint("."), writer.end())
    assert scene.page.frames[3:] == [[2, 4, "."], writer.final(5)]


async def test_with_a_cursor_only_what_is_new_is_sent() -> None:
    """A page was served with the draft so far; what it shows is not sent again."""
    scene = Scene()
    writer = scene.running()
    for word in ("Two ", "minutes", ", no ", "more"):
        writer.paint(word)
    await scene.joined(Cursor(1, 2))
    assert scene.page.frames == [writer.turn(), [1, 4, ", no more", "a", 2]]


async def test_nothing_new_is_nothing_sent() -> None:
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    await scene.joined(Cursor(1, 1))
    assert scene.page.frames == [writer.turn()]


async def test_a_cursor_beyond_the_store_is_answered_with_the_whole_draft() -> None:
    """After a crash the page shows more than was saved: what is stored is the truth."""
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    await scene.joined(Cursor(1, 7))
    draft = {"type": "draft", "handle": 1, "seq": 1, "answer": "Two ", "reasoning": "", "refusal": ""}
    assert scene.page.frames == [writer.turn(), draft]
    await writer.paints("minutes")
    assert scene.page.frames[2:] == [[1, 2, "minutes"]]


async def test_where_nothing_runs_here_the_last_checkpoint_is_shown() -> None:
    scene = Scene()
    scene.generation(saved=(3, "Two "))
    await scene.joined(Cursor(1, 5))
    draft = {"type": "draft", "handle": 1, "seq": 3, "answer": "Two ", "reasoning": "", "refusal": ""}
    assert scene.page.frames[1:] == [draft]


async def test_what_ended_meanwhile_is_finished_and_who_followed_is_told() -> None:
    """The page left at (1, 2); since then the reply ended and a new one began."""
    scene = Scene()
    first = scene.generation("confirmed")
    writer = scene.running()
    writer.paint("Three")
    await scene.joined(Cursor(1, 2))
    assert [frame["type"] if isinstance(frame, dict) else frame for frame in scene.page.frames] == [
        "turn",
        "final",
        "turn",
        [2, 1, "Three"],
    ]
    final = scene.page.frames[1]
    assert (final["generation"], final["seq"], final["html"]) == (str(first.pk), 3, HTML)


async def test_a_finished_reply_that_the_page_did_not_ask_for_is_told_by_its_notice_alone() -> None:
    """Its HTML is on the page."""
    scene = Scene()
    scene.generation("confirmed")
    await scene.joined()
    assert [frame["type"] for frame in scene.page.frames] == ["turn"]
    assert (scene.rendered, list(scene.subscription.unfinished())) == ([], [])


async def test_an_empty_conversation_says_nothing() -> None:
    scene = Scene()
    await scene.joined(Cursor(9, 9))
    assert scene.page.frames == []


async def test_frames_that_come_while_it_joins_are_neither_lost_nor_sent_twice() -> None:
    """It listens first and reads then; before it has read, it does not know where the page stands."""
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    scene.page.stands_at(1, 1, answer="Two ")

    async def meanwhile() -> None:
        await writer.paints("minutes", ".")

    scene.while_loading = meanwhile
    await scene.joined(Cursor(1, 1))
    assert scene.page.frames == [writer.turn(), [1, 3, "minutes.", "a", 1]]
    assert (scene.page.faults, scene.page.text[1]["answer"]) == ([], "Two minutes.")


async def test_a_reply_that_begins_and_ends_while_it_joins_is_told_whole() -> None:
    """It is in no row that was read."""
    scene = Scene()

    async def meanwhile() -> None:
        writer = scene.running()
        turn = Turn(str(writer.row.pk), writer.row.number, None, "queued", None, 1, None)
        await writer.publish(turn, writer.paint("Two"), writer.end())

    scene.while_loading = meanwhile
    await scene.joined()
    assert scene.page.numbered[0] == [1, 1, "Two"]
    assert (scene.page.over, scene.page.faults) == ({1}, [])


# --- live -----------------------------------------------------------------------------------------------------------
async def test_duplicates_and_late_frames_are_nothing() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    first, second = writer.paint("Two "), writer.paint("minutes")
    final = writer.end()
    for frame in (first, first, second, first, final, final, second):
        await scene.subscription.receive(writer.row.pk, frame)
    assert scene.page.numbered == [[1, 1, "Two "], [1, 2, "minutes"], writer.final(3)]


async def test_a_gap_is_filled_from_the_store_in_one_frame() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    writer.paint("Two ")
    writer.paint("minutes")
    await writer.publish(writer.paint("."))
    assert scene.page.numbered == [[1, 3, "Two minutes.", "a", 0]]


async def test_the_last_frame_brings_what_was_missed_and_then_itself() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    writer.paint("Two ")
    writer.paint("minutes")
    await writer.publish(writer.end())
    assert scene.page.numbered == [[1, 2, "Two minutes", "a", 0], writer.final(3)]


async def test_the_last_frame_of_what_never_ran_here_is_sent_at_once() -> None:
    """Stopped while it was queued, or lost with another process: the page must not wait for the look."""
    scene = Scene()
    row = scene.generation(saved=(3, "Two "))
    await scene.joined(Cursor(1, 3))
    final = Final(str(row.pk), 1, 0, "incomplete", "worker_lost", "", None)
    await scene.hub.publish(scene.conversation_id, row.pk, [final, final])
    (sent,) = scene.page.numbered
    assert (sent["seq"], sent["reason"], sent["html"]) == (4, "worker_lost", HTML)


async def test_the_reply_is_rendered_once_for_all_pages() -> None:
    scene, other = Scene(), Page()
    writer = scene.running()
    second = scene.subscribe(other)
    await scene.joined()
    await second.join(Cursor(), scene.load)
    await writer.publish(writer.end())
    assert scene.page.numbered == other.numbered == [writer.final(1)]
    assert scene.rendered == ["en"]


async def test_the_reply_is_rendered_once_for_each_language() -> None:
    """Two hundred watchers must not cost two hundred renders, nor read each other's language."""
    scene, pages = Scene(), [Page() for _ in range(4)]
    writer = scene.running()
    watching = [
        scene.subscribe(page, language=code) for page, code in zip(pages, ["es", "pt-br"] * 2, strict=True)
    ]
    for each in watching:
        await each.join(Cursor(), scene.load)
    await writer.publish(writer.end())
    assert [page.numbered for page in pages] == [[writer.final(1)]] * 4
    assert sorted(scene.rendered) == ["es", "pt-br"]


async def test_a_last_frame_that_was_lost_is_found_by_the_look() -> None:
    """And only once, and only for what this page sees as running."""
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    await writer.paints("Two")
    assert list(scene.subscription.unfinished()) == [writer.row.pk]
    await scene.subscription.look(writer.row)
    writer.row.state = "confirmed"
    scene.store.drop(writer.row.pk)
    await scene.subscription.look(writer.row)
    await scene.subscription.look(writer.row)
    await scene.subscription.look(Generation(number=9, state="failed"))
    assert scene.page.frames[2:] == [writer.turn(), writer.final(2)]
    assert list(scene.subscription.unfinished()) == []


async def test_leaving_and_being_sent_away() -> None:
    scene = Scene()
    writer = scene.running()
    await scene.joined()
    scene.subscription.leave()
    await writer.paints("Two")
    assert (len(scene.hub), scene.page.numbered, scene.left) == (0, [], None)
    await scene.subscription.close(Farewell.GONE)
    assert scene.left is Farewell.GONE


# --- where a reader stands --------------------------------------------------------------------------------------------
async def test_the_position_is_the_cursor_of_who_got_all_that_was_sent() -> None:
    """In the reply that is being written, then before the next one: a last frame is not sent a second time."""
    scene = Scene()
    writer = scene.running()
    assert scene.subscription.position == Cursor(0, 0)
    await scene.joined(Cursor(1, 0))
    assert scene.subscription.position == Cursor(1, 0)
    await writer.publish(writer.paint("Two "))
    assert scene.subscription.position == Cursor(1, 1)
    await writer.publish(writer.end())
    assert scene.subscription.position == Cursor(2, 0)
    again = scene.subscribe(scene.page)
    await again.join(Cursor(2, 0), scene.load)
    assert (again.position, list(again.unfinished())) == (Cursor(2, 0), [])


async def test_a_notice_that_comes_while_rows_are_read_does_not_move_the_position_back() -> None:
    """Who drops out just then must not be sent again what it has."""
    scene = Scene()
    writer = scene.running()
    writer.paint("Two ")
    writer.paint("minutes")
    notice = Turn(str(writer.row.pk), 1, None, "buffered", None, 1, None)
    places: list[Cursor] = []

    async def while_loading() -> None:
        await scene.subscription.receive(writer.row.pk, notice)
        places.append(scene.subscription.position)

    scene.while_loading = while_loading
    await scene.joined(Cursor(1, 1))
    assert (places, scene.subscription.position) == ([Cursor(1, 1)], Cursor(1, 2))
