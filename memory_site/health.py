"""Liveness and readiness.

If a required part fails, the site is not ready (503). If an optional part fails, the site stays
ready and names it in `degraded`, with the same words as the answers of the tools.
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


class SitePart(NamedTuple):
    name: str
    probe: Callable[[], object]
    is_required: bool
    degraded_name: str = ""


def probe_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def probe_migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise RuntimeError("migrations are waiting: run manage.py migrate")


def probe_embedder() -> None:
    get_embedder("lore").probe()


def probe_broker() -> None:
    with celery_app.connection_for_write() as link:
        link.ensure_connection(max_retries=0, timeout=2)


def probe_graph() -> None:
    if probe := getattr(settings, "GRAPH_HEALTH_PROBE", ""):
        import_string(probe)()


PARTS = (
    SitePart("database", probe_database, is_required=True),
    SitePart("migrations", probe_migrations, is_required=True),
    SitePart("embedder", probe_embedder, is_required=False, degraded_name="vector"),
    SitePart("broker", probe_broker, is_required=False, degraded_name="worker"),
    SitePart("graph", probe_graph, is_required=False, degraded_name="graph"),
)


def is_failing(part: SitePart) -> bool:
    try:
        part.probe()
    except Exception:  # a probe may raise anything; all of it means that the part does not answer
        logger.warning("health: %s does not answer", part.name, exc_info=True)
        return True
    return False


@never_cache
@require_safe
def live(_request: HttpRequest) -> JsonResponse:
    """Answer that the process runs. It checks nothing else: a failed database must not make a
    supervisor restart the web process.
    """
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(_request: HttpRequest) -> JsonResponse:
    failing = [part for part in PARTS if is_failing(part)]
    ok = not any(part.is_required for part in failing)
    states = {part.name: "down" if part in failing else "ok" for part in PARTS}
    degraded = [part.degraded_name for part in failing if part.degraded_name]
    body = {"status": "ready" if ok else "not ready", "parts": states, "degraded": degraded}
    return JsonResponse(body, status=200 if ok else 503)
