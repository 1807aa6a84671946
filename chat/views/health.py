"""Whether this process lives, and whether it should be given work."""

import shutil
from pathlib import Path

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from chat import catalogue, consumers

LEAST_ROOM_BYTES = 8 * 1024 * 1024  # a write-ahead log as it usually is, and some


@login_not_required
def healthz(_: HttpRequest) -> JsonResponse:
    """200 as long as the process answers at all."""
    return JsonResponse({"status": "ok"})


@login_not_required
def readyz(_: HttpRequest) -> JsonResponse:
    """200 when migrated and writable, the local model loaded or declared absent, and not draining; else 503 and why."""
    local = catalogue.local_state()
    checks = {"database": _database(), "local_model": local, "engine": consumers.engine_state()}
    ready = checks["database"] == "migrated" and local != "loading" and checks["engine"] == "running"
    return JsonResponse({"ready": ready, **checks}, status=200 if ready else 503)


def _database() -> str:
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return f"not reached: {type(error).__name__}"
    if waiting:
        return f"{len(waiting)} migrations to run"
    if connection.vendor != "sqlite":  # its disk is its server's to watch
        return "migrated"
    # Whatever can be read from a full disk, nobody can sign in or send anything.
    room = shutil.disk_usage(Path(connection.settings_dict["NAME"]).parent).free
    return "migrated" if room >= LEAST_ROOM_BYTES else f"no room to write: {room:,} bytes are free"
