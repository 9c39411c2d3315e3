"""Usage and cost of the language model: one row per call, also of failed ones, without text."""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction

from retrieval.llm.structured import text_of_answer
from retrieval.models import LanguageModelCall
from retrieval.text import count_tokens

logger = logging.getLogger(__name__)


@contextmanager
def record_call(*, model: str, purpose: str, tenant: str, mode: str) -> Iterator[LanguageModelCall]:
    """Write one row for the call made inside the block, which fills in the tokens."""
    row = LanguageModelCall(model=model, purpose=purpose, tenant=tenant, mode=mode)
    start = time.monotonic()
    try:
        yield row
    except BaseException as error:
        row.ok, row.error = False, type(error).__name__
        raise
    finally:
        row.duration_ms = int(1000 * (time.monotonic() - start))
        row.cost = compute_cost(row.tokens_in, row.tokens_out)
        write_row(row)


def note_usage(row: LanguageModelCall, answer: Any, messages: Iterable[dict[str, Any]]) -> None:
    """Copy the token counts of `answer`. Many servers of one's own send none: then they are
    estimated, so that the limits of a day hold for those, too."""
    usage = getattr(answer, "usage", None)
    row.tokens_in = int(getattr(usage, "prompt_tokens", 0) or 0)
    row.tokens_out = int(getattr(usage, "completion_tokens", 0) or 0)
    if not row.tokens_in:
        row.tokens_in = round(sum(count_tokens(str(each["content"])) for each in messages))
        row.tokens_out = round(count_tokens(text_of_answer(answer)))


def compute_cost(tokens_in: int, tokens_out: int) -> Decimal | None:
    if not (settings.LLM_PRICE_IN or settings.LLM_PRICE_OUT):
        return None
    # By way of str: Decimal(0.15) would carry the error of the float.
    price_in, price_out = (Decimal(str(p)) for p in (settings.LLM_PRICE_IN, settings.LLM_PRICE_OUT))
    cost = (tokens_in * price_in + tokens_out * price_out) / 1_000_000
    return cost.quantize(Decimal("0.000001"))


def write_row(row: LanguageModelCall) -> None:
    """Save `row`; log a failure instead of raising it."""
    # Bookkeeping must not cost the caller the answer, nor break the caller's transaction.
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except DatabaseError:
        logger.exception("The call of %s for %r is missing in the ledger", row.model, row.purpose)
