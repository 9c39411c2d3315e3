"""Save rules and lore: row, history and passages in one transaction.

The caller enqueues the embedding after commit (`embed_soon`); a periodic sweep embeds the rest."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from knowledge.entry_entities import SavedEntry, keep_entities
from knowledge.entry_facts import follow_texts
from knowledge.graph.upsert import lock_graph
from knowledge.markup_check import check_structure, require_sound_structure
from knowledge.mentions.store import are_links_postponed, resolve_again, save_links_of
from knowledge.models import Lore, Rule
from knowledge.name_matching import clear_shared_names, keys_of_entry
from knowledge.passages import write_lore_passages, write_rule_passages
from knowledge.translated_names import clear_translated_names
from retrieval.errors import Conflict, Invalid
from retrieval.indexing import Chunk
from worlds.reveals import known_to_in_force, visibility_in_force
from worlds.versions import require_version

Outcome = Literal["created", "changed", "unchanged"]
AnyEntry = TypeVar("AnyEntry", Lore, Rule)

entries_saved = Signal()
"""Sent with `entries`, rows of one model that were written; `post_save` is not sent for them."""

LORE_FIELDS = (
    *("slug", "kind", "custom_kind", "title", "body", "aliases", "tags", "language", "status"),
    *("in_world_at", "in_world_label", "in_world_until", "in_world_until_label"),
    *("visibility", "known_to", "campaign", "overrides", "folder", "author", "origin", "extra"),
)
RULE_FIELDS = (
    *("key", "document", "kind", "title", "body", "breadcrumb", "aliases", "language", "data"),
    *("visibility", "known_to", "campaign", "overrides"),
)
CONTENT_FIELDS: dict[type[Any], tuple[str, ...]] = {Lore: LORE_FIELDS, Rule: RULE_FIELDS}
NAMES = {"title", "slug", "aliases", "overrides", "campaign", "folder", "origin"}
"""Fields on which it depends what a link means."""
BATCH = 500
LONGEST_REASON = 100
"""Characters of the history's column."""
CONSTRAINTS = {
    "lore_slug_in_canon": gettext_lazy("This slug is taken by another canon entry of the world."),
    "lore_slug_in_campaign": gettext_lazy("This slug is taken by another entry of the campaign."),
    "lore_overridden_once_in_campaign": gettext_lazy("This campaign already overrides that entry."),
    "lore_overrides_in_campaign": gettext_lazy(
        "Only an entry of a campaign can override canon: name it."
    ),
    "lore_custom_kind_is_custom": gettext_lazy(
        "Only an entry of the kind custom has a kind of the world's own."
    ),
    "lore_until_after_at": gettext_lazy("The end of the in-world time lies before its beginning."),
    "rule_shared": gettext_lazy("This rule id is taken."),
    "rule_in_world": gettext_lazy("This rule id is taken in this world."),
    "rule_overridden_once_in_world": gettext_lazy(
        "Another house rule of this world replaces that rule already."
    ),
    "rule_overridden_once_in_campaign": gettext_lazy(
        "Another rule of this campaign replaces that rule already."
    ),
    "rule_overrides_in_world": gettext_lazy(
        "Only a rule of a world can replace another: name the world."
    ),
}


def save_entry(
    entry: AnyEntry,
    *,
    reason: str = "",
    chunks: Sequence[Chunk] | None = None,
    expected_version: int | None = None,
) -> Outcome:
    """Save a new or changed entry. Raises `Invalid` or `Conflict`, and `StaleVersion` when the
    stored version is not the expected one; see `save_all`."""
    return save_all(
        [entry],
        reason=reason,
        chunks={entry.pk: chunks} if chunks else None,
        expected_versions={entry.pk: expected_version},
    )[0]


def save_all(
    entries: Sequence[AnyEntry],
    *,
    reason: str = "",
    chunks: Mapping[Any, Sequence[Chunk]] | None = None,
    expected_versions: Mapping[Any, int | None] | None = None,
    with_graph: bool = True,
) -> list[Outcome]:
    """Save many entries of one kind, all or none, and return the outcome of each.

    `version` grows when the content changed; an unchanged entry writes nothing. `chunks` by primary
    key are the passages of entries that were cut before; the others are cut here.
    `expected_versions` by primary key are those that the writer has read. Lore takes its entities
    and the facts of its text along, unless the caller writes them itself (not `with_graph`).
    Raises `Invalid` for a field or a broken fence and `Conflict` for a constraint of the
    database."""
    if not entries:
        return []
    _check_fields(entries)
    model = type(entries[0])
    _check_structure(model, entries)
    try:
        with transaction.atomic():
            if model is Lore:
                lock_graphs_of(entries)
            compared = _compare_with_rows(model, entries, expected_versions or {})
            new: list[Any] = [each.entry for each in compared if each.outcome == "created"]
            updates: list[Any] = [each.entry for each in compared if each.outcome == "changed"]
            changed = set[str]().union(*(each.fields for each in compared if each.old))
            _write_rows(model, new, updates, changed, reason=reason)
            write_passages: Any = write_lore_passages if model is Lore else write_rule_passages
            write_passages([*new, *updates], chunks)
            write_links_of_entries([*new, *updates], renamed=bool(new or changed & NAMES))
            if model is Lore and with_graph:
                _take_graph_along(compared)
    except IntegrityError as problem:
        matches = (text for name, text in CONSTRAINTS.items() if name in str(problem))
        raise Conflict(str(next(matches, _("It conflicts with a stored row.")))) from problem
    return [each.outcome for each in compared]


