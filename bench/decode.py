"""How quickly each wire is decoded, beside others: `python bench/decode.py [--runs 7] [--json]`.

Takes long synthetic replies (`wire_streams.py`), cut as the network cuts them; lets the product and the readers of
`wire_readers.py` read them by turns in this one process, compares their texts, and prints the medians as events per
second and as ratios. Only the ratios of one run mean something. Needs `requirements/outside.txt`.
"""

import argparse
import gc
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.wire_readers import READERS, Read, Reader, product  # noqa: E402
from bench.wire_streams import WIRES, Stream, stream  # noqa: E402

DELTAS = 20_000


def seconds(read: Read, wire: str, body: Stream, chunks: list[bytes]) -> float:
    """What one reading costs (CPU: what else runs on the machine would count otherwise); the texts must be right."""
    gc.collect()
    before = time.process_time()
    texts = read(chunks, wire)
    taken = time.process_time() - before
    if texts != (body.answer, body.reasoning):
        raise ValueError(f"{read.__name__} read other texts on {wire}")
    return taken


def measure(wire: str, readers: list[Reader], *, deltas: int, runs: int) -> dict[str, Any]:
    """The figures of one wire: all readers by turns, so that what disturbs one disturbs all."""
    body = stream(wire, deltas)
    chunks, events = body.chunks, len(body.events)
    contestants: list[tuple[str, Read]] = [("ours", product), *((one.name, one.read) for one in readers)]
    taken: dict[str, list[float]] = {name: [] for name, _ in contestants}
    for run in range(runs + 1):
        for name, read in contestants:
            one = seconds(read, wire, body, chunks)
            if run:  # the first one warms up
                taken[name].append(one)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    return {
        "events": events,
        "bytes_per_event": sum(map(len, chunks)) / events,
        "us_per_event": {name: middle / events * 1e6 for name, middle in medians.items()},
        "events_per_s": {name: events / middle for name, middle in medians.items()},
        "times_as_quick": {one.name: medians[one.name] / medians["ours"] for one in readers},
        "promised": {one.name: one.times[wire] for one in readers},
    }


def report(wire: str, figures: dict[str, Any]) -> str:
    """One wire as a table for a person."""
    lines = [
        f"\n{wire}: {figures['events']} events of {figures['bytes_per_event']:.0f} bytes",
        "",
        "| reader | us per event | events per s | ours is so many times as quick | promised |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, spent in figures["us_per_event"].items():
        ratio = figures["times_as_quick"].get(name)
        wanted = figures["promised"].get(name)
        verdict = "" if wanted is None else f"{wanted:.2g} {'kept' if ratio >= wanted else 'MISSED'}"
        shown = "" if ratio is None else f"{ratio:.2f}"
        lines.append(f"| {name} | {spent:.2f} | {figures['events_per_s'][name]:,.0f} | {shown} | {verdict} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Decoding, wire by wire, beside other readers.")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--deltas", type=int, default=DELTAS)
    parser.add_argument("--wire", action="append", choices=WIRES, help="only this wire; may be repeated")
    parser.add_argument("--no-outside", action="store_true", help="only the floor: needs nothing installed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for wire in options.wire or WIRES:
        readers = [one for one in READERS if wire in one.times]
        if options.no_outside:
            readers = readers[-1:]
        found[wire] = measure(wire, readers, deltas=options.deltas, runs=options.runs)
        if not options.json:
            print(report(wire, found[wire]), flush=True)
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
