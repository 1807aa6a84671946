"""`manage.py serve`: the whole product in one process: pages, sockets, the engine, and the local model beside it.

It is our own command around Daphne's server because that sends no start and stop to an application: the engine starts and
drains here.
"""

import argparse
import asyncio
import contextlib
import errno
import gc
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from chat import catalogue, local_model
from chat.providers.endpoints import BadEndpointError

MIGRATING = 0x67796D6E  # the key of our advisory lock: any number that others are unlikely to take


def port_number(text: str) -> int:
    """A TCP port out of text; 0 lets the system choose."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535; got {text!r}")
    return int(text)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One server migrates at a time where several share a PostgreSQL: the others wait, and find nothing left to do."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATING])


class Command(BaseCommand):
    help = "Migrate, start the local model, and serve pages and sockets until Ctrl-C or SIGTERM."
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default=os.environ.get("GYMNASIA_HOST") or "127.0.0.1")
        parser.add_argument("--port", default=os.environ.get("PORT") or "8000")

    def handle(self, *, host: str, port: str, **_: Any) -> None:
        try:
            number = port_number(str(port))
        except argparse.ArgumentTypeError as error:
            raise CommandError(f"PORT: {error}") from None
        try:
            catalogue.endpoints()
        except BadEndpointError as error:
            raise CommandError(str(error)) from None
        listening = self._listen(host, number)
        self._prepare_folder(settings.DATA)
        self._migrate()
        self._collect_static()
        local = self._start_local_model()
        # Twisted's reactor is made when Daphne is imported, on whatever loop the policy gives it.
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        from chat.serving import Serving

        keeper = local_model.Keeper(
            local, lambda port_again: local_model.start(port=port_again, data=settings.DATA)
        )
        serving = Serving(listening, keeper)
        name, bound = listening.getsockname()[:2]
        address = f"http://{f'[{name}]' if ':' in name else name}:{bound}"
        # Everything that lives now lives until the end: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 50, 100)
        newcomer = self._first_administrator()
        try:
            serving.run(ready=lambda: self._greet(address, local, newcomer=newcomer))
        finally:
            keeper.stop()
        self.stdout.write("Stopped.")

    def _listen(self, host: str, port: int) -> socket.socket:
        """Bind first: a port in use is told before anything is started."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
            listening.listen(1024)
        except OSError as error:
            listening.close()
            busy = error.errno in (errno.EADDRINUSE, errno.EACCES)
            hint = (
                " Set PORT to another one." if busy else " Set GYMNASIA_HOST to an address of this machine."
            )
            raise CommandError(f"cannot listen on {host}:{port}: {error.strerror}.{hint}") from None
        listening.setblocking(False)
        return listening

    def _prepare_folder(self, data: Path) -> None:
        try:
            data.mkdir(parents=True, exist_ok=True)
            probe = data / f".writable-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise CommandError(
                f"the data folder {data} must be writable: {error.strerror}. Set GYMNASIA_DATA."
            ) from None

    def _migrate(self) -> None:
        try:
            with _alone():
                self._migrate_alone()
        except DatabaseError as error:
            raise CommandError(f"the database cannot be used: {error}") from None

    def _migrate_alone(self) -> None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)

    def _first_administrator(self) -> bool:
        """A fresh installation gets an administrator. The password is shown here, once, and kept nowhere: the last thing
        before serving, so that nothing that fails can swallow it."""
        users = get_user_model()
        if users.objects.filter(is_superuser=True).exists():
            return False
        password = secrets.token_urlsafe(12)
        taken = users.objects.filter(username="admin").exists()  # somebody who signed up chose it
        name = f"admin-{secrets.token_hex(3)}" if taken else "admin"
        users.objects.create_superuser(name, None, password)
        self.stdout.write(
            f"Sign in as {name} with the password {password} (shown only now), or sign up on the page."
        )
        self.stdout.flush()
        return True

    def _collect_static(self) -> None:
        """Hashed and compressed once per version of the files."""
        manifest = settings.STATIC_ROOT / "staticfiles.json"
        newest = max(
            (
                path.stat().st_mtime
                for path in (settings.BASE / "chat" / "static").rglob("*")
                if path.is_file()
            ),
            default=0,
        )
        if not manifest.exists() or manifest.stat().st_mtime < newest:
            call_command("collectstatic", interactive=False, verbosity=0, clear=True)

    def _start_local_model(self) -> local_model.LocalModel | local_model.Absent:
        if not settings.LOCAL_MODEL:
            return local_model.Absent("it is switched off (GYMNASIA_LOCAL_MODEL)")
        return local_model.start(data=settings.DATA)

    def _greet(
        self, address: str, local: local_model.LocalModel | local_model.Absent, *, newcomer: bool
    ) -> None:
        where = (
            f"{settings.PUBLIC_ORIGIN}/, served from {address}" if settings.PUBLIC_ORIGIN else f"{address}/"
        )
        lines = [f"Gymnasia is at {where}  (Ctrl-C ends it)", *settings.ODDITIES]
        if not newcomer:
            lines += ["Sign in with your account, or sign up on the page."]
        if isinstance(local, local_model.Absent):
            lines += [f"The local model cannot run here: {local.reason}."]
            if not catalogue.endpoints():
                lines += ["No provider is set up either: give a key, such as OPENAI_API_KEY (see README.md)."]
        else:
            lines += [f"Local model: {local.model} (small, English only); loading goes on in the background."]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()
