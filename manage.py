#!/usr/bin/env python
"""The command line of the project: `python manage.py help` lists what it can do."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        _ = settings.DEBUG  # reads the environment: its faults are lines, not a traceback
    except ImproperlyConfigured as error:
        sys.exit(f"The settings cannot be used:\n{error}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
