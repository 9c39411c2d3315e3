"""What the language model was used for and what it cost: a row per call, failed ones too, never its
text."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Count, Q, Sum

from retrieval.models import LanguageModelCall

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Spending:
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    """None when no price is set."""


@contextmanager
def record_call(*, model: str, purpose: str, mode: str) -> Iterator[LanguageModelCall]:
    """Write one row for the call made inside; it fills in the tokens."""
    row = LanguageModelCall(model=model, purpose=purpose, mode=mode)
    started = time.monotonic()
    try:
        yield row
    except GeneratorExit:  # whoever read the stream has enough
        raise
    except BaseException as error:
        row.ok, row.error = False, type(error).__name__
        raise
    finally:
        row.duration_ms = int(1000 * (time.monotonic() - started))
        row.cost = compute_cost(row.tokens_in, row.tokens_out)
        write_row(row)


def note_usage(row: LanguageModelCall, usage: Any) -> None:
    """Take the tokens from the `usage` of an answer; servers that send none leave 0."""
    row.tokens_in = int(getattr(usage, "prompt_tokens", 0) or 0)
    row.tokens_out = int(getattr(usage, "completion_tokens", 0) or 0)


def compute_cost(tokens_in: int, tokens_out: int) -> Decimal | None:
    if not (settings.LLM_PRICE_IN or settings.LLM_PRICE_OUT):
        return None
    per_million = tokens_in * Decimal(str(settings.LLM_PRICE_IN)) + tokens_out * Decimal(
        str(settings.LLM_PRICE_OUT)
    )
    return (per_million / 1_000_000).quantize(Decimal("0.000001"))


def spending(*, since: datetime, purpose: str | None = None) -> Spending:
    """Return what was used since then, for one purpose or all."""
    rows = LanguageModelCall.objects.filter(created_at__gte=since)
    if purpose is not None:
        rows = rows.filter(purpose=purpose)
    sums = rows.aggregate(
        calls=Count("pk"),
        failed=Count("pk", filter=Q(ok=False)),
        tokens_in=Sum("tokens_in", default=0),
        tokens_out=Sum("tokens_out", default=0),
        cost=Sum("cost"),
    )
    return Spending(**sums)


def write_row(row: LanguageModelCall) -> None:
    """The ledger must not cost an answer: a row that cannot be written is logged."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except DatabaseError:
        logger.exception("The call of %s for %r is missing in the ledger", row.model, row.purpose)
