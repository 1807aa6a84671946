"""The bench of the hot path still runs: all processes, all figures, every word of every reply."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {
    "replies",
    "cpu_ms_per_reply_s",
    "p50_ms",
    "p99_ms",
    "first_token_p50_ms",
    "bytes_per_token",
    "kb_per_generation",
    "kb_per_idle_socket",
    "floor_cpu_ms_per_reply_s",
    "ratio_to_floor",
}


def test_a_short_run_prints_every_figure() -> None:
    """Figures are judged by people on a quiet machine; that they exist and are of whole replies is judged here."""
    done = subprocess.run(
        [sys.executable, "bench/hotpath.py", "--replies", "2", "--seconds", "1", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures.keys() >= FIGURES
    assert (figures["states"], figures["whole"], figures["gaps"]) == ({"confirmed": 2}, 2, 0)
    assert figures["bytes_per_token"] < 20
