"""The facts about two entities of one person as facts about one of them."""

from uuid import UUID

from django.db.models import Q

from knowledge.graph.contradictions import record_contradictions
from knowledge.graph.fact_store import CLAIM_FIELDS, copy_of, replace_fact
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind
from knowledge.graph.relations import Relations
from knowledge.graph.upsert import stored_form
from npcs.models import NPC, NPCMerge, fact_source_ref

COPIED = (
    *("flag", "checked_flag", "checked_by", "checked_at", "edited_by", "edited_because"),
    *("was_ended", "ended_by_id"),
)
"""What a fact has besides what it says, and keeps."""


def entity_of(npc: NPC) -> GraphNode | None:
    nodes = GraphNode.objects.believed_now().filter(world=npc.world_id, slug=npc.slug)
    return nodes.filter(kind=NodeKind.CHARACTER).first()


def move_facts(merge: NPCMerge) -> list[str]:
    """Write what is believed about the merged NPC of the kept one; return the ids of the new rows.

    Not what the fields of its page state, what joins the two, and what the same source says of the
    kept NPC as well: that is hidden with the merged NPC and comes back with it."""
    old, new = entity_of(merge.merged), entity_of(merge.kept)
    if old is None or new is None:
        return []
    facts = GraphEdge.objects.believed_now().filter(Q(src=old) | Q(dst=old))
    facts = facts.exclude(Q(src=new) | Q(dst=new))
    facts = facts.exclude(source_ref=fact_source_ref(merge.merged), edited_by="")
    written = [
        fact
        for row in facts.select_related("src", "dst")
        if (fact := write_about(row, old=old, new=new))
    ]
    record_contradictions(merge.world, edges=[fact.pk for fact in written])
    return [str(fact.pk) for fact in written]


def put_facts_back(merge: NPCMerge, ids: list[str]) -> None:
    """Write the facts that went over of the merged NPC again, as they are now. What somebody has
    retracted since stays so. Its entity is shown again already."""
    old, new = entity_of(merge.kept), entity_of(merge.merged)
    if old is None or new is None:
        return
    present = [fact for pk in ids if (fact := present_form(UUID(pk)))]
    about = [fact for fact in present if old.pk in (fact.src_id, fact.dst_id)]
    written = [fact for row in about if (fact := write_about(row, old=old, new=new))]
    record_contradictions(merge.world, edges=[fact.pk for fact in written])


def present_form(pk: UUID) -> GraphEdge | None:
    """The row that says now what the row `pk` said; None: nobody believes it any more."""
    row = GraphEdge.objects.select_related("src", "dst").filter(pk=pk).first()
    while row and row.believed_until is not None:
        row = row.replaced_by.select_related("src", "dst").order_by("-believed_from").first()
    return row


def write_about(fact: GraphEdge, *, old: GraphNode, new: GraphNode) -> GraphEdge | None:
    """Replace `fact` by one that says the same of `new`; None when its source says so already, or
    when it would join `new` to itself."""
    copy = copy_of(fact)
    ends = [new if end.pk == old.pk else end for end in (fact.src, fact.dst)]
    written_from, written_to = reversed(ends) if fact.written_as else ends
    if written_from.pk == written_to.pk:
        return None
    written = fact.written_as or fact.relation_id
    relation, copy.src, copy.dst = stored_form(Relations.load(), written, written_from, written_to)
    copy.relation_id = relation.code
    copy.written_as = written if copy.src != written_from else ""
    copy.src_kind, copy.dst_kind = copy.src.kind, copy.dst.kind
    for name in COPIED:
        setattr(copy, name, getattr(fact, name))
    same_claim = {name: getattr(copy, name) for name in CLAIM_FIELDS}
    if GraphEdge.objects.believed_now().filter(**same_claim).exists():
        return None
    replace_fact(fact, copy)
    return copy
