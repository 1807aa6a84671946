"""A folder that was filled is one that a server finds nothing to do in."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.fakes import prepared


def test_a_folder_is_filled_and_what_it_has_is_left(tmp_path: Path) -> None:
    prepared.fill(tmp_path)
    with closing(sqlite3.connect(tmp_path / prepared.DATABASE)) as connection:
        applied = {
            name for (name,) in connection.execute("SELECT name FROM django_migrations WHERE app = 'chat'")
        }
        connection.execute("CREATE TABLE kept (number)")
        connection.commit()
    migrations = {path.stem for path in (prepared.ROOT / "chat" / "migrations").glob("0*.py")}
    source = max(
        path.stat().st_mtime for path in (prepared.ROOT / "chat" / "static").rglob("*") if path.is_file()
    )
    assert applied == migrations
    assert (tmp_path / prepared.STATIC / "staticfiles.json").stat().st_mtime >= source
    prepared.fill(tmp_path)
    with closing(sqlite3.connect(tmp_path / prepared.DATABASE)) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
