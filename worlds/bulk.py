"""Write many things with a report on each; all or none on request."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from django.db import transaction
from pydantic import BaseModel, ValidationError

from retrieval.errors import Invalid, Problem

Write = Callable[[Any], tuple[str, str]]
"""Writes one item; returns its id and the outcome."""


class ItemReport(BaseModel):
    index: int
    status: Literal["ok", "failed", "rolled_back"]
    id: str = ""
    outcome: str = ""
    code: str = ""
    detail: str = ""
    candidates: list[str] = []


class BulkReport(BaseModel):
    stored: int
    failed: int
    items: list[ItemReport]


def write_all(items: Sequence[Any], write: Write, *, atomic: bool) -> BulkReport:
    """Write each item in its own savepoint; with `atomic`, none when one fails."""
    with transaction.atomic():
        reports = [write_item(index, item, write) for index, item in enumerate(items)]
        failed = sum(report.status == "failed" for report in reports)
        if atomic and failed:
            transaction.set_rollback(True)
            for report in reports:
                report.status = "rolled_back" if report.status == "ok" else "failed"
    stored = sum(report.status == "ok" for report in reports)
    return BulkReport(stored=stored, failed=failed, items=reports)


def write_item(index: int, item: Any, write: Write) -> ItemReport:
    try:
        with transaction.atomic():
            name, outcome = write(item)
    except (Problem, ValidationError) as error:
        problem = error if isinstance(error, Problem) else to_invalid(error)
        texts = {"code": problem.code, "detail": problem.detail}
        return ItemReport(
            index=index, status="failed", candidates=list(problem.candidates), **texts
        )
    return ItemReport(index=index, status="ok", id=name, outcome=outcome)


def to_invalid(error: ValidationError) -> Invalid:
    """Return the first five errors of Pydantic in one line."""
    lines = (f"{'.'.join(map(str, e['loc'])) or 'item'}: {e['msg']}" for e in error.errors()[:5])
    return Invalid("; ".join(lines))
