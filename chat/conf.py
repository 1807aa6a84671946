"""Every knob of the product: name, default, unit and help, each a row of one table.

Takes a mapping of environment variables, gives one frozen `Conf`. It knows nothing of Django or of who uses a knob:
limits and time-outs are passed down as arguments. `docs/settings.md` is written from this table.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

PREFIX = "GYMNASIA_"


class Knob(NamedTuple):
    """One row. The type of `default` is the type of the knob; `least` is the smallest value that makes sense."""

    name: str
    default: int | float
    unit: str
    least: int | float
    help: str


KNOBS: tuple[Knob, ...] = (
    Knob("max_event_bytes", 8 * 1024 * 1024, "bytes", 1024, "Largest single event that a provider may send."),
    Knob(
        "max_answer_chars",
        2_000_000,
        "characters",
        1,
        "Longest answer, with its reasoning, that is accepted.",
    ),
    Knob("max_kept_calls", 32, "calls", 0, "How many tool calls of one reply are kept for the audit."),
    Knob(
        "max_call_chars",
        20_000,
        "characters",
        0,
        "How much of the arguments of each is kept; their length always is.",
    ),
    Knob("max_message_chars", 32_000, "characters", 1, "Longest message that a person may send."),
    Knob(
        "messages_per_hour",
        240,
        "messages",
        0,
        "How many replies one person may ask for within an hour; 0 for no limit.",
    ),
    Knob(
        "page_turns",
        25,
        "turns",
        1,
        "How many turns of a conversation a page shows at first, and how many more come at a time.",
    ),
    Knob("max_files", 5, "files", 0, "How many files a person may send along with one message."),
    Knob("max_picture_bytes", 3 * 1024 * 1024, "bytes", 0, "Largest picture that a person may send along."),
    Knob("max_file_chars", 200_000, "characters", 0, "Longest text file that a person may send along."),
    Knob(
        "max_request_bytes",
        16 * 1024 * 1024,
        "bytes",
        1024,
        "Longest body of a request to this server; a longer one is refused while it arrives.",
    ),
    Knob(
        "max_import_bytes",
        64 * 1024 * 1024,
        "bytes",
        1024,
        "Largest file of conversations that a person may import.",
    ),
    Knob(
        "undo_window_s",
        120.0,
        "seconds",
        1,
        "How long a deleted conversation can be brought back before it is gone for good.",
    ),
    Knob("max_error_body_bytes", 64 * 1024, "bytes", 0, "How much of a provider's error page is read."),
    Knob("connect_timeout_s", 10.0, "seconds", 0.05, "How long a connection to a provider may take."),
    Knob("idle_timeout_s", 60.0, "seconds", 0.05, "Silence of a provider after which a reply has stalled."),
    Knob(
        "no_progress_timeout_s", 180.0, "seconds", 0.05, "Time with nothing but comments and pings: stalled."
    ),
    Knob("deadline_s", 1800.0, "seconds", 1, "Age at which an unfinished generation expires."),
    Knob("request_attempts", 3, "requests", 1, "Requests sent for one generation while it is still queued."),
    Knob(
        "retry_after_max_s",
        60.0,
        "seconds",
        0,
        "Longest wait that a provider may ask for before a new request.",
    ),
    Knob(
        "automatic_retries",
        2,
        "generations",
        0,
        "New generations made without a person after a lost connection.",
    ),
    Knob(
        "resume_attempts",
        5,
        "requests",
        0,
        "Tries to go on by a provider's cursor before a reply is given up.",
    ),
    Knob(
        "resume_window_s",
        600.0,
        "seconds",
        0,
        "Age up to which a lost reply that goes on at its provider is taken over.",
    ),
    Knob(
        "retry_backoff_s",
        1.0,
        "seconds",
        0,
        "First wait before a request or a generation is tried again; doubles.",
    ),
    Knob("paint_interval_ms", 40, "milliseconds", 1, "Shortest time between two paints of one draft."),
    Knob("paint_interval_max_ms", 200, "milliseconds", 1, "To what the paint interval stretches under load."),
    Knob(
        "checkpoint_interval_ms", 1000, "milliseconds", 20, "How often drafts are saved, and leases renewed."
    ),
    Knob("lease_s", 10.0, "seconds", 0.5, "How long a runner that is silent still owns its generation."),
    Knob(
        "sweep_interval_s",
        2.0,
        "seconds",
        0.05,
        "How often the reaper looks for lost and overdue generations.",
    ),
    Knob("look_interval_s", 5.0, "seconds", 0.05, "How often open pages are compared with the stored state."),
    Knob("store_keep_s", 60.0, "seconds", 0, "How long a finished draft stays in memory for late readers."),
    Knob(
        "ahead_frames", 64, "frames", 1, "How far a socket may run ahead of what its page has acknowledged."
    ),
    Knob(
        "ahead_bytes",
        64 * 1024,
        "bytes",
        1024,
        "The same in bytes; also what one response of events brings before its page must come back.",
    ),
    Knob(
        "response_frames",
        1500,
        "frames",
        1,
        "How many frames one response of events brings: it has no acknowledgements.",
    ),
    Knob("heartbeat_s", 15.0, "seconds", 0.05, "How often a response of events shows that it lives."),
)


class ConfError(ValueError):
    """One line per knob that cannot be read: what was expected and what came."""


class Conf:
    """The values of every knob, as attributes. Frozen: use `but` for a changed copy."""

    def __init__(self, values: Mapping[str, int | float]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no knob is called {name!r}; chat/conf.py lists them")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are frozen; use but({name}=…) for a changed copy")

    def but(self, **values: float) -> "Conf":
        """A copy with some knobs changed (tests, and callers with limits of their own)."""
        unknown = values.keys() - {knob.name for knob in KNOBS}
        if unknown:
            raise ConfError(f"no knob is called {', '.join(sorted(unknown))}")
        return Conf({**self.__dict__, **values})


def load(environ: Mapping[str, str]) -> Conf:
    """Read every knob from `environ` (`GYMNASIA_<NAME>`); raises `ConfError` with one line per fault."""
    values: dict[str, int | float] = {}
    faults: list[str] = []
    for knob in KNOBS:
        variable = PREFIX + knob.name.upper()
        text = environ.get(variable, "").strip()
        if not text:
            values[knob.name] = knob.default
            continue
        kind = type(knob.default)
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not knob.least <= value < float("inf"):
            word = "whole number" if kind is int else "number"
            faults.append(
                f"{variable}: expected a {word} of {knob.unit}, at least {knob.least}; got {text!r}"
            )
        else:
            values[knob.name] = value
    if faults:
        raise ConfError("\n".join(faults))
    return Conf(values)
