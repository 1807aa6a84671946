"""What one streaming reply costs: `python bench/hotpath.py [--replies 100] [--seconds 8] [--json]`.

Starts, each as a process of its own on free loopback ports, the scripted provider (50 tokens a second for
each reply), the real server on a fresh database, and raw WebSocket viewers; measures the server's CPU, the
way of each token from the provider's send to the viewer's socket, bytes and memory; then the same streams
through `floor.py`. bench/README.md says what each figure means. Uses no Django itself.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tests.fakes.processes import (  # noqa: E402
    Child,
    ProviderProcess,
    ServerProcess,
    environment,
)
from tests.fakes.stories import TOKEN_CHARS  # noqa: E402

RATE = 50
WARM_PEOPLE = 20
TARGETS = {"cpu_ms_per_reply_s": 5, "p99_ms": 80, "first_token_p50_ms": 8, "bytes_per_token": 20}
"""What the hot path promises at 100 replies; each figure must stay below."""


class Orders:
    """The process of the viewers, spoken to in JSON lines."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "bench/viewers.py"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __call__(self, do: str, **more: Any) -> Any:
        """Give an order and wait for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **more}).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the viewers ended at the order {do!r}")
        return json.loads(line)

    def end(self) -> None:
        """Close its input, which ends it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)


@contextlib.contextmanager
def viewers(port: int, people: list[dict[str, str]]) -> Iterator[Orders]:
    """Viewers for a server at this port."""
    orders = Orders()
    try:
        orders("begin", port=port, people=people)
        yield orders
    finally:
        orders.end()


def cpu_s(pid: int) -> float:
    """User and system time of a process and its children."""
    process = psutil.Process(pid)
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def rss_kb(pid: int) -> float:
    """Resident memory."""
    return float(psutil.Process(pid).memory_info().rss) / 1024


def percentile(values: list[float], part: float) -> float:
    """The value below which this part of the sorted values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def questions(replies: int, tokens: int, mark: str) -> list[str]:
    """One question each; the provider reads its story, the bench finds its record by it."""
    return [f"tokens {RATE} {tokens} please, {mark} {n}" for n in range(replies)]


def latencies(
    seen: list[dict[str, Any]], records: list[dict[str, Any]], texts: list[str], window: tuple[float, float]
) -> tuple[list[float], list[float]]:
    """Milliseconds from send to arrival: of each token sent in the window, and of each reply's first."""
    sent = {record["user_text"]: record["paced_at"] for record in records}
    ways, firsts = [], []
    for text, viewer in zip(texts, seen, strict=True):
        arrivals = viewer["arrivals"]
        at = 0
        for n, sent_at in enumerate(sent[text]):
            while at < len(arrivals) and arrivals[at][1] < (n + 1) * TOKEN_CHARS:
                at += 1
            if at == len(arrivals):
                break
            way = (arrivals[at][0] - sent_at) * 1000
            if n == 0:
                firsts.append(way)
            if window[0] <= sent_at < window[1]:
                ways.append(way)
    return ways, firsts


def bytes_per_token(seen: list[dict[str, Any]], window: tuple[float, float]) -> float:
    """Bytes of all frames that arrived in the window, per token in them."""
    sizes = chars = 0
    for viewer in seen:
        inside = [one for one in viewer["arrivals"] if window[0] <= one[0] < window[1]]
        sizes += sum(size for _, _, size in inside[1:])
        chars += inside[-1][1] - inside[0][1]
    return sizes * TOKEN_CHARS / chars


class Window:
    """The steady stretch: its times, and the CPU that processes spent in it."""

    def __init__(self, seconds: float, **pids: int) -> None:
        before = {name: cpu_s(pid) for name, pid in pids.items()}
        start = time.monotonic()
        time.sleep(seconds)
        self.span = (start, time.monotonic())
        self.seconds = self.span[1] - start
        self.cpu_s = {name: cpu_s(pid) - before[name] for name, pid in pids.items()}


