"""Liveness and readiness.

If a required part fails, the site is not ready (503). If an optional part fails, the site stays
ready and names it in `degraded`, with the same words as the answers of the tools.
"""

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from knowledge.graph.neo4j_driver import site_neo4j
from knowledge.graph.projection_models import GraphMirror
from memory_site.broker import probe_database
from memory_site.celery import app as celery_app
from memory_site.database.replica import require_replica
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
    needs_database: bool = False
    """Whether nobody knows its state while the database does not answer."""


def probe_migrations() -> None:
    if waiting := migration_state().waiting:
        raise RuntimeError(f"{len(waiting)} migrations are waiting, first {waiting[0]}")


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
    SitePart(
        "database",
        probe_database,
        is_required=True,
        reason="The database does not answer: start the server that DATABASE_URL names. What it "
        "says is in the log and in manage.py doctor.",
    ),
    SitePart(
        "migrations",
        probe_migrations,
        is_required=True,
        needs_database=True,
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
        needs_database=True,
        degraded_name="vector",
        reason="The stored vectors are of another model than this process runs: "
        "run manage.py switch_model with the new settings, then restart.",
    ),
    SitePart(
        "broker",
        probe_broker,
        is_required=False,
        degraded_name="worker",
        reason="The broker does not answer, or does not let the site in: start the server that "
        "CELERY_BROKER_URL names, or correct it. Work "
        "waits as rows until it does.",
    ),
    SitePart(
        "worker",
        probe_worker,
        is_required=False,
        needs_database=True,
        degraded_name="worker",
        reason="No worker runs: new texts are found by their words alone, imports, archives and "
        "webhooks wait. Start one; under make up and systemd it is started again within seconds.",
    ),
    SitePart(
        "beat",
        probe_beat,
        is_required=False,
        needs_database=True,
        degraded_name="beat",
        reason="No scheduler runs: nothing is swept, expired or mirrored until you start one.",
    ),
    SitePart(
        "graph",
        probe_graph,
        is_required=False,
        needs_database=True,
        degraded_name="graph",
        reason="Neo4j does not answer or was never filled: PostgreSQL answers instead.",
    ),
    SitePart(
        "replica",
        require_replica,
        is_required=False,
        degraded_name="replica",
        reason="The replica of DATABASE_REPLICA_URL is away or more than a second behind: the "
        "primary answers until it has caught up.",
    ),
)


def examine_parts() -> Iterator[tuple[SitePart, Exception | None]]:
    """Probe the parts, with what is wrong with each; while the database does not answer, without
    those of which only it knows."""
    is_without_database = False
    for part in PARTS:
        if not (part.needs_database and is_without_database):
            problem = failure_of(part)
            is_without_database |= part.probe is probe_database and problem is not None
            yield part, problem


def failure_of(part: SitePart) -> Exception | None:
    """Return why the part does not work; None if it does."""
    try:
        part.probe()
    except Exception as problem:  # a probe may raise anything
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
    problems = {part.name: problem for part, problem in examine_parts()}
    failing = [part for part in PARTS if problems.get(part.name)]
    for part in failing:
        logger.warning("health: %s does not work: %s", part.name, problems[part.name])
    ok = not any(part.is_required for part in failing)
    states = {part.name: "unknown" for part in PARTS if part.name not in problems}
    states |= {name: "down" if problem else "ok" for name, problem in problems.items()}
    degraded = dict.fromkeys(part.degraded_name for part in failing if part.degraded_name)
    body = {
        "status": "ready" if ok else "not ready",
        "parts": states,
        "degraded": list(degraded),
        "reasons": {part.name: part.reason for part in failing},
    }
    return JsonResponse(body, status=200 if ok else 503)
