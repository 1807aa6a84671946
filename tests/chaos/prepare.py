"""Fills a migrated database with people who are signed in twice each, as on two devices.

Takes how many; prints JSON `[[session key, session key], …]`. A process of its own with the server's environment, so that
the walk itself stays without Django.
"""

import json
import os
import sys


def prepare(count: int) -> list[list[str]]:
    """Make `count` people with two sessions each."""
    from importlib import import_module

    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model

    store = import_module(settings.SESSION_ENGINE).SessionStore
    made = []
    for number in range(count):
        user = get_user_model().objects.create(username=f"person-{number}")
        keys = []
        for _ in range(2):
            session = store()
            session[SESSION_KEY] = str(user.pk)
            session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
            session[HASH_SESSION_KEY] = user.get_session_auth_hash()
            session.create()
            keys.append(session.session_key)
        made.append(keys)
    return made


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
    import django
    from django.db import transaction

    django.setup()
    with transaction.atomic():
        sys.stdout.write(json.dumps(prepare(int(sys.argv[1]))))


if __name__ == "__main__":
    main()
