"""Metrics of the whole site: requests, the state of its parts, and texts without a vector. The
others are beside what they count."""

import logging
from collections.abc import Callable, Iterable, Iterator

from django.db import DatabaseError, connections
from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions

from memory_site.health import PARTS, is_failing
from retrieval.indexing import parked_passages, pending_passages
from retrieval.models import passage_models

logger = logging.getLogger(__name__)
_meter = metrics.get_meter("memory37.site")
_duration = _meter.create_histogram(
    "memory37.http.duration", unit="s", description="Time of a request, without streams"
)


def record_request(*, method: str, status: int, seconds: float) -> None:
    _duration.record(seconds, {"method": method, "status": f"{status // 100}xx"})


def observe_parts(_options: CallbackOptions) -> Iterator[metrics.Observation]:
    """1 for each part of the site that works, 0 for one that does not."""
    for part in PARTS:
        yield metrics.Observation(0 if is_failing(part) else 1, {"part": part.name})


def observe_waiting(_options: CallbackOptions) -> Iterator[metrics.Observation]:
    for model in passage_models():
        yield metrics.Observation(
            pending_passages(model).count(), {"domain": model.search_config.domain}
        )


def observe_parked(_options: CallbackOptions) -> Iterator[metrics.Observation]:
    for model in passage_models():
        yield metrics.Observation(
            parked_passages(model).count(), {"domain": model.search_config.domain}
        )


Observe = Callable[[CallbackOptions], Iterator[metrics.Observation]]


def with_own_connection(
    observe: Observe,
) -> Callable[[CallbackOptions], Iterable[metrics.Observation]]:
    """Give the connection back afterwards: the exporter's thread lives as long as the process."""

    def observe_and_close(options: CallbackOptions) -> list[metrics.Observation]:
        try:
            return list(observe(options))
        except DatabaseError as problem:
            logger.warning("metrics: the database does not answer: %s", problem)
            return []
        finally:
            connections.close_all()

    return observe_and_close


def create_gauges() -> None:
    """Called by the process that shall observe the site, once."""
    gauges = {
        "memory37.part.up": (observe_parts, "Whether a part of the site works"),
        "memory37.passages.waiting": (observe_waiting, "Texts whose vector is not made yet"),
        "memory37.passages.parked": (observe_parked, "Texts that could not be embedded"),
    }
    for name, (observe, description) in gauges.items():
        callbacks = [with_own_connection(observe)]
        _meter.create_observable_gauge(name, callbacks, description=description)
