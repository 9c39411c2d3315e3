"""Save rules and lore: row, history and passages in one transaction.

The caller enqueues the embedding after commit (`embed_soon`); a periodic sweep embeds the rest.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from knowledge.models import Lore, Rule
from knowledge.name_matching import clear_shared_names
from knowledge.passages import write_lore_passages, write_rule_passages
from retrieval.errors import Conflict, Invalid
from retrieval.indexing import Chunk
from retrieval.text import name_keys

Outcome = Literal["created", "changed", "unchanged"]
AnyEntry = TypeVar("AnyEntry", Lore, Rule)

LORE_FIELDS = (
    *("slug", "kind", "title", "body", "aliases", "tags", "language", "status", "author"),
    *("in_world_at", "in_world_label", "in_world_until", "in_world_until_label"),
    *("visibility", "known_to", "campaign", "overrides", "origin", "extra"),
)
RULE_FIELDS = (
    *("key", "document", "kind", "title", "body", "breadcrumb", "aliases", "language", "data"),
    *("visibility", "known_to"),
)
CONTENT_FIELDS: dict[type[Any], tuple[str, ...]] = {Lore: LORE_FIELDS, Rule: RULE_FIELDS}
BATCH = 500
CONSTRAINTS = {
    "lore_slug_in_canon": "This slug is taken by another canon entry of the world.",
    "lore_slug_in_campaign": "This slug is taken by another entry of the campaign.",
    "lore_overridden_once_in_campaign": "This campaign already overrides that entry.",
    "lore_overrides_in_campaign": "Only an entry of a campaign can override canon: name it.",
    "lore_until_after_at": "The end of the in-world time lies before its beginning.",
    "rule_shared": "This rule id is taken.",
    "rule_in_world": "This rule id is taken in this world.",
}


def save_lore(entry: Lore, *, reason: str = "", chunks: Sequence[Chunk] | None = None) -> Outcome:
    """Save a new or changed entry. Raises `Invalid` or `Conflict`; see `save_all`."""
    return save_all([entry], reason=reason, chunks={entry.pk: chunks} if chunks else None)[0]


def save_rule(rule: Rule, *, reason: str = "", chunks: Sequence[Chunk] | None = None) -> Outcome:
    return save_all([rule], reason=reason, chunks={rule.pk: chunks} if chunks else None)[0]


def save_all(
    entries: Sequence[AnyEntry],
    *,
    reason: str = "",
    chunks: Mapping[Any, Sequence[Chunk]] | None = None,
) -> list[Outcome]:
    """Save many entries of one kind, all or none, and return the outcome of each.

    `version` grows when the content changed; an unchanged entry writes nothing. `chunks` by primary
    key are the passages of entries that were cut before; the others are cut here. Raises `Invalid`
    for a field and `Conflict` for a constraint of the database."""
    if not entries:
        return []
    _check_fields(entries)
    model = type(entries[0])
    try:
        with transaction.atomic():
            outcomes = _compare_with_rows(model, entries)
            pairs = list(zip(entries, outcomes, strict=True))
            new: list[Any] = [entry for entry, outcome in pairs if outcome == "created"]
            changed: list[Any] = [entry for entry, outcome in pairs if outcome == "changed"]
            _write(model, new, changed, reason=reason)
            write_passages: Any = write_lore_passages if model is Lore else write_rule_passages
            write_passages([*new, *changed], chunks)
    except IntegrityError as problem:
        matches = (text for name, text in CONSTRAINTS.items() if name in str(problem))
        raise Conflict(next(matches, "It conflicts with a stored row.")) from problem
    return outcomes


def _compare_with_rows(model: type[AnyEntry], entries: Sequence[AnyEntry]) -> list[Outcome]:
    """Lock the stored rows, and set version and creation time of the entries from them."""
    rows = model.objects.select_for_update().filter(pk__in=[entry.pk for entry in entries])
    rows_by_id = {row.pk: row for row in rows}
    meta: Any = model._meta
    # Ids, not related rows: comparing the rows themselves would load each of them.
    columns = [meta.get_field(name).attname for name in CONTENT_FIELDS[model]]
    outcomes: list[Outcome] = []
    for entry in entries:
        row = rows_by_id.get(entry.pk)
        if row is None:
            outcomes.append("created")
            continue
        same = all(getattr(entry, column) == getattr(row, column) for column in columns)
        entry.version = row.version if same else row.version + 1
        entry.created_at = row.created_at
        outcomes.append("unchanged" if same else "changed")
    return outcomes


def _write(model: type[Any], new: list[Any], changed: list[Any], *, reason: str) -> None:
    # bulk_update calls no pre_save, so `auto_now` does not set the time.
    for entry in changed:
        entry.updated_at = timezone.now()
    for entry in (*new, *changed):
        entry.name_keys = name_keys(entry.title, *entry.aliases)
    fields = [*CONTENT_FIELDS[model], "name_keys", "version", "updated_at"]
    history: Any = {"batch_size": BATCH, "default_change_reason": reason or None}
    bulk_create_with_history(new, model, **history)
    bulk_update_with_history(changed, model, fields, **history)
    if any(entry.world_id is None for entry in (*new, *changed)):
        # Now, for this transaction; after commit, because another thread may read the old names
        # until then.
        clear_shared_names()
        transaction.on_commit(clear_shared_names)


def _check_fields(entries: Sequence[AnyEntry]) -> None:
    """Raise `Invalid` naming every field that cannot be stored."""
    errors = []
    for number, entry in enumerate(entries):
        # Checking a relation takes a query each; the foreign keys of the database do that, too.
        relations = [field.name for field in entry._meta.fields if field.is_relation]
        try:
            entry.clean_fields(exclude=relations)
        except ValidationError as problem:
            messages = problem.message_dict.items()
            errors += [{"loc": [number, name], "msg": " ".join(texts)} for name, texts in messages]
    if errors:
        raise Invalid(f"{errors[0]['loc'][1]}: {errors[0]['msg']}", errors=errors)