def lock_graphs_of(entries: Sequence[Any]) -> None:
    """Lock the graphs of the worlds of canon entries. Before the rows, as every writer of both
    does: two that wait for each other would fail."""
    worlds = {entry.world_id: entry for entry in entries if entry.campaign_id is None}
    for _pk, entry in sorted(worlds.items()):
        lock_graph(entry.world)


def _take_graph_along(compared: "Sequence[Compared]") -> None:
    """Write the entities of the saved entries, and the facts that their texts state."""
    by_world: dict[Any, list[SavedEntry]] = defaultdict(list)
    for each in compared:
        if each.fields:
            saved = SavedEntry(each.entry, each.fields, each.old)
            by_world[each.entry.world_id].append(saved)
    for own in by_world.values():
        world = own[0].entry.world
        keep_entities(world, own)
        if not are_links_postponed():
            follow_texts(world, own)


def restore_entry(entry: AnyEntry, record: AnyEntry, *, reason: str) -> Outcome:
    """Give `entry` the content of `record`, an old version of it, and cut its passages anew.

    The reveal log stays in force. Raises `Conflict` when what the version refers to is gone."""
    meta: Any = entry._meta
    for name in CONTENT_FIELDS[type(entry)]:
        field = meta.get_field(name)
        value = getattr(record, field.attname)
        is_reference = field.is_relation and value is not None
        if is_reference and not field.related_model._default_manager.filter(pk=value).exists():
            raise Conflict(_("%(name)s: what this version refers to was deleted.") % {"name": name})
        setattr(entry, field.attname, value)
    if isinstance(entry, Lore):
        entry.known_to = known_to_in_force(entry, own=record.known_to)
        entry.visibility = visibility_in_force(entry, own=record.visibility)
    return save_entry(entry, reason=reason)


@dataclass(frozen=True)
class Compared:
    """An entry beside its stored row, if it has one; `fields` are the names of those that
    differ."""

    entry: Any
    outcome: Outcome
    fields: Collection[str]
    old: Any


def _compare_with_rows(
    model: type[AnyEntry],
    entries: Sequence[AnyEntry],
    expected_versions: Mapping[Any, int | None],
) -> list[Compared]:
    """Lock the stored rows, and set version and creation time of the entries from them."""
    rows = model.objects.select_for_update().filter(pk__in=[entry.pk for entry in entries])
    rows_by_id = {row.pk: row for row in rows}
    meta: Any = model._meta
    # Ids, not related rows: comparing the rows themselves would load each of them.
    columns = {name: meta.get_field(name).attname for name in CONTENT_FIELDS[model]}
    compared: list[Compared] = []
    for entry in entries:
        row = rows_by_id.get(entry.pk)
        require_version(row, expected_versions.get(entry.pk))
        if row is None:
            compared.append(Compared(entry, "created", columns.keys(), None))
            continue
        differing = {
            name
            for name, column in columns.items()
            if getattr(entry, column) != getattr(row, column)
        }
        entry.version = row.version + 1 if differing else row.version
        entry.created_at = row.created_at
        outcome: Outcome = "changed" if differing else "unchanged"
        compared.append(Compared(entry, outcome, differing, row))
    return compared


def _write_rows(
    model: type[Any], new: list[Any], updates: list[Any], changed: set[str], *, reason: str
) -> None:
    # bulk_update calls no pre_save, so `auto_now` does not set the time.
    for entry in updates:
        entry.updated_at = timezone.now()
    for entry in (*new, *updates):
        entry.name_keys = keys_of_entry(entry)
    # A statement with every column of hundreds of rows takes longer than all other work.
    fields = [*sorted(changed), "name_keys", "version", "updated_at"]
    history: Any = {"batch_size": BATCH, "default_change_reason": reason[:LONGEST_REASON] or None}
    bulk_create_with_history(new, model, **history)
    bulk_update_with_history(updates, model, fields, **history)
    entries_saved.send(model, entries=[*new, *updates])
    if any(entry.world_id is None for entry in (*new, *updates)):
        # Now for this transaction; after commit because other threads read old names until then.
        for clear in (clear_shared_names, clear_translated_names):
            clear()
            transaction.on_commit(clear)


def write_links_of_entries(entries: Sequence[AnyEntry], *, renamed: bool = True) -> None:
    """Write the links of the entries, and resolve those that name them, if they were `renamed` or
    are new. Shared rules have none. Call in the transaction that writes their passages."""
    by_world: dict[Any, list[Any]] = defaultdict(list)
    for entry in entries:
        if entry.world_id:
            by_world[entry.world_id].append(entry)
    for own in by_world.values():
        # Of the first: every other row would load the world again.
        world, ids = own[0].world, [row.pk for row in own]
        save_links_of(world, own[0]._meta.model_name, ids)
        if renamed and own[0]._meta.model is Lore:
            resolve_again(world, ids, [name for row in own for name in _names_of(row)])


def _names_of(entry: Lore) -> list[str]:
    return [entry.title, entry.slug, *entry.aliases]


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


def _check_structure(model: type[Any], entries: Sequence[AnyEntry]) -> None:
    """Raise `Invalid` for a secret that is misspelt or never closed, or an unfinished merge, in a
    new or changed text."""
    flawed = {number: entry for number, entry in enumerate(entries) if check_structure(entry.body)}
    if not flawed:
        return
    # A text that was stored with a flaw may keep it while other fields change.
    keys = [entry.pk for entry in flawed.values()]
    stored = dict(model.objects.filter(pk__in=keys).values_list("pk", "body"))
    changed = {n: each.body for n, each in flawed.items() if stored.get(each.pk) != each.body}
    require_sound_structure(changed)
