"""What the acceptance of a proposal writes, and how that is taken back."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from knowledge.entry_entities import ensure_entity
from knowledge.entry_store import save_entry
from knowledge.fact_check.claim_dates import date_span
from knowledge.fact_check.statement_parts import ClaimDate
from knowledge.fact_proposal_model import FactProposal
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind, SourceKind
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from memory_site.fact_proposals.statement import ProposedStatement
from npcs.models import NPC
from npcs.upsert import store_npc
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.text import guess_language
from worlds.audiences import Visibility

ENDS = ("died", "destroyed")
LONGEST_NOTE = 4000
Written = dict[str, Any]


def find_entity(row: FactProposal, name: str, entity_id: UUID | None) -> GraphNode:
    """Return the entity with the id, else with exactly this name, else that of the entry with this
    title, which is made if it has none. Raises `Conflict` for a name that
    the world does not have, `Ambiguous` for one of several."""
    nodes = GraphNode.objects.believed_now().in_world(row.world)
    node: GraphNode | None = nodes.filter(pk=entity_id).first() if entity_id else None
    if node:
        return node
    try:
        return EntityLinker.for_texts(row.world, [name]).resolve(name, resembling=False)
    except NotFound as problem:
        entries = Lore.objects.in_world(row.world).filter(campaign=None, title=name)[:2]
        if len(entries) == 1 and (made := ensure_entity(entries[0])):
            return made
        text = _("“%(name)s” is a new name: accept it first.") % {"name": name}
        raise Conflict(text) from problem


def provenance(row: FactProposal) -> dict[str, Any]:
    return {
        "source_kind": SourceKind.PROPOSAL,
        "source_ref": f"{row.source_kind}:{row.source_ref}"[:200],
        "source_note": row.quote[:LONGEST_NOTE],
        "visibility": Visibility(row.visibility),
        "known_to": row.known_to,
    }


def write_entity(row: FactProposal, statement: ProposedStatement, _by: str) -> Written:
    kind = statement.entity_kind
    if kind is None:
        raise Invalid(_("Say what “%(name)s” is.") % {"name": statement.entity})
    same = GraphNode.objects.believed_now().in_world(row.world)
    if found := same.filter(name=statement.entity, kind=kind).first():
        return {"node": str(found.pk), "was_there": True}
    fact = NodeFact(kind=NodeKind(kind), name=statement.entity, **provenance(row))
    result = upsert_facts(row.world, [GraphFact(node=fact)])
    return {"node": str(result.nodes[0].id)}


def unwrite_entity(row: FactProposal) -> None:
    node = _written_node(row)
    if node is None or row.written.get("was_there"):
        return
    facts = GraphEdge.objects.filter(Q(src=node) | Q(dst=node))
    if node.lore_id or facts.believed_now().exists():
        text = _("“%(name)s” has facts or an entry by now: decide those first.")
        raise Conflict(text % {"name": node.name})
    if facts.exists():
        # What was believed about it stays as history.
        node.believed_until = timezone.now()
        node.save(update_fields=["believed_until"])
    else:
        node.delete()


def write_alias(row: FactProposal, statement: ProposedStatement, by: str) -> Written:
    node = find_entity(row, statement.entity, statement.entity_id)
    alias = statement.alias.strip()
    if not alias:
        raise Invalid(_("The other name is missing."))
    if alias.casefold() in {name.casefold() for name in (node.name, *node.aliases)}:
        return {"node": str(node.pk), "was_there": True}
    _set_aliases(node, [*node.aliases, alias], by=by)
    return {"node": str(node.pk), "alias": alias}


def unwrite_alias(row: FactProposal) -> None:
    node = _written_node(row)
    alias = row.written.get("alias")
    if node and alias in node.aliases:
        _set_aliases(node, [name for name in node.aliases if name != alias], by="")


def _set_aliases(node: GraphNode, aliases: list[str], *, by: str) -> None:
    """Write the names where they belong: to the NPC or the entry, which the entity follows."""
    reason = f"proposal from a text, accepted by {by}" if by else "acceptance of a proposal undone"
    added = set(aliases) - set(node.aliases)
    removed = set(node.aliases) - set(aliases)
    npc = NPC.objects.in_world(node.world).filter(slug=node.slug).first()
    page: Any = npc if npc and node.source_ref == f"npc:{npc.slug}" else node.lore
    if page:
        names = [name for name in page.aliases if name not in removed]
        page.aliases = [*names, *(name for name in aliases if name in added)]
        if isinstance(page, NPC):
            store_npc(page, reason=reason)
        else:
            save_entry(page, reason=reason)
    node.refresh_from_db()
    if node.aliases != aliases and not (
        added <= set(node.aliases) and not removed & set(node.aliases)
    ):
        node.aliases = aliases
        node.save(update_fields=["aliases", "keys"])


def write_day(row: FactProposal, statement: ProposedStatement, _by: str) -> Written:
    """Write the day of a birth or a foundation as the beginning of an entity, of a death or a ruin
    as its end. Raises `Conflict` when it has another one."""
    node = find_entity(row, statement.entity, statement.entity_id)
    is_end = row.kind == FactProposal.Kind.DEATH or statement.what in ENDS
    column = "until" if is_end else "since"
    day = day_of(row, statement, is_end=is_end)
    before = getattr(node, column)
    if before is not None and before != day:
        text = _("“%(name)s” has another date already: change it there.") % {"name": node.name}
        raise Conflict(text)
    if is_end and node.since is not None and day <= node.since:
        raise Invalid(_("The end would come before the beginning."))
    if not is_end and node.until is not None and day >= node.until:
        raise Invalid(_("The end would come before the beginning."))
    fact = NodeFact.model_validate(
        {"id": node.pk, "kind": node.kind, "name": node.name, column: day}
    )
    upsert_facts(row.world, [GraphFact(node=fact)])
    return {"node": str(node.pk), "column": column, "day": day, "before": before}


def day_of(row: FactProposal, statement: ProposedStatement, *, is_end: bool) -> float:
    """Return the world day; of a whole year its first day, for an end its last. Raises `Invalid`
    when the calendar has no such date, or when none is given."""
    if statement.day is not None:
        return statement.day
    if not statement.value:
        text = _("The text names no day: give the day of “%(name)s”.")
        raise Invalid(text % {"name": statement.entity})
    date = ClaimDate("during", statement.value, guess_language(row.quote))
    span = date_span(row.world, date)
    if span is None:
        text = _("“%(date)s” is no date of this world's calendar: give a world day.")
        raise Invalid(text % {"date": statement.value})
    return span.last if is_end else span.first


def unwrite_day(row: FactProposal) -> None:
    node = _written_node(row)
    if node is None:
        return
    column = row.written["column"]
    if getattr(node, column) != row.written["day"]:
        raise Conflict(_("“%(name)s” was changed since.") % {"name": node.name})
    setattr(node, column, row.written["before"])
    node.save(update_fields=[column])


def write_fact(row: FactProposal, statement: ProposedStatement, _by: str) -> Written:
    src = find_entity(row, statement.entity, statement.entity_id)
    dst = find_entity(row, statement.other, statement.other_id)
    fact = EdgeFact(
        src=src.pk,
        relation=statement.relation,
        dst=dst.pk,
        label=statement.label,
        since=statement.day,
        **provenance(row),
    )
    result = upsert_facts(row.world, [GraphFact(edge=fact)])
    outcome = result.edges[0]
    return {"edge": str(outcome.id), "was_there": outcome.outcome == "unchanged"}


def unwrite_fact(row: FactProposal) -> None:
    if row.written.get("was_there"):
        return
    believed = GraphEdge.objects.believed_now().in_world(row.world)
    edge = believed.filter(pk=row.written.get("edge")).first()
    if edge is None:
        raise Conflict(_("The fact was changed or retracted since: correct it by hand."))
    retract_facts([edge], because="acceptance of a proposal undone")


def _written_node(row: FactProposal) -> GraphNode | None:
    nodes = GraphNode.objects.believed_now().in_world(row.world)
    return nodes.filter(pk=row.written.get("node")).select_related("lore").first()


Kind = FactProposal.Kind
WRITERS: dict[str, Callable[[FactProposal, ProposedStatement, str], Written]] = {
    Kind.ENTITY: write_entity,
    Kind.ALIAS: write_alias,
    Kind.DATE: write_day,
    Kind.DEATH: write_day,
    Kind.FACT: write_fact,
}
UNWRITERS: dict[str, Callable[[FactProposal], None]] = {
    Kind.ENTITY: unwrite_entity,
    Kind.ALIAS: unwrite_alias,
    Kind.DATE: unwrite_day,
    Kind.DEATH: unwrite_day,
    Kind.FACT: unwrite_fact,
}
