"""A text that has ended is rendered once, however long it is, and what is kept stays within its bound."""

from chat.replies.rendered import RENDERED, Rendered


class Maker:
    """Renders by repeating, and remembers for whom."""

    def __init__(self) -> None:
        self.made: list[tuple[int, str]] = []

    def __call__(self, text: str, *, anchor: str) -> str:
        self.made.append((len(text), anchor))
        return f"<p>{anchor}{text}</p>"


def test_each_text_is_made_once_whatever_its_length() -> None:
    make = Maker()
    rendered = Rendered(make, most_bytes=10_000_000)
    long = "x" * 1_000_000
    assert [rendered.html(text, anchor="g1") for text in ("a", long, long, "a")] == [
        "<p>g1a</p>",
        f"<p>g1{long}</p>",
        f"<p>g1{long}</p>",
        "<p>g1a</p>",
    ]
    assert make.made == [(1, "g1"), (1_000_000, "g1")]


def test_the_same_text_of_two_replies_is_two_entries() -> None:
    """Their footnotes differ."""
    make = Maker()
    rendered = Rendered(make)
    assert [rendered.html("a", anchor=anchor) for anchor in ("g1", "g2")] == ["<p>g1a</p>", "<p>g2a</p>"]


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    make = Maker()
    rendered = Rendered(make, most_bytes=2_900)  # room for two
    for size in (1000, 1001, 1000, 1002, 1000, 1001):
        rendered.html("x" * size, anchor="")
        assert rendered.bytes_held <= 2_900
    assert [size for size, _ in make.made] == [1000, 1001, 1002, 1001]


def test_what_is_larger_than_the_whole_room_is_given_and_not_kept() -> None:
    rendered = Rendered(Maker(), most_bytes=500)
    assert rendered.html("x" * 1000, anchor="") == f"<p>{'x' * 1000}</p>"
    assert rendered.bytes_held == 0


def test_the_process_has_one() -> None:
    assert RENDERED.html("*a*", anchor="g1") == "<p><em>a</em></p>\n"
