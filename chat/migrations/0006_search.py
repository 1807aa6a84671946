"""What makes the search index quick: on SQLite a full-text table that triggers keep with `chat_indexrow`, whoever writes it;
on PostgreSQL an index of trigrams, where the server has `pg_trgm` and lets us use it (without it the rows of a person are
compared one by one).

SQLite makes a table anew to alter it and drops its triggers: a later migration that alters `IndexRow` must make them again.
`tests/test_search.py` fails where they are missing, and `manage.py reindex --check` says so.
"""

from django.db import DatabaseError, migrations, transaction

SQLITE = (
    "CREATE VIRTUAL TABLE chat_indexrow_fts USING fts5("
    "folded, content='chat_indexrow', content_rowid='id', tokenize='trigram case_sensitive 1', detail='full')",
    "CREATE TRIGGER chat_indexrow_comes AFTER INSERT ON chat_indexrow BEGIN"
    " INSERT INTO chat_indexrow_fts(rowid, folded) VALUES (new.id, new.folded); END",
    "CREATE TRIGGER chat_indexrow_goes AFTER DELETE ON chat_indexrow BEGIN"
    " INSERT INTO chat_indexrow_fts(chat_indexrow_fts, rowid, folded) VALUES ('delete', old.id, old.folded); END",
    "CREATE TRIGGER chat_indexrow_changes AFTER UPDATE OF id, folded ON chat_indexrow BEGIN"
    " INSERT INTO chat_indexrow_fts(chat_indexrow_fts, rowid, folded) VALUES ('delete', old.id, old.folded);"
    " INSERT INTO chat_indexrow_fts(rowid, folded) VALUES (new.id, new.folded); END",
)
SQLITE_BACK = (
    "DROP TRIGGER chat_indexrow_changes",
    "DROP TRIGGER chat_indexrow_goes",
    "DROP TRIGGER chat_indexrow_comes",
    "DROP TABLE chat_indexrow_fts",
)
POSTGRESQL = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX chat_indexrow_trigrams ON chat_indexrow USING gin (folded gin_trgm_ops)",
)


def make(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor == "sqlite":
        for statement in SQLITE:
            schema_editor.execute(statement)
    elif connection.vendor == "postgresql":
        try:
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                for statement in POSTGRESQL:
                    cursor.execute(statement)
        except DatabaseError:
            pass  # not installed on that server, or not for this role


def unmake(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor == "sqlite":
        for statement in SQLITE_BACK:
            schema_editor.execute(statement)
    elif connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS chat_indexrow_trigrams")


class Migration(migrations.Migration):
    dependencies = [("chat", "0005_organising")]

    operations = [migrations.RunPython(make, unmake)]
