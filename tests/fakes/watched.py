"""`manage.py serve` that tells on SIGUSR1 what it holds: listeners of the hub, tasks of the loop, threads.

A process of its own (`python -m tests.fakes.watched`): what a page leaves behind is seen nowhere else.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from typing import Any

from django.core.management import execute_from_command_line

from tests.fakes.processes import HOLDS


def tell(*_: Any) -> None:
    """Print one line."""
    from chat import consumers

    engine = consumers.serving_engine()
    assert engine is not None
    counts = {
        "listeners": len(engine.hub),
        "tasks": len(asyncio.all_tasks(engine._loop)),
        "threads": threading.active_count(),
    }
    # In one write, with its end: the reader looks for a whole line.
    os.write(sys.stdout.fileno(), f"{HOLDS}{json.dumps(counts)}\n".encode())


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
    signal.signal(signal.SIGUSR1, tell)
    execute_from_command_line(["manage.py", "serve"])
