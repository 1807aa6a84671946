"""The tree tells their faults from ours."""

from __future__ import annotations

import inspect

from chat.streaming import errors

THEIRS = {errors.EventTooLarge, errors.MalformedStream, errors.ReplyTooLong, errors.RewrittenText}


def test_the_drawn_tree_is_the_tree() -> None:
    """The drawing in the docstring is what people read, so it must not lag."""
    lines = [line for line in (errors.__doc__ or "").split("\n") if "──" in line]
    drawn = {line.replace("│", " ").split("──", 1)[1].split()[0] for line in lines}
    classes = {
        name
        for name, item in inspect.getmembers(errors, inspect.isclass)
        if item.__module__ == errors.__name__
    }
    assert drawn | {"StreamingError"} == classes


def test_their_faults_and_ours_are_apart() -> None:
    """A caller that handles the provider's faults must not swallow our bugs."""
    assert set(errors.ProviderFault.__subclasses__()) == THEIRS
    assert not issubclass(errors.Misuse, errors.ProviderFault)


def test_a_large_event_brings_those_before_it() -> None:
    """Otherwise what was read would depend on how the bytes were cut."""
    error = errors.EventTooLarge(5, ["before"])
    assert (str(error), error.events) == (
        "expected an event of at most 5 bytes, got a larger one",
        ["before"],
    )
