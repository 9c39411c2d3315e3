"""What the OpenTelemetry counters say: one real SDK for the test session, read as differences."""

from collections import Counter
from collections.abc import Callable

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

Counted = Callable[[], dict[str, int]]


@pytest.fixture(scope="session")
def _metric_reader() -> InMemoryMetricReader:
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    return reader


@pytest.fixture
def counted(_metric_reader: InMemoryMetricReader) -> Counted:
    """Return a function that tells by how much each counter grew since the test began."""
    before = _totals(_metric_reader)
    return lambda: dict(_totals(_metric_reader) - before)


def _totals(reader: InMemoryMetricReader) -> Counter[str]:
    totals: Counter[str] = Counter()
    data = reader.get_metrics_data()
    for resource in data.resource_metrics if data else ():
        for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
            totals[metric.name] += sum(
                int(getattr(point, "value", 0)) for point in metric.data.data_points
            )
    return totals
