"""OpenTelemetry, wired once per process: OTLP export when an endpoint is configured, Prometheus
text when enabled.

Services use the OpenTelemetry API directly; without this configuration it does nothing. Attributes
are counts and names, never a player's text.
"""

import hmac

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from opentelemetry import metrics, trace
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from memory_site.site_metrics import create_gauges
from memory_site.version import VERSION


def configure() -> None:
    """Set the providers that the settings ask for. Called once, when the site is ready."""
    resource = Resource.create(
        {"service.name": settings.OTEL_SERVICE_NAME, "service.version": VERSION}
    )
    readers: list[MetricReader] = [PrometheusMetricReader()] if settings.METRICS else []
    if endpoint := settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        # Most sites have no endpoint, and their processes start sooner without these imports.
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter(f"{endpoint}/v1/metrics")))
        tracing = TracerProvider(resource=resource)
        tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))
        trace.set_tracer_provider(tracing)
    if readers:
        metrics.set_meter_provider(MeterProvider(metric_readers=readers, resource=resource))
        create_gauges()


def prometheus_text(request: HttpRequest) -> HttpResponse:
    """Answer /metrics: 404 unless METRICS is set; when METRICS_TOKEN is set, only its bearer."""
    if not settings.METRICS:
        raise Http404
    header, token = request.headers.get("Authorization", ""), settings.METRICS_TOKEN
    # Bytes: of strings only ASCII can be compared, and anybody may send others.
    if token and not hmac.compare_digest(header.encode(), f"Bearer {token}".encode()):
        return HttpResponse(status=401, headers={"WWW-Authenticate": 'Bearer realm="metrics"'})
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)
