"""Write many things with a report on each; all or none on request."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Literal, TypeVar

from django.conf import settings
from django.db import transaction
from pydantic import BaseModel, Field, ValidationError

from retrieval.errors import Invalid, Problem
from worlds.validation_words import faults_of, summary_of

Item = TypeVar("Item", bound=BaseModel)


class ItemReport(BaseModel):
    index: int
    status: Literal["ok", "failed", "rolled_back"]
    id: str = Field(default="", description="Empty when nothing was stored.")
    outcome: str = Field(default="", description="What happened to the row; empty: nothing did.")
    code: str = ""
    detail: str = ""
    candidates: list[str] = []
    warnings: list[str] = Field(
        default=[], description="What the writer of a stored item should look at."
    )


class BulkReport(BaseModel):
    stored: int
    failed: int
    items: list[ItemReport]


def write_all(
    items: Sequence[Any],
    schema: type[Item],
    write: Callable[[Item], Any],
    *,
    atomic: bool,
    id_field: str = "id",
    warn: Callable[[Item], list[str]] | None = None,
) -> BulkReport:
    """Validate each item as `schema` and write it in its own savepoint; with `atomic`, none when
    one fails. `write` returns an object with `outcome` and the item's id in `id_field`. `warn` is
    asked about the stored items when all are written, because they may name each other."""

    entries: list[Item] = []

    def write_item(item: Any) -> Change:
        entry = schema.model_validate(item)
        result = write(entry)
        entries.append(entry)
        return getattr(result, id_field), result.outcome

    report = report_on_all(items, write_item, atomic=atomic)
    if warn:
        # None are left of the entries when one has failed and `atomic` rolled all back.
        stored = [each for each in report.items if each.status == "ok"]
        for each, entry in zip(stored, entries, strict=False):
            each.warnings = warn(entry)
    return report


def change_all(
    ids: Sequence[str], change: Callable[[str], Any], outcome: str, *, atomic: bool
) -> BulkReport:
    """Call `change` with each id in its own savepoint; with `atomic`, none stands when one fails.
    `outcome` is the word for what was done."""

    def change_row(row_id: str) -> Change:
        change(row_id)
        return row_id, outcome

    return report_on_all(ids, change_row, atomic=atomic)


Change = tuple[str, str]
"""The id of a row, and what happened to it."""


def report_on_all(
    items: Sequence[Any],
    change: Callable[[Any], Change],
    *,
    atomic: bool,
    seconds: float | None = None,
) -> BulkReport:
    """Items that come after `seconds` (default: BULK_SECONDS) are not tried, and told so."""
    deadline = monotonic() + (settings.BULK_SECONDS if seconds is None else seconds)

    def change_item(index: int, item: Any) -> ItemReport:
        if monotonic() > deadline:
            detail = "Not tried: the items before took too long. Send this one again."
            return ItemReport(index=index, status="failed", code="time_used_up", detail=detail)
        try:
            with transaction.atomic():
                item_id, outcome = change(item)
        except (Problem, ValidationError) as error:
            problem = error if isinstance(error, Problem) else to_invalid(error)
            fields: dict[str, Any] = {"code": problem.code, "detail": problem.detail}
            fields |= {"status": "failed", "candidates": list(problem.candidates)}
            return ItemReport(index=index, **fields)
        return ItemReport(index=index, status="ok", id=item_id, outcome=outcome)

    with transaction.atomic():
        reports = [change_item(index, item) for index, item in enumerate(items)]
        failure_count = sum(report.status == "failed" for report in reports)
        if atomic and failure_count:
            transaction.set_rollback(True)
            reports = [roll_back(report) for report in reports]
    stored_count = sum(report.status == "ok" for report in reports)
    return BulkReport(stored=stored_count, failed=failure_count, items=reports)


def roll_back(report: ItemReport) -> ItemReport:
    """Return the report on an item of which nothing stands: it has neither an id nor an outcome."""
    is_stored = report.status == "ok"
    return ItemReport(index=report.index, status="rolled_back") if is_stored else report


def to_invalid(error: ValidationError) -> Invalid:
    """Return the first five errors of Pydantic in one line, in the words of a single write."""
    return Invalid(summary_of(faults_of(error.errors()), "item"))
