"""What opening a long conversation costs the server: `python bench/opening.py [--turns 1000] [--runs 15] [--json]`.

On a fresh SQLite database in a temporary folder: a conversation of 25 turns and one of very many, asked for by turns through
Django's own client in this process. Medians of the thread's CPU time, on which load from elsewhere weighs little, and of
wall time beside it; the ratio of the CPU to the short conversation's is what counts. Also the page when nothing of it is
rendered yet, a step back, the page around an old message, the turn that a script asks for after each send, the prompt of a
reply, and both exports, each beside the same of the short one.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SHORT = 25
ANSWER = (
    "Answer {}.\n\n"
    + "A paragraph of an ordinary answer, with **strong** words and `code`. " * 12
    + "\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```python\nfor i in range(10):\n    print(i, 'times')\n```\n"
)


def ways(client: Any, conversation: Any) -> dict[str, Callable[[], object]]:
    """Name and call of everything that is measured."""
    from chat import exporting, rendering, running
    from chat.models import Generation, Message
    from chat.replies import rendered, reply

    url = f"/conversations/{conversation.pk}/"
    questions = list(Message.objects.filter(conversation=conversation, kind="user").order_by("created"))
    middle, newest = questions[len(questions) // 2], questions[-1]
    last = Generation.objects.filter(conversation=conversation).latest("number")

    def get(path: str, **headers: str) -> Callable[[], object]:
        def call() -> object:
            response = client.get(path, headers=headers)
            assert response.status_code == 200, (path, response.status_code)
            return response.content

        return call

    def anew() -> object:
        vars(reply)["RENDERED"] = rendered.Rendered(rendering.render)
        return get(url)()

    return {
        "page": get(url),
        "page, all rendered anew": anew,
        "step back": get(f"{url}?before={newest.pk}", X_Fragment="1"),
        "around an old message": get(f"{url}?at={middle.pk}"),
        "turn for the script": get(f"/generations/{last.pk}/turn/"),
        "prompt": lambda: running.history(newest, sees=False),
        "Markdown": lambda: exporting.as_markdown(conversation, ending=str, model=str),
        "JSON": lambda: exporting.as_json(conversation),
    }


def measure(turns: int, runs: int) -> dict[str, dict[str, float]]:
    from django.contrib.auth import get_user_model
    from django.test import Client

    from tests import rows

    user = get_user_model().objects.create_user("bench")
    client = Client()
    client.force_login(user)
    both = [ways(client, rows.long_conversation(user, count, ANSWER)) for count in (SHORT, turns)]
    figures: dict[str, dict[str, float]] = {}
    for name in both[0]:
        taken: list[list[tuple[float, float]]] = [[], []]
        for run in range(runs + 1):
            for which, calls in enumerate(both):
                begun, busy = time.perf_counter(), time.thread_time()
                calls[name]()
                if run:  # the first one sets the texts, which are kept
                    cpu, wall = time.thread_time() - busy, time.perf_counter() - begun
                    taken[which].append((cpu * 1000, wall * 1000))
        (short, _), (long, wall) = (
            [statistics.median(of) for of in zip(*each, strict=True)] for each in taken
        )
        figures[name] = {"short_ms": short, "long_ms": long, "ratio": long / short, "long_wall_ms": wall}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"GYMNASIA_DATA": folder, "GYMNASIA_LOCAL_MODEL": "off"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
        import django
        from django.conf import settings
        from django.core.management import call_command

        django.setup()
        settings.ALLOWED_HOSTS = ["testserver"]
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        figures = measure(options.turns, options.runs)
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    print(f"{'CPU':24}{SHORT} turns{options.turns:>8} turns   ratio     wall")
    for name, row in figures.items():
        figure = f"{row['short_ms']:6.1f} ms{row['long_ms']:11.1f} ms{row['ratio']:9.2f}"
        print(f"{name:24}{figure}{row['long_wall_ms']:7.0f} ms")


if __name__ == "__main__":
    main()
