"""The database that the tests bring: it answers, ends, comes back with what it held, and leaves nothing behind."""

import psycopg
import pytest

from tests.fakes import postgres


def test_it_comes_back_with_what_it_held() -> None:
    with postgres.running() as server:
        with psycopg.connect(server.url, autocommit=True) as first:
            first.execute("CREATE TABLE kept AS SELECT 7 AS number")
        server.stop()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.url)
        server.start()
        with psycopg.connect(server.url) as again:
            assert again.execute("SELECT number FROM kept").fetchone() == (7,)
        process, folder = server.process, server.folder
    assert process is not None
    assert (process.poll() is None, folder.exists()) == (False, False)
