"""Makes and fills a fresh database for a bench: people who are signed in, each with an empty conversation.

Takes how many, prints JSON `[{"conversation": uuid, "session": key}, …]`. Runs as a process of its own with
the same environment as the server, so that the bench itself stays without Django.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def prepare(count: int) -> list[dict[str, str]]:
    """Make `count` people with a session and a conversation each."""
    from importlib import import_module

    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model

    from chat.models import Conversation

    engine = import_module(settings.SESSION_ENGINE)
    made = []
    for n in range(count):
        user = get_user_model().objects.create(username=f"person-{n}")
        session = engine.SessionStore()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        conversation = Conversation.objects.create(
            user=user, title=f"Bench {n}", endpoint="compatible", model="scripted-1"
        )
        made.append({"conversation": str(conversation.pk), "session": session.session_key})
    return made


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
    import django
    from django.core.management import call_command
    from django.db import transaction

    django.setup()
    # What only a first start does would count as the server's memory.
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    with transaction.atomic():
        print(json.dumps(prepare(int(sys.argv[1]))))


if __name__ == "__main__":
    main()
