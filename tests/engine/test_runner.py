"""The runner's small pure parts; the whole of it is walked in test_embedded.py."""

from typing import Any

import pytest

from chat.engine.runner import Refusal, Runner
from chat.streaming.outcome import Outcome, Reason, Verdict


def runner(**knobs: Any) -> Runner:
    parts: Any = type("Parts", (), {"conf": type("Conf", (), {"retry_after_max_s": 60.0, **knobs})})
    return Runner(parts)


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (ValueError("no"), False),
        (Refusal(Verdict(Outcome.failed, Reason.quota, retryable=False)), False),
        (Refusal(Verdict(Outcome.failed, Reason.quota, retryable=False), 1.0), False),
        (Refusal(Verdict(Outcome.failed, Reason.http_error, retryable=None)), False),
        (Refusal(Verdict(Outcome.failed, Reason.http_error, retryable=True)), True),
        (Refusal(Verdict(Outcome.failed, Reason.rate_limited, retryable=True), 1.5), 1.5),
        (Refusal(Verdict(Outcome.failed, Reason.rate_limited, retryable=True), 60.0), 60.0),
        (Refusal(Verdict(Outcome.failed, Reason.rate_limited, retryable=True), 61.0), False),
    ],
)
def test_who_is_asked_again_and_when(error: Exception, answer: object) -> None:
    """Only what passes by itself, and only within a minute: a person would have gone."""
    assert runner()._wait_before_next(error) == answer
    assert type(runner()._wait_before_next(error)) is type(answer)
