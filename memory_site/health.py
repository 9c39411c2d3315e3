"""Liveness and readiness.

If a required part fails, the site is not ready (503). If an optional part fails, the site stays
ready and names it in `degraded`, with the same words as the answers of the tools.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from knowledge.graph.neo4j_driver import site_neo4j
from knowledge.graph.projection_models import GraphMirror
from memory_site.celery import app as celery_app
from memory_site.migration_state import migration_state
from memory_site.presence import is_beat_running, is_worker_running
from retrieval.embedders import get_embedder
from retrieval.models import ServingModel

logger = logging.getLogger(__name__)


class SitePart(NamedTuple):
    name: str
    probe: Callable[[], object]
    is_required: bool
    reason: str
    """Said when the probe fails: what it means and what to do. Strangers may read it, so it holds
    no address and no error of a server; those are in the log."""
    degraded_name: str = ""


def probe_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def probe_migrations() -> None:
    if waiting := migration_state().waiting:
        raise RuntimeError(f"migrations are waiting: {', '.join(waiting)}")


def probe_embedder() -> None:
    get_embedder("lore").probe()


def probe_vectors() -> None:
    for domain, in_use in ServingModel.objects.values_list("domain", "model"):
        if in_use != (own := get_embedder(domain).name):
            raise RuntimeError(f"{domain}: the vectors are of {in_use}, this process runs {own}")


def probe_broker() -> None:
    with celery_app.connection_for_write() as link:
        link.ensure_connection(max_retries=0, timeout=2)


def probe_worker() -> None:
    if not is_worker_running():
        raise RuntimeError("no worker holds its lock")


def probe_beat() -> None:
    if not is_beat_running():
        raise RuntimeError("no scheduler holds its lock")


def probe_graph() -> None:
    if neo := site_neo4j():
        neo.probe()
        if not GraphMirror.objects.exists():
            raise RuntimeError("the graph was never copied: run manage.py mirror_graph --rebuild")


PARTS = (
    SitePart("database", probe_database, is_required=True, reason="The database does not answer."),
    SitePart(
        "migrations",
        probe_migrations,
        is_required=True,
        reason="Migrations are waiting: run manage.py migrate.",
    ),
    SitePart(
        "embedder",
        probe_embedder,
        is_required=False,
        degraded_name="vector",
        reason="The embedding model does not answer: texts are found by their words alone.",
    ),
    SitePart(
        "vectors",
        probe_vectors,
        is_required=False,
        degraded_name="vector",
        reason="The stored vectors are of another model than this process runs: "
        "run manage.py switch_model with the new settings, then restart.",
    ),
    SitePart(
        "broker",
        probe_broker,
        is_required=False,
        degraded_name="worker",
        reason="The broker does not answer: work waits as rows until it does.",
    ),
    SitePart(
        "worker",
        probe_worker,
        is_required=False,
        degraded_name="worker",
        reason="No worker runs: new texts are found by their words alone, imports, archives and "
        "webhooks wait. Under make up it is started again within seconds.",
    ),
    SitePart(
        "beat",
        probe_beat,
        is_required=False,
        degraded_name="beat",
        reason="No scheduler runs: nothing is swept, expired or mirrored until one does.",
    ),
    SitePart(
        "graph",
        probe_graph,
        is_required=False,
        degraded_name="graph",
        reason="Neo4j does not answer or was never filled: PostgreSQL answers instead.",
    ),
)


def is_failing(part: SitePart) -> bool:
    return failure_of(part) is not None


def failure_of(part: SitePart) -> Exception | None:
    """Return why the part does not work; None if it does."""
    try:
        part.probe()
    except Exception as problem:  # a probe may raise anything
        logger.warning("health: %s does not answer: %s", part.name, problem)
        return problem
    return None


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
    degraded = dict.fromkeys(part.degraded_name for part in failing if part.degraded_name)
    body = {
        "status": "ready" if ok else "not ready",
        "parts": states,
        "degraded": list(degraded),
        "reasons": {part.name: part.reason for part in failing},
    }
    return JsonResponse(body, status=200 if ok else 503)
