"""What people changed here since an entry was imported stays when its file is imported again."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from knowledge.importers.drafts import LoreDraft
from knowledge.models import Lore
from knowledge.schemas import LoreIn

REASONS = ("import", "import undone")
"""An undone import put back what stood there before, which is no edit of a person either."""
FIELDS = (
    *("title", "body", "aliases", "tags", "folder", "language", "extra"),
    *("in_world_at", "in_world_label", "in_world_until", "in_world_until_label"),
)


def last_imported(entries: Iterable[Lore]) -> dict[UUID, Any]:
    """The versions that the last import of each entry has left; none for one that was written
    here."""
    versions = Lore.history.filter(
        id__in=[entry.pk for entry in entries], history_change_reason__in=REASONS
    )
    newest = versions.order_by("id", "-history_date", "-history_id").distinct("id")
    return {version.id: version for version in newest}


def keep_edits(draft: LoreDraft, row: Lore, imported: Any) -> tuple[LoreDraft, bool]:
    """Return the draft with what was changed in `row` since the version `imported`, and whether the
    file has changed the same fields differently."""
    entry = draft.entry
    values: dict[str, Any] = {}
    is_disputed = False
    for name in entry.model_fields_set.intersection(FIELDS):
        here, then, in_file = (getattr(each, name) for each in (row, imported, entry))
        if here not in (then, in_file):
            values[name] = here
            is_disputed = is_disputed or in_file != then
    if (row.kind, row.custom_kind_id) != (imported.kind, imported.custom_kind_id):
        values["kind"] = row.kind
        values["custom_kind"] = row.custom_kind.slug if row.custom_kind else None
    if not values:
        return draft, False
    fields = {**entry.model_dump(exclude_unset=True), **values}
    return replace(draft, entry=LoreIn.model_validate(fields)), is_disputed
