"""Every knob is one row, every fault one line."""

from itertools import pairwise

import pytest

from chat.conf import KNOBS, Conf, ConfError, load


def test_without_variables_each_knob_has_its_default() -> None:
    assert vars(load({})) == {knob.name: knob.default for knob in KNOBS}


def test_a_variable_sets_its_knob_in_the_type_of_its_default() -> None:
    """Blanks around it are no part of it; an empty one is none."""
    found = load(
        {
            "GYMNASIA_IDLE_TIMEOUT_S": " 2 ",
            "GYMNASIA_MAX_MESSAGE_CHARS": "10",
            "GYMNASIA_DEADLINE_S": "  ",
            "IDLE_TIMEOUT_S": "9",
        }
    )
    assert (found.idle_timeout_s, found.max_message_chars, found.deadline_s) == (2.0, 10, 1800.0)
    assert type(found.idle_timeout_s) is float


@pytest.mark.parametrize("value", ["0.5", "ten", "-1", "0", "1e3", "0x10", "1,5"])
def test_what_is_no_whole_number_or_too_small_is_one_line(value: str) -> None:
    with pytest.raises(ConfError) as caught:
        load({"GYMNASIA_AHEAD_FRAMES": value})
    assert str(caught.value) == (
        f"GYMNASIA_AHEAD_FRAMES: expected a whole number of frames, at least 1; got {value!r}"
    )


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "0.01", "soon"])
def test_a_time_is_a_real_number(value: str) -> None:
    """`nan` and `inf` are floats to Python and would switch a limit off."""
    with pytest.raises(ConfError) as caught:
        load({"GYMNASIA_IDLE_TIMEOUT_S": value})
    assert str(caught.value) == (
        f"GYMNASIA_IDLE_TIMEOUT_S: expected a number of seconds, at least 0.05; got {value!r}"
    )


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(ConfError) as caught:
        load({"GYMNASIA_LEASE_S": "x", "GYMNASIA_AHEAD_BYTES": "1"})
    assert [line.split(":")[0] for line in str(caught.value).split("\n")] == [
        "GYMNASIA_LEASE_S",
        "GYMNASIA_AHEAD_BYTES",
    ]


def test_a_conf_is_frozen_and_gives_changed_copies() -> None:
    """A knob that does not exist is told by its name, for reading and for changing."""
    before = load({})
    after = before.but(lease_s=3)
    assert (before.lease_s, after.lease_s, after.ahead_frames) == (10.0, 3, before.ahead_frames)
    with pytest.raises(AttributeError, match="frozen"):
        before.lease_s = 1
    with pytest.raises(AttributeError, match="no knob is called 'leese_s'"):
        _ = before.leese_s
    with pytest.raises(ConfError, match="no knob is called leese_s"):
        before.but(leese_s=1)
    assert isinstance(after, Conf)


def test_the_table_is_in_order() -> None:
    """Names are said once and carry their units; a default is possible; each row explains itself."""
    names = [knob.name for knob in KNOBS]
    units = {"_s": "seconds", "_ms": "milliseconds", "_bytes": "bytes", "_chars": "characters"}
    assert len(set(names)) == len(names)
    for knob in KNOBS:
        assert knob.default >= knob.least, knob
        assert knob.help.endswith("."), knob
        for ending, unit in units.items():
            assert not knob.name.endswith(ending) or knob.unit == unit or knob.name == "ahead_bytes", knob


def test_the_times_of_a_reply_stand_in_their_order() -> None:
    """A lease outlives several renewals, and silence is told apart from a dead line before the deadline comes."""
    conf = load({})
    order = [
        conf.paint_interval_ms / 1000,
        conf.paint_interval_max_ms / 1000,
        conf.checkpoint_interval_ms / 1000,
        conf.sweep_interval_s,
        conf.look_interval_s,
        conf.lease_s,
        conf.idle_timeout_s,
        conf.no_progress_timeout_s,
        conf.deadline_s,
    ]
    assert all(before < after for before, after in pairwise(order))
    assert conf.lease_s >= 5 * conf.checkpoint_interval_ms / 1000
    assert conf.lease_s + conf.sweep_interval_s < 15  # a killed server's replies are told within 15 s
