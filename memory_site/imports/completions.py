"""What an import completes of what the world had before: fields of NPCs, and lines of texts, that
name what it has brought. The facts are undone with the import."""

from collections.abc import Collection, Iterable
from uuid import UUID

from knowledge.entry_facts import complete_texts_about
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphEdge
from knowledge.models import Lore
from memory_site.imports.report import WriteReport
from memory_site.imports.snapshots import values_of
from npcs.field_facts import facts_of_fields
from npcs.field_links import npcs_without_entry
from npcs.models import NPC
from npcs.upsert import store_npcs
from worlds.models import ImportedRow, World


def complete_npcs(world: World, report: WriteReport) -> None:
    """Link the factions and homes of NPCs to entries that the import has written. Call after their
    entities are written."""
    npcs = npcs_without_entry(world)
    before = _facts_of(world, npcs)
    store_npcs(npcs, reason="the entry of a name was imported")
    _report(report, _facts_of(world, npcs) - before)


def _facts_of(world: World, npcs: Collection[NPC]) -> set[UUID]:
    return {fact.pk for own in facts_of_fields(world, npcs).values() for fact in own}


def complete_texts(
    world: World, report: WriteReport, rows: Iterable[Lore], npcs: Iterable[NPC]
) -> None:
    """Write what older texts state about the rows of the import. Call when its links are
    written."""
    entries = {row.pk for row in rows if row.campaign_id is None}
    people = {npc.pk for npc in npcs}
    _report(report, complete_texts_about(world, entries | people, besides=entries))


def _report(report: WriteReport, facts: Collection[UUID]) -> None:
    rows = GraphEdge.objects.select_related("src", "dst").in_bulk(facts) if facts else {}
    for fact in rows.values():
        report.add(
            "relation",
            fact,
            ImportedRow.Outcome.CREATED,
            name=fact_sentence(fact),
            after=values_of("relation", fact),
        )
