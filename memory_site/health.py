"""Is the process alive, and is the site ready to answer?

A part that the site cannot answer without makes it not ready (503). A part that answers can do without is named in
`degraded`, and the site stays ready: the same words as in the answers themselves.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from memory_site.celery import app as celery_app
from retrieval.embedders import get_embedder

logger = logging.getLogger(__name__)


class Part(NamedTuple):
    name: str
    probe: Callable[[], object]
    needed: bool
    degrades: str = ""


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise RuntimeError("migrations are waiting: run manage.py migrate")


def _embedder() -> None:
    get_embedder("lore").probe()


def _broker() -> None:
    with celery_app.connection_for_write() as link:
        link.ensure_connection(max_retries=0, timeout=2)


def _graph() -> None:
    if probe := getattr(settings, "GRAPH_HEALTH_PROBE", ""):
        import_string(probe)()


PARTS = (
    Part("database", _database, needed=True),
    Part("migrations", _migrations, needed=True),
    Part("embedder", _embedder, needed=False, degrades="vector"),
    Part("broker", _broker, needed=False, degrades="worker"),
    Part("graph", _graph, needed=False, degrades="graph"),
)


def _fails(part: Part) -> bool:
    try:
        part.probe()
    except Exception:  # whatever a probe raises means the same: that part does not answer
        logger.warning("health: %s does not answer", part.name, exc_info=True)
        return True
    return False


@never_cache
@require_safe
def live(_request: HttpRequest) -> JsonResponse:
    """The process answers. Nothing else is asked, so a database that is down restarts no web process."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(_request: HttpRequest) -> JsonResponse:
    failing = [part for part in PARTS if _fails(part)]
    ok = not any(part.needed for part in failing)
    states = {part.name: "down" if part in failing else "ok" for part in PARTS}
    degraded = [part.degrades for part in failing if part.degrades]
    body = {"status": "ready" if ok else "not ready", "parts": states, "degraded": degraded}
    return JsonResponse(body, status=200 if ok else 503)
