"""What opening a long conversation costs the server: `python bench/opening.py [--turns 1000] [--runs 15] [--json]`.

On a fresh SQLite database in a temporary folder: a conversation of 25 turns and one of very many, asked for by turns through
Django's own client in this process, so that load from elsewhere weighs on both alike. Medians of wall time; the ratio to the
short conversation's page is what counts. Also a step back, the page around an old message, the turn that a script asks for
after each send, the prompt of a reply, and both exports, each beside the same of the short one.
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
ANSWER = "Answer {}.\n\n" + "A paragraph of an ordinary answer, with **strong** words and `code`. " * 12


def ways(client: Any, conversation: Any) -> dict[str, Callable[[], object]]:
    """Name and call of everything that is measured."""
    from chat import exporting, running
    from chat.models import Generation, Message

    url = f"/conversations/{conversation.pk}/"
    questions = list(Message.objects.filter(conversation=conversation, kind="user").order_by("created"))
    middle, newest = questions[len(questions) // 2], questions[-1]
    reply = Generation.objects.filter(conversation=conversation).latest("number")

    def get(path: str, **headers: str) -> Callable[[], object]:
        def call() -> object:
            response = client.get(path, headers=headers)
            assert response.status_code == 200, (path, response.status_code)
            return response.content

        return call

    return {
        "page": get(url),
        "step back": get(f"{url}?before={newest.pk}", X_Fragment="1"),
        "around an old message": get(f"{url}?at={middle.pk}"),
        "turn for the script": get(f"/generations/{reply.pk}/turn/"),
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
        taken: list[list[float]] = [[], []]
        for run in range(runs + 1):
            for which, calls in enumerate(both):
                begun = time.perf_counter()
                calls[name]()
                if run:  # the first one sets the texts, which are kept
                    taken[which].append((time.perf_counter() - begun) * 1000)
        short, long = (statistics.median(each) for each in taken)
        figures[name] = {"short_ms": short, "long_ms": long, "ratio": long / short}
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
    print(f"{'':24}{SHORT} turns{options.turns:>8} turns   ratio")
    for name, row in figures.items():
        print(f"{name:24}{row['short_ms']:6.1f} ms{row['long_ms']:11.1f} ms{row['ratio']:9.2f}")


if __name__ == "__main__":
    main()
