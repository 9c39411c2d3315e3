"""The room in which rules and lore are written: row, history and passages in one transaction.

Whoever calls enqueues the embedding after commit (`retrieval`'s task); what nobody enqueues, the sweep picks up.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from knowledge.models import Lore, Rule
from knowledge.name_matching import clear_shared_names
from knowledge.passages import write_lore_passages, write_rule_passages
from retrieval.errors import Conflict, Invalid
from retrieval.text import name_keys

Outcome = Literal["created", "changed", "unchanged"]
AnyEntry = TypeVar("AnyEntry", Lore, Rule)

LORE_CONTENT = (
    "slug",
    "kind",
    "title",
    "body",
    "aliases",
    "tags",
    "language",
    "status",
    "visibility",
    "known_to",
    "author",
    "in_world_at",
    "in_world_label",
    "in_world_until",
    "in_world_until_label",
    "campaign",
    "overrides",
    "origin",
    "extra",
)
RULE_CONTENT = (
    "key",
    "document",
    "kind",
    "title",
    "body",
    "breadcrumb",
    "aliases",
    "language",
    "data",
    "visibility",
    "known_to",
)
CONTENT: dict[type[Any], tuple[str, ...]] = {Lore: LORE_CONTENT, Rule: RULE_CONTENT}
BATCH = 500


def save_lore(entry: Lore, *, reason: str = "") -> Outcome:
    """Store a new or changed entry; `version` grows when its content did. Raises `Invalid` or `Conflict`."""
    return save_all([entry], reason=reason)[0]


def save_rule(rule: Rule, *, reason: str = "") -> Outcome:
    return save_all([rule], reason=reason)[0]


def save_all(entries: Sequence[AnyEntry], *, reason: str = "") -> list[Outcome]:
    """Store many entries of one kind, all or none; say of each what became of it."""
    if not entries:
        return []
    model = type(entries[0])
    _check(entries)
    try:
        with transaction.atomic():
            outcomes = _outcomes(model, entries)
            _store(model, entries, outcomes, reason=reason)
    except IntegrityError as problem:
        raise Conflict(_explained(problem)) from problem
    return outcomes


def _outcomes(model: type[AnyEntry], entries: Sequence[AnyEntry]) -> list[Outcome]:
    """Compare with what is stored, and take the rows' locks."""
    stored = {
        row.pk: row
        for row in model.objects.select_for_update().filter(pk__in=[e.pk for e in entries])
    }
    outcomes: list[Outcome] = []
    for entry in entries:
        before = stored.get(entry.pk)
        if before is None:
            outcomes.append("created")
        else:
            same = all(_value(entry, name) == _value(before, name) for name in CONTENT[model])
            entry.version = before.version if same else before.version + 1
            entry.created_at = before.created_at
            outcomes.append("unchanged" if same else "changed")
    return outcomes


def _store(
    model: type[AnyEntry], entries: Sequence[AnyEntry], outcomes: Sequence[Outcome], *, reason: str
) -> None:
    fresh: list[Any] = [
        entry for entry, outcome in zip(entries, outcomes, strict=True) if outcome == "created"
    ]
    changed: list[Any] = [
        entry for entry, outcome in zip(entries, outcomes, strict=True) if outcome == "changed"
    ]
    for entry in changed:
        entry.updated_at = timezone.now()
    for entry in (*fresh, *changed):
        entry.name_keys = name_keys(entry.title, *entry.aliases)
    fields = [*CONTENT[model], "name_keys", "version", "updated_at"]
    bulk_create_with_history(fresh, model, batch_size=BATCH, default_change_reason=reason or None)
    bulk_update_with_history(
        changed, model, fields, batch_size=BATCH, default_change_reason=reason or None
    )
    rewrite: Any = write_lore_passages if model is Lore else write_rule_passages
    rewrite([*fresh, *changed])
    if any(entry.world_id is None for entry in (*fresh, *changed)):
        transaction.on_commit(clear_shared_names)
        clear_shared_names()


def _check(entries: Sequence[AnyEntry]) -> None:
    """Raise `Invalid` naming every field that cannot be stored."""
    errors = []
    for number, entry in enumerate(entries):
        relations = [field.name for field in entry._meta.fields if field.is_relation]
        try:
            entry.clean_fields(exclude=relations)
        except ValidationError as problem:
            errors += [
                {"loc": [number, name], "msg": " ".join(messages)}
                for name, messages in problem.message_dict.items()
            ]
    if errors:
        first = errors[0]
        raise Invalid(f"{first['loc'][1]}: {first['msg']}", errors=errors)


def _value(entry: Lore | Rule, name: str) -> Any:
    return getattr(entry, f"{name}_id" if name in ("campaign", "overrides", "document") else name)


CONSTRAINTS = {
    "lore_slug_in_canon": "This slug is taken by another canon entry of the world.",
    "lore_slug_in_campaign": "This slug is taken by another entry of the campaign.",
    "lore_overridden_once_in_campaign": "This campaign already overrides that entry.",
    "lore_overrides_in_campaign": "Only an entry of a campaign can override canon: name the campaign.",
    "lore_until_after_at": "The end of the in-world time lies before its beginning.",
    "rule_shared": "This rule id is taken.",
    "rule_in_world": "This rule id is taken in this world.",
}


def _explained(problem: IntegrityError) -> str:
    text = str(problem)
    return next(
        (said for name, said in CONSTRAINTS.items() if name in text),
        "It collides with what is stored.",
    )
