"""Counters and a span for every call of a model (requirement 1.10). A no-op until an SDK is
configured."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry import metrics, trace

_tracer = trace.get_tracer("memory37.embed")
_meter = metrics.get_meter("memory37.embed")
_calls = _meter.create_counter("memory37.embed.calls", description="Calls of the embedding model")
_tokens = _meter.create_counter("memory37.embed.tokens", description="Tokens embedded")


@dataclass
class Usage:
    tokens: int = 0


@contextmanager
def record_embedding(name: str, *, op: str, texts: int) -> Iterator[Usage]:
    """Time one call; the caller fills in the tokens. Attributes are counts and names, never
    text."""
    attributes = {"model": name, "op": op}
    usage = Usage()
    with _tracer.start_as_current_span(
        "memory37.embed", attributes={**attributes, "texts": texts}
    ) as span:
        try:
            yield usage
        finally:
            span.set_attribute("tokens", usage.tokens)
            _calls.add(1, attributes)
            _tokens.add(usage.tokens, attributes)
