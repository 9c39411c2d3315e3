"""Undo a whole import: what it created goes, what it changed gets its old values. Rows that
somebody changed or uses since stay, and are listed, until the game master says that they should
go, too."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from art.models import Picture
from art.pictures import delete_for_good, shown_nowhere
from knowledge.entry_store import save_all
from knowledge.graph.fact_store import (
    STATEMENT_FIELDS,
    believe_again,
    replace_fact,
    retract_facts,
)
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.mentions.store import links_at_once
from knowledge.models import Lore
from memory_site.imports.decided_facts import RETRACTED
from memory_site.imports.report import MOST_LISTED
from memory_site.imports.rules import rules_in_use, undo_rules
from memory_site.imports.runs import carry_out, finish_step
from memory_site.imports.snapshots import LOADED_WITH, MODELS, mark_of, values_of
from memory_site.imports.uploads import delete_upload_after_commit
from memory_site.run_progress import ProgressWriter
from npcs.dispositions import reverse
from npcs.models import NPC, Appearance, DispositionChange
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from retrieval.errors import Problem
from retrieval.tasks import embed_soon
from worlds.erasure import permanent_deletion
from worlds.models import ImportedRow, ImportRun
from worlds.reveals import entries_in_force

State, Outcome = ImportRun.State, ImportedRow.Outcome
UNDONE_OUTCOMES = (Outcome.CREATED, Outcome.CHANGED)
ORDER = ("disposition", "relation", "npc", "entity", "lore", "picture", "rule")
"""What points to others goes first."""
REASON = "import undone"
EVERYTHING = "*"
"""Instead of ids: a page lists only the first of many rows."""
_FIELDS: dict[str, Any] = {field.attname: field for field in Lore._meta.concrete_fields}
Kept = dict[UUID, str]
"""Why a row stays, by the id of the imported row."""


def undo_run(run_id: UUID) -> None:
    """Undo a run that is in the state of being undone; `also` of its report are rows that the game
    master has confirmed."""
    carry_out(run_id, State.UNDOING, _undo_step)


def _undo_step(run: ImportRun) -> None:
    delete_upload_after_commit(run)
    kept = undo(run, also=run.report.get("also", ()))
    rows = run.rows.filter(pk__in=kept)
    listed = [
        [str(row.pk), row.kind, row.name, row.slug, kept[row.pk]] for row in rows[:MOST_LISTED]
    ]
    run.undone_at = timezone.now()
    finish_step(run, State.UNDONE, kept=listed, unlisted=len(kept) - len(listed), also=[])


def undo(run: ImportRun, *, also: Iterable[str] = ()) -> Kept:
    """Undo what the run did, in the caller's transaction. Rows that were changed or are used since
    stay unless their id, or `EVERYTHING`, is among `also`. Returns why each that stayed did."""
    confirmed = set(also)
    kept: Kept = {}
    steps: Mapping[str, Callable[[Sequence[ImportedRow], ImportRun], None]] = {
        "disposition": _undo_dispositions,
        "relation": _undo_relations,
        "npc": _undo_npcs,
        "entity": _undo_entities,
        "picture": _undo_pictures,
        "lore": _undo_lore,
        "rule": undo_rules,
    }
    with ProgressWriter(run) as progress, links_at_once(run.world):
        staying = _kept_entries(run, confirmed)
        for number, kind in enumerate(ORDER):
            rows = _rows_of(run, kind)
            kept |= _without_confirmed(_reasons_to_keep(kind, rows, run), confirmed)
            follow = _rows_that_stay_along(kind, rows, staying)
            going = [row for row in rows if row.pk not in kept and row.pk not in follow]
            steps[kind](going, run)
            run.rows.filter(pk__in=[row.pk for row in going]).update(undone=True)
            progress((number + 1) / len(ORDER))
    embed_soon("lore")
    embed_soon("srd")
    return kept


def _rows_of(run: ImportRun, kind: str) -> list[ImportedRow]:
    """What the run created or changed of a kind, and has not undone before."""
    return list(run.rows.filter(kind=kind, outcome__in=UNDONE_OUTCOMES, undone=False))


def _kept_entries(run: ImportRun, confirmed: set[str]) -> set[UUID]:
    """The ids of the lore entries that stay."""
    rows = _rows_of(run, "lore")
    kept = _without_confirmed(_reasons_to_keep("lore", rows, run), confirmed)
    return {row.row_id for row in rows if row.pk in kept and row.row_id}


def _without_confirmed(reasons: Kept, confirmed: set[str]) -> Kept:
    if EVERYTHING in confirmed:
        return {}
    return {pk: why for pk, why in reasons.items() if str(pk) not in confirmed}


def _rows_that_stay_along(kind: str, rows: Sequence[ImportedRow], entries: set[UUID]) -> set[UUID]:
    """Rows that stay because of another: the NPC and the entity of an entry that stays, which are
    one thing, and pictures that something shows."""
    if kind == "picture":
        uploaded = Picture.objects.filter(pk__in=_ids(rows, Outcome.CREATED))
        unused = {picture.pk for picture in shown_nowhere(uploaded)}
        return {row.pk for row in rows if row.row_id not in unused}
    link = {"npc": "biography__in", "entity": "lore__in"}.get(kind)
    if link is None or not entries:
        return set()
    ids = set(MODELS[kind].objects.filter(**{link: entries}).values_list("pk", flat=True))
    return {row.pk for row in rows if row.row_id in ids}


def _reasons_to_keep(kind: str, rows: Sequence[ImportedRow], run: ImportRun) -> Kept:
    """Why rows stay: somebody has changed them since, or other rows rest on them."""
    model = MODELS.get(kind)
    if model is None:
        return {}
    current = model._default_manager.prefetch_related(*LOADED_WITH.get(kind, ()))
    current = current.in_bulk([row.row_id for row in rows])
    reasons: Kept = {}
    for row in rows:
        stored = current.get(row.row_id)
        if stored is not None and mark_of(values_of(kind, stored)) != row.mark:
            reasons[row.pk] = _("It was changed since.")
    created = {row.row_id: row.pk for row in rows if row.outcome == Outcome.CREATED}
    for row_id in _in_use(kind, list(created), run):
        if row_id in created:
            reasons.setdefault(created[row_id], _("Other things rest on it since."))
    return reasons


def _in_use(kind: str, ids: list[Any], run: ImportRun) -> set[Any]:
    """Those of the created rows that rows of others rest on, and that would go with them."""
    if kind == "lore":
        overlays = Lore.objects.filter(overrides__in=ids).exclude(pk__in=ids)
        return set(overlays.values_list("overrides", flat=True))
    if kind == "rule":
        return rules_in_use(ids)
    if kind == "npc":
        rows = run.rows.filter(kind="disposition").values_list("before", flat=True)
        own = [before["change"] for before in rows if before]
        changes = DispositionChange.objects.filter(npc__in=ids, about=None).exclude(pk__in=own)
        appearances = Appearance.objects.filter(npc__in=ids)
        people = NPC.objects.filter(pk__in=ids).values_list("slug", "pk")
        nodes = _nodes_of_npcs(run, dict(people)).values_list("slug", "pk")
        named = _ends_of_facts(pk for _slug, pk in nodes)
        tied = {dict(people)[slug] for slug, pk in nodes if pk in named}
        rows_of_npc = (changes, appearances)
        return tied.union(*(each.values_list("npc", flat=True) for each in rows_of_npc))
    if kind == "entity":
        return _ends_of_facts(ids)
    return set()


def _ends_of_facts(nodes: Iterable[UUID]) -> set[UUID]:
    """The entities that facts are about, be it as history: without them the facts would go."""
    ids = list(nodes)
    edges = GraphEdge.objects.filter(Q(src__in=ids) | Q(dst__in=ids))
    return {end for pair in edges.values_list("src", "dst") for end in pair}


def _nodes_of_npcs(run: ImportRun, slugs: Iterable[str]) -> Any:
    """The entities that came with the NPCs; not one that an older entry had before."""
    refs = [f"npc:{slug}" for slug in slugs]
    created = run.rows.filter(kind="lore", outcome=Outcome.CREATED).values("row_id")
    nodes = GraphNode.objects.filter(world=run.world_id, source_ref__in=refs)
    return nodes.filter(Q(lore=None) | Q(lore__in=created))


def _undo_dispositions(rows: Sequence[ImportedRow], run: ImportRun) -> None:
    by = run.user.get_username() if run.user else REASON
    numbers = [row.before["change"] for row in rows if row.before]
    for change in DispositionChange.objects.filter(pk__in=numbers):
        try:
            reverse(change, reason=_("The import was undone."), made_by=by)
        except Problem:
            continue  # somebody has reversed it before
    # An NPC that the import made takes the ledger entries along.


def _undo_relations(rows: Sequence[ImportedRow], _run: ImportRun) -> None:
    retracted = [row.row_id for row in rows if row.row_id and row.before == RETRACTED]
    for edge in GraphEdge.objects.filter(pk__in=retracted).exclude(believed_until=None):
        believe_again(edge)
    edges = GraphEdge.objects.believed_now().in_bulk([row.row_id for row in rows])
    changed = {row.row_id for row in rows if row.outcome == Outcome.CHANGED}
    for edge in edges.values():
        if edge.pk in changed and edge.replaces:
            columns = ("world_id", "src_kind", "dst_kind", *STATEMENT_FIELDS)
            replace_fact(
                edge, GraphEdge(**{name: getattr(edge.replaces, name) for name in columns})
            )
    created = [edge for edge in edges.values() if edge.pk not in changed]
    retract_facts(created, because=REASON)
    # Facts that rest on one keep it as history; the others go without a trace.
    free = GraphEdge.objects.filter(pk__in=[edge.pk for edge in created], dependants=None)
    free.delete()


def _undo_npcs(rows: Sequence[ImportedRow], run: ImportRun) -> None:
    created = _ids(rows, Outcome.CREATED)
    slugs = list(NPC.objects.filter(pk__in=created).values_list("slug", flat=True))
    _nodes_of_npcs(run, slugs).delete()
    with permanent_deletion():
        NPC.objects.filter(pk__in=created).delete()
    changed = _before(rows)
    for npc in NPC.objects.filter(pk__in=changed):
        _restore_npc(npc, dict(changed[npc.pk] or {}))


def _restore_npc(npc: NPC, values: dict[str, Any]) -> None:
    """Write the old values as an engine would; audiences of the reveal log stay."""
    biography = Lore.objects.filter(pk=values["biography_id"]).values_list("slug", flat=True)
    secrets = [{"text": text, "known_to": known_to} for text, known_to in values["secrets"]]
    names = set(NPCIn.model_fields) & set(values)
    fields = {name: values[name] for name in names} | {"secrets": secrets}
    fields |= {"npc_id": npc.slug, "biography": biography.first() or ""}
    upsert_npc(npc.world, NPCIn.model_validate(fields))


def _undo_entities(rows: Sequence[ImportedRow], _run: ImportRun) -> None:
    """Those that facts of others name were confirmed: they go with these facts."""
    GraphNode.objects.filter(pk__in=_ids(rows, Outcome.CREATED)).delete()
    changed = _before(rows)
    for node in GraphNode.objects.filter(pk__in=changed):
        for name, value in changed[node.pk].items():
            setattr(node, name, value)
        # With relations that somebody added since, an entity keeps its kind.
        with suppress(IntegrityError), transaction.atomic():
            node.save()


def _undo_pictures(rows: Sequence[ImportedRow], _run: ImportRun) -> None:
    """Delete the pictures that the import uploaded; those that something shows by now stay."""
    delete_for_good(Picture.objects.filter(pk__in=_ids(rows, Outcome.CREATED)))


def _undo_lore(rows: Sequence[ImportedRow], _run: ImportRun) -> None:
    created = _ids(rows, Outcome.CREATED)
    Lore.objects.filter(pk__in=created).delete()
    changed = _before(rows)
    entries = list(Lore.objects.filter(pk__in=changed).select_related("world"))
    for entry in entries:
        for name, value in changed[entry.pk].items():
            setattr(entry, name, _FIELDS[name].to_python(value))
        # What was revealed since stays revealed.
        revealed = entries_in_force(entry).values_list("audience", flat=True)
        entry.known_to = sorted({*entry.known_to, *revealed})
    save_all(entries, reason=REASON)


def _ids(rows: Sequence[ImportedRow], outcome: str) -> list[UUID]:
    return [row.row_id for row in rows if row.row_id and row.outcome == outcome]


def _before(rows: Sequence[ImportedRow]) -> dict[UUID, Any]:
    """The old values of the changed rows, by their ids."""
    return {row.row_id: row.before for row in rows if row.row_id and row.outcome == "changed"}
