"""An import from the arrival of its file to its report, off the request's thread.

Takes an uploaded file, keeps it in the data folder while it is read; gives a row of `Import` that tells how far it is. A
conversation is a transaction: nothing is half there. If the process dies, the row's beat stops and the page says so; the
same file can then be sent again, and nothing comes twice.
"""

import datetime as dt
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from chat.attachments import plain_name
from chat.importing import container
from chat.importing.container import NotTaken, Refused
from chat.importing.keeping import keep
from chat.importing.shape import NotReadable, Talk
from chat.models import Import

log = logging.getLogger(__name__)

SILENT_S = 60
MOST_TOLD = 100
# A file of so many that cannot be read, one after the other, is of something else.
MOST_REFUSED_ON_END = 1_000
TELL_S = 1.0
# An archive of text is about a fifth of it.
EXPANSION = 5
_one_at_a_time = threading.Lock()


def begin(
    user: AbstractBaseUser,
    name: str,
    pieces: Iterable[bytes],
    *,
    key: str = "",
    launch: "Callable[[UUID], None] | None" = None,
) -> Import:
    """Keep the file and have it read after the commit. `key` is the form's own: the same file that it brings a second time
    is the same import."""
    row = Import(user_id=user.pk, name=plain_name(name), size=0)
    path = _path(row.pk)
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear(path.parent)
    digest = sha256(f"{user.pk}\x1f{key}\x1f{row.name}\x1f".encode("utf-8", "replace"))
    with path.open("wb") as file:
        for piece in pieces:
            row.size += file.write(piece)
            digest.update(piece)
    if key:
        row.pk = UUID(bytes=digest.digest()[:16])
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            path.unlink()
            return Import.objects.get(pk=row.pk)
        path.rename(_path(row.pk))
    else:
        row.save()
    transaction.on_commit(lambda: (launch or in_background)(row.pk))
    return row


def in_background(import_id: UUID) -> None:
    """On a thread that does not keep the process from ending; imports of one process are read one after the other."""
    threading.Thread(target=_alone, args=(import_id,), name="import", daemon=True).start()


def _alone(import_id: UUID) -> None:
    try:
        while not _one_at_a_time.acquire(timeout=SILENT_S / 3):
            Import.objects.filter(pk=import_id).update(beat=timezone.now())
        try:
            run(import_id)
        finally:
            _one_at_a_time.release()
    except DatabaseError:
        log.exception("import %s was broken off", import_id)
    finally:
        connection.close()


def run(import_id: UUID, *, clock: Callable[[], float] = time.monotonic) -> None:
    """Read the file to its end, conversation by conversation; the row tells how far it is, each second."""
    row = Import.objects.select_related("user").filter(pk=import_id).first()
    path = _path(import_id)
    if row is None:
        path.unlink(missing_ok=True)
        return
    left_out: Counter[str] = Counter()
    told = -TELL_S
    on_end = 0
    try:
        with path.open("rb") as file:
            most = EXPANSION * settings.GYMNASIA.max_import_bytes
            for found in container.read(file, most_bytes=most, now=timezone.now()):
                refused = row.refused
                left_out += _take(row, found)
                on_end = on_end + 1 if row.refused > refused else 0
                if on_end >= MOST_REFUSED_ON_END:
                    raise NotTaken("refused")
                if clock() - told >= TELL_S:
                    if not _tell(row, left_out):
                        return  # its person is gone
                    told = clock()
    except NotTaken as error:
        row.fault = error.why
    except DatabaseError:
        if not Import.objects.filter(pk=row.pk).exists():
            return  # its person went in mid-conversation
        raise
    except Exception:  # a fault of ours, or of the disk: whoever waits for the report is told
        log.exception("the file of import %s cannot be read", import_id)
        row.fault = "lost"
    finally:
        path.unlink(missing_ok=True)
    if not (row.fault or row.came or row.already or row.refused):
        row.fault = "nothing"
    row.ended = timezone.now()
    _tell(row, left_out)


def is_interrupted(row: Import, now: dt.datetime) -> bool:
    """Whether nobody reads it any more, though it has no end."""
    return row.ended is None and now - row.beat > dt.timedelta(seconds=SILENT_S)


def _take(row: Import, found: Talk | Refused) -> Counter[str]:
    if isinstance(found, Refused):
        _refuse(row, found.title, found.why)
        return Counter()
    try:
        kept = keep(row.user, found)
    except NotReadable as error:
        _refuse(row, found.title, error.why)
        return Counter()
    if kept.conversation is None:
        row.already += 1
        return Counter()
    row.came += 1
    row.messages += kept.messages
    return found.left_out + Counter({"file": kept.files_left_out})


def _refuse(row: Import, title: str, why: str) -> None:
    row.refused += 1
    if len(row.refusals) < MOST_TOLD:
        row.refusals.append([title, why])


def _tell(row: Import, left_out: Counter[str]) -> bool:
    """An update: a row that is gone with its person is not made again. Says whether it is still there."""
    found = Import.objects.filter(pk=row.pk).update(
        beat=timezone.now(),
        ended=row.ended,
        came=row.came,
        messages=row.messages,
        already=row.already,
        refused=row.refused,
        refusals=row.refusals,
        left_out=dict(left_out),
        fault=row.fault,
    )
    return found > 0


def _clear(folder: Path) -> None:
    """Throw away what a process left behind that died while it read."""
    day_ago = timezone.now().timestamp() - 86_400
    for path in folder.glob("*.json"):
        if path.stat().st_mtime < day_ago:
            path.unlink(missing_ok=True)


def _path(import_id: UUID) -> Path:
    return Path(settings.DATA) / "imports" / f"{import_id}.json"
