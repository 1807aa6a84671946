"""`manage.py reindex` mends the index, and `--check` says where it is wrong."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from chat.models import IndexRow
from tests.rows import person, sent


@pytest.mark.django_db
def test_reindex() -> None:
    """The check fails until the index was made right; then both say so."""
    sent(person(), "Where do herons sleep?")
    IndexRow.objects.all().delete()
    with pytest.raises(CommandError, match="differs from the messages: 1 missing, 0 stray, 0 stale"):
        call_command("reindex", "--check")
    out = StringIO()
    call_command("reindex", stdout=out)
    call_command("reindex", "--check", stdout=out)
    assert out.getvalue() == (
        "search index made right: 1 missing, 0 stray, 0 stale\nsearch index right: 0 missing, 0 stray, 0 stale\n"
    )
