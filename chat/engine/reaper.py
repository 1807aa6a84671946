"""Looks after what lost its runner, in every process, with or without anybody's browser open.

Takes nothing but the clock; gives ended generations and orphans to the engine of this process. What is lost, overdue or
orphaned is decided by one verb (`generations.sweep`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from chat import generations, retention
from chat.models import Generation
from chat.running import Ended

log = logging.getLogger(__name__)


async def sweep_forever(
    db: Callable[..., Awaitable[Any]],
    *,
    interval_s: float,
    running_here: Callable[[], Collection[UUID]],
    ended: Callable[[Ended], Awaitable[None]],
    orphan: Callable[[Generation], None],
) -> None:
    """Sweep once per interval until cancelled; a database that is away is asked again at the next one."""
    while True:
        try:
            swept: generations.Swept = await db(generations.sweep, running_here=running_here())
        except (DatabaseError, InterfaceError):
            log.exception("the sweep failed and is tried again")
        else:
            for row in swept.ended:
                log.warning("generation %s ended by the reaper: %s", row.pk, row.reason)
                await ended(Ended(row))
            for row in swept.orphans:
                orphan(row)
        try:
            await db(retention.purge)
        except (DatabaseError, InterfaceError):
            log.exception("what is over its time could not be taken away, and is tried again")
        await asyncio.sleep(interval_s)
