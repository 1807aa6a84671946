"""Writes a long conversation of a person into a running server's database, and prints its address.

`python -m tests.browser.long NAME TURNS`, with the environment of the server; `long_conversation` calls it. As rows:
asked for one by one, two thousand messages would take minutes.
"""

import os
import subprocess
import sys

from tests.fakes.processes import ROOT, ServerProcess, environment

ANSWER = "Answer {}.\n\n" + "A paragraph of an ordinary answer, with **strong** words and `code`. " * 6


def long_conversation(server: ServerProcess, name: str, turns: int) -> str:
    """The address of a new conversation of so many turns of the person with this name."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.browser.long", name, str(turns)],
        cwd=ROOT,
        env=environment(GYMNASIA_DATA=str(server.data)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return f"{server.url}{done.stdout.strip()}"


def main(name: str, turns: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
    import django

    django.setup()
    from django.contrib.auth import get_user_model

    from chat import search
    from tests import rows

    user = get_user_model().objects.get_by_natural_key(name)
    conversation = rows.long_conversation(user, turns, ANSWER)
    type(conversation).objects.filter(pk=conversation.pk).update(endpoint="compatible", model="scripted-1")
    search.put_all(search.searchable().filter(conversation=conversation).select_related("conversation"))
    sys.stdout.write(f"/conversations/{conversation.pk}/")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
