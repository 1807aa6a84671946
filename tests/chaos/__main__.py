"""`python -m tests.chaos [--runs N] [--seed S] [--keep FOLDER]`: prints one JSON line, exits 0 if nothing was found.

What was found, and how each kind of fault ended, goes to standard error.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.checker import Report
from tests.chaos.plan import KINDS, LEAST_IN_FLIGHT, plan
from tests.chaos.provider import ChaosProvider
from tests.chaos.walk import Walk


def say(text: str) -> None:
    """One line for people."""
    sys.stderr.write(f"chaos: {text}\n")


def shortcomings(report: Report, *, runs: int, peak: int) -> list[str]:
    """What makes a run worth nothing, though no fault was found."""
    found = []
    if report.runs != runs:
        found.append(f"expected {runs} runs that were accepted, got {report.runs}")
    if report.confirmed * 5 < report.runs:
        found.append(f"expected at least a fifth confirmed, got {report.confirmed} of {report.runs}")
    if missing := [kind for kind in KINDS if not report.faults[kind]]:
        found.append(f"expected every kind of fault, got none of {', '.join(missing)}")
    if peak < min(LEAST_IN_FLIGHT, runs):
        found.append(f"expected {LEAST_IN_FLIGHT} runs in flight, got {peak}")
    return found


def chaos(folder: Path, *, seed: int, runs: int) -> int:
    """Run it all on this folder; gives the exit code."""
    begun = time.monotonic()
    waves = plan(seed, runs)
    with ChaosProvider([run for wave in waves for run in wave.runs]) as provider:
        walk = Walk(folder, provider, tell=say)
        report = asyncio.run(walk.run(waves))
    for kind, ends in sorted(report.ends.items()):
        say(f"{kind:32} {', '.join(f'{word} {times}' for word, times in ends.most_common())}")
    short = shortcomings(report, runs=runs, peak=walk.peak)
    for sentence in (*report.sentences, *short):
        say(sentence)
    say(f"{time.monotonic() - begun:.0f} s, at most {walk.peak} in flight")
    sys.stdout.write(report.line(seed) + "\n")
    return 0 if report.clean and not short else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./run chaos", description="Generations under faults, on a real server."
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a new folder for the database and the logs, which stays")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True)
        return chaos(options.keep.resolve(), seed=options.seed, runs=options.runs)
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        return chaos(Path(name), seed=options.seed, runs=options.runs)


if __name__ == "__main__":
    sys.exit(main())
