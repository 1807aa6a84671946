"""What every server makes on its first start, made once and copied: the migrated database and the collected static files.

Takes a folder for data, gives it filled; what a folder has already is left as it is. Migrating and compressing cost seconds
of a processor, and dozens of servers are started; the first start itself is tried in `tests/management/test_serve.py`. As a
program it fills the folder of its environment.
"""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATABASE, STATIC = "gymnasia.sqlite3", "static"


@functools.cache
def _template() -> Path:
    """Made when the first server asks, gone with this process."""
    folder = Path(tempfile.mkdtemp(prefix="prepared-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    names = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")
    environ = {name: os.environ[name] for name in names if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "tests.fakes.prepared"],
        cwd=ROOT,
        env={**environ, "GYMNASIA_DATA": str(folder), "GYMNASIA_LOCAL_MODEL": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def fill(data: Path) -> None:
    """Put into a folder what a server would make there first."""
    template = _template()
    if not (data / DATABASE).exists():
        shutil.copyfile(template / DATABASE, data / DATABASE)
    if not (data / STATIC).exists():
        # With their times: a server collects anew what is older than its source.
        shutil.copytree(template / STATIC, data / STATIC)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gymnasia.settings")
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # all of it stands in the one file that is copied
    connection.close()
    call_command("collectstatic", interactive=False, verbosity=0)


if __name__ == "__main__":
    main()