def measure_server(replies: int, seconds: float, folder: Path) -> dict[str, Any]:
    """The product."""
    tokens = int(RATE * (seconds + 4))
    texts = questions(replies, tokens, "server")
    with contextlib.ExitStack() as stack:
        provider = stack.enter_context(ProviderProcess(folder))
        made = subprocess.run(
            [sys.executable, "bench/prepare.py", str(replies + WARM_PEOPLE)],
            cwd=ROOT,
            env=environment(
                GYMNASIA_DATA=str(folder), GYMNASIA_LOCAL_MODEL="off", GYMNASIA_MESSAGES_PER_HOUR="0"
            ),
            stdout=subprocess.PIPE,
            check=True,
        )
        people = json.loads(made.stdout)
        server = stack.enter_context(ServerProcess(folder, provider_url=provider.base_url))
        orders = stack.enter_context(viewers(server.port, people))
        orders("open", first=0, count=WARM_PEOPLE)
        orders("ask", first=0, texts=questions(WARM_PEOPLE, 50, "warm"), over_s=0.2)
        orders("finals")
        orders("close")
        resting_kb = rss_kb(server.pid)
        orders("open", first=WARM_PEOPLE, count=replies)
        idle_kb = rss_kb(server.pid)
        before_s = cpu_s(server.pid)
        orders("ask", first=WARM_PEOPLE, texts=texts, over_s=1)
        started_s = cpu_s(server.pid) - before_s
        time.sleep(1)
        window = Window(seconds, server=server.pid, provider=provider.pid, viewers=orders.process.pid)
        running_kb = rss_kb(server.pid)
        states = orders("finals")
        seen = orders("collect")
        records = provider.requests()
        if set(states) != {"confirmed"}:
            sys.stderr.write(
                f"not all replies were confirmed; the server's last words:\n{server.output()[-4000:]}\n"
            )
    ways, firsts = latencies(seen, records, texts, window.span)
    return {
        "replies": replies,
        "cpu_ms_per_reply_s": window.cpu_s["server"] * 1000 / (replies * window.seconds),
        "p50_ms": percentile(ways, 0.5),
        "p99_ms": percentile(ways, 0.99),
        "first_token_p50_ms": statistics.median(firsts),
        "first_token_max_ms": max(firsts),
        "cpu_ms_per_start": started_s * 1000 / replies,
        "bytes_per_token": bytes_per_token(seen, window.span),
        "kb_per_generation": (running_kb - idle_kb) / replies,
        "kb_per_idle_socket": (idle_kb - resting_kb) / replies,
        "server_rss_mb": running_kb / 1024,
        "states": dict(Counter(states)),
        "whole": sum(viewer["chars"] == tokens * TOKEN_CHARS for viewer in seen),
        "gaps": sum(viewer["gaps"] for viewer in seen),
        "busy_percent": {name: 100 * spent / window.seconds for name, spent in window.cpu_s.items()},
    }


def measure_floor(replies: int, seconds: float, folder: Path) -> dict[str, Any]:
    """The same streams through bare sockets."""
    texts = questions(replies, int(RATE * (seconds + 4)), "floor")
    with contextlib.ExitStack() as stack:
        provider = stack.enter_context(ProviderProcess(folder))
        floor = stack.enter_context(Child("bench/floor.py", str(provider.port), log=folder / "floor.log"))
        orders = stack.enter_context(viewers(floor.first_line()["port"], []))
        orders("ask floor", texts=texts, over_s=1)
        time.sleep(1)
        window = Window(seconds, floor=floor.pid)
        seen = orders("collect")
        records = provider.requests()
    ways, firsts = latencies(seen, records, texts, window.span)
    return {
        "floor_cpu_ms_per_reply_s": window.cpu_s["floor"] * 1000 / (replies * window.seconds),
        "floor_p50_ms": percentile(ways, 0.5),
        "floor_p99_ms": percentile(ways, 0.99),
        "floor_first_token_p50_ms": statistics.median(firsts),
    }


def report(figures: dict[str, Any]) -> str:
    """The figures as lines for a person, each promise beside its figure."""
    lines = []
    for name, value in figures.items():
        text = f"{value:.2f}" if isinstance(value, float) else str(value)
        if isinstance(value, dict):
            text = ", ".join(f"{key} {part:.0f}" for key, part in value.items())
        limit = TARGETS.get(name)
        note = "" if limit is None else f"   (under {limit}: {'yes' if value < limit else 'NO'})"
        lines.append(f"{name:28}{text:>12}{note}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Cost and delay of streaming replies through the real server."
    )
    parser.add_argument("--replies", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=8, help="the steady stretch that is measured")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--no-floor", action="store_true", help="leave the raw-socket floor out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hotpath-") as name:
        figures = measure_server(options.replies, options.seconds, Path(name))
        if not options.no_floor:
            figures |= measure_floor(options.replies, options.seconds, Path(name))
            # In a very short run the floor's CPU may round to nothing: the clock ticks in 10 ms.
            tick_ms = 10 / (options.replies * options.seconds)
            floor_ms = max(figures["floor_cpu_ms_per_reply_s"], tick_ms)
            figures["ratio_to_floor"] = figures["cpu_ms_per_reply_s"] / floor_ms
    print(json.dumps(figures) if options.json else report(figures))


if __name__ == "__main__":
    main()
