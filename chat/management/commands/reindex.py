"""`manage.py reindex`: make the search index say what the messages say; `--check` only looks, and fails where it differs."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chat import search


class Command(BaseCommand):
    help = "Bring the search index in line with the messages; with --check only say whether it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="change nothing; exit 1 where something differs"
        )

    def handle(self, *args: Any, check: bool, **options: Any) -> None:  # noqa: ARG002 Django passes them
        health = search.examine() if check else search.rebuild()
        told = f"{health.missing} missing, {health.stray} stray, {health.stale} stale"
        if not health.is_sound:
            told += ", the full-text table unsound"
        if check and not health.is_right:
            raise CommandError(f"the search index differs from the messages: {told}")
        self.stdout.write(f"search index {'right' if check else 'made right'}: {told}")
