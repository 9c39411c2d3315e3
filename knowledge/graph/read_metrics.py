"""The counter of graph reads: by store, operation and outcome."""

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import DriverError, Neo4jError
from opentelemetry import metrics

from knowledge.graph.protocol import TooBroad
from retrieval.errors import NotFound

POSTGRES, NEO4J = "postgres", "neo4j"
_request_counter = metrics.get_meter("memory37").create_counter("memory37.graph.requests")
OUTCOMES: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (NotFound, "not_found"),
    (TooBroad, "too_broad"),
    ((DriverError, Neo4jError, OSError), "down"),  # TimeoutError is an OSError
)


def count_read(store: str, operation: str, outcome: str = "ok") -> None:
    """Count one read. Outcomes: `ok`, `not_found`, `too_broad`, `down`, `error`; of a read that
    Neo4j was not asked for, `behind` or `backing_off`; of `assert`, what it answered."""
    _request_counter.add(1, {"store": store, "operation": operation, "outcome": outcome})


@contextmanager
def counted_read(store: str, operation: str) -> Iterator[None]:
    """Count the read in this block with its outcome."""
    try:
        yield
    except Exception as error:
        outcomes = (name for kinds, name in OUTCOMES if isinstance(error, kinds))
        count_read(store, operation, next(outcomes, "error"))
        raise
    count_read(store, operation)
