"""Metrics of the whole site: requests, the state of its parts, and texts without a vector. The
others are beside what they count."""

import logging
from collections.abc import Callable, Iterable, Iterator

from django.db import DatabaseError, connections
from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions

from memory_site.health import examine_parts
from retrieval.indexing import parked_passages, pending_passages
from retrieval.models import passage_models

logger = logging.getLogger(__name__)
_meter = metrics.get_meter("memory37.site")
# The default boundaries are meant for milliseconds: all that takes less than five seconds would be
# in one bucket.
DURATION_BOUNDARIES = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_duration = _meter.create_histogram(
    "memory37.http.duration",
    unit="s",
    description="Time of a request, without streams",
    explicit_bucket_boundaries_advisory=DURATION_BOUNDARIES,
)


def record_request(*, method: str, status: int, seconds: float) -> None:
    _duration.record(seconds, {"method": method, "status": f"{status // 100}xx"})


def observe_parts(_options: CallbackOptions) -> Iterator[metrics.Observation]:
    """1 for each part of the site that works, 0 for one that does not."""
    for part, problem in examine_parts():
        yield metrics.Observation(0 if problem else 1, {"part": part.name})


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
