"""Save, replace, end and retract single facts. No row is overwritten: what was believed before
stays as history."""

from collections.abc import Collection, Sequence

from django.db.models import Q
from django.utils import timezone

from knowledge.graph.ancestry import dependants
from knowledge.graph.contradictions import close_contradictions_of
from knowledge.graph.models import FREE_RELATION, GraphEdge
from knowledge.graph.schemas import FactOutcome
from worlds.audiences import Guarded, Visibility
from worlds.reveals import entries_in_force, transfer_reveals

RESTED_ON_RETRACTED = "A fact it rests on was retracted:"
SOURCE_FIELDS = ("source_kind", "source_ref", "source_note", "confidence")
FACT_FIELDS = (*SOURCE_FIELDS, "visibility", "known_to", "since", "until")
"""What nodes and edges have in common with the facts of the API (`schemas.Provenance`)."""
STATEMENT_FIELDS = ("src_id", "relation_id", "dst_id", "label", *FACT_FIELDS)
"""What a person can edit in an edge: any difference makes a new row."""
CLAIM_FIELDS = ("src_id", "dst_id", "relation_id", "label", "since", "source_kind", "source_ref")
"""What makes two edges the same claim of the same source."""


def save_fact(fact: GraphEdge, *, sent: Collection[str] = FACT_FIELDS) -> FactOutcome:
    """Insert `fact`, unless its source has said exactly this before. It replaces what the source
    said differently in the fields that were `sent`; the others stay, so that a fact that has ended
    is not open again because somebody repeats it."""
    same_claim = {name: getattr(fact, name) for name in CLAIM_FIELDS}
    current = GraphEdge.objects.believed_now().filter(**same_claim).first()
    if current is None:
        fact.save(force_insert=True)
        return FactOutcome(id=fact.pk, outcome="created")
    for name in set(FACT_FIELDS) - set(sent):
        setattr(fact, name, getattr(current, name))
    if "until" not in sent:
        fact.was_ended, fact.ended_by_id = current.was_ended, current.ended_by_id
    keep_revelations(current, fact)
    if all(getattr(current, name) == getattr(fact, name) for name in FACT_FIELDS):
        return FactOutcome(id=current.pk, outcome="unchanged")
    replace_fact(current, fact)
    return FactOutcome(id=fact.pk, outcome="changed")


def keep_revelations(current: Guarded, new: Guarded) -> None:
    """Widen `new` to the audiences that the reveal log has opened `current` to: writing a
    fact again hides nothing."""
    revealed_to = set[str]()
    if current.known_to:
        revealed_to = set(entries_in_force(current).values_list("audience", flat=True))
    new.known_to = sorted({*new.known_to, *revealed_to})
    if revealed_to and new.visibility == Visibility.GM:
        new.visibility = Visibility.REVEALED


def follow_audience(fact: GraphEdge, visibility: str, known_to: Sequence[str]) -> None:
    """Make a fact known to those who may know its source. What the reveal log has opened stays
    open."""
    guard = GraphEdge(visibility=visibility, known_to=list(known_to))
    if visibility == Visibility.GM:
        guard.known_to = []
    keep_revelations(fact, guard)
    if (fact.visibility, sorted(fact.known_to)) != (guard.visibility, sorted(guard.known_to)):
        fact.visibility, fact.known_to = guard.visibility, guard.known_to
        fact.save(update_fields=["visibility", "known_to"])
        fact.visibility_changed()


def replace_fact(old: GraphEdge, new: GraphEdge) -> None:
    """Stop believing `old` and insert `new`, believed from the same moment on."""
    now = timezone.now()
    # Before the insert: a unique constraint allows one believed row per claim.
    GraphEdge.objects.filter(pk=old.pk).update(believed_until=now)
    new.believed_from, new.replaces, new.stands_for = now, old, None
    if new.until is None:
        new.was_ended, new.ended_by = False, None
    new.save(force_insert=True)
    new.rests_on.set(old.rests_on.all())
    new.dependants.add(*old.dependants.all())
    GraphEdge.objects.filter(ended_by=old).update(ended_by=new)
    transfer_reveals(old, new)
    _move_stand_ins(old, new)
    new.visibility_changed()
    close_contradictions_of([old.pk])


def end_fact(
    old: GraphEdge, day: float | None, *, because_of: GraphEdge | None = None
) -> GraphEdge:
    """Replace `old` by a row that says it was valid until `day`, and return that row. With None it
    has no end. Whoever may not know the fact `because_of`, which ended it, goes on knowing `old`.
    """
    new = copy_of(old)
    new.until = day
    new.was_ended, new.ended_by = because_of is not None, because_of
    replace_fact(old, new)
    if because_of and not new.stand_ins.update(ended_by=because_of):
        values = {"was_ended": True, "ended_by": because_of, "stands_for": new}
        GraphEdge.objects.filter(pk=old.pk).update(**values)
    return new


def end_predecessors(fact: GraphEdge, day: float) -> None:
    """End on `day` the earlier facts of the same relation from the same entity; of the relation
    that stands for all others, those of the same label."""
    facts = GraphEdge.objects.filter(src=fact.src_id, relation=fact.relation_id, until=None)
    if fact.relation_id == FREE_RELATION:
        facts = facts.filter(label=fact.label)
    earlier = facts.filter(Q(since=None) | Q(since__lt=day)).exclude(dst=fact.dst_id)
    for edge in earlier.believed_now().select_for_update():
        end_fact(edge, day, because_of=fact)
    for edge in earlier.exclude(stands_for=None).select_related("stands_for"):
        if edge.stands_for and fact.is_known_wherever(edge):
            GraphEdge.objects.filter(pk=edge.pk).update(stands_for=None)
            _write_stand_in(edge.stands_for, until=day)


def _move_stand_ins(old: GraphEdge, new: GraphEdge) -> None:
    """Let the rows that stand for `old` stand for `new`, in its words."""
    stand_ins = list(old.stand_ins.all())
    GraphEdge.objects.filter(stands_for=old).update(stands_for=None)
    for row in stand_ins if new.was_ended else ():
        columns = [name for name in STATEMENT_FIELDS if name != "until"]
        if all(getattr(row, name) == getattr(new, name) for name in columns):
            GraphEdge.objects.filter(pk=row.pk).update(stands_for=new)
        else:
            _write_stand_in(new, until=row.until)


def _write_stand_in(fact: GraphEdge, *, until: float | None = None) -> None:
    row = copy_of(fact)
    row.until, row.was_ended, row.ended_by, row.stands_for = until, True, fact.ended_by, fact
    # It is not what is believed: that is `fact`.
    row.believed_from = row.believed_until = timezone.now()
    row.save(force_insert=True)


def copy_of(fact: GraphEdge) -> GraphEdge:
    """Return an unsaved row that says the same as `fact`."""
    copied = ("world_id", "src_kind", "dst_kind", "written_as", *STATEMENT_FIELDS)
    return GraphEdge(**{name: getattr(fact, name) for name in copied})


def believe_again(retracted: GraphEdge) -> GraphEdge:
    """Believe what `retracted` says from now on, as a new row; return it. When its source has said
    so again meanwhile, return that row."""
    same_claim = {name: getattr(retracted, name) for name in CLAIM_FIELDS}
    current: GraphEdge | None = GraphEdge.objects.believed_now().filter(**same_claim).first()
    if current:
        return current
    new = copy_of(retracted)
    new.replaces = retracted
    new.was_ended, new.ended_by = retracted.was_ended, retracted.ended_by
    new.save(force_insert=True)
    if new.was_ended:
        _write_stand_in(new)
    new.rests_on.set(retracted.rests_on.all())
    new.dependants.add(*retracted.dependants.all())
    transfer_reveals(retracted, new)
    new.visibility_changed()
    # What was flagged because this fact had gone needs no review any more.
    flagged = GraphEdge.objects.filter(pk__in=[fact.pk for fact in dependants([new.pk])])
    flagged.filter(flag__startswith=RESTED_ON_RETRACTED).update(flag="")
    return new


def retract_facts(facts: Sequence[GraphEdge], *, because: str) -> list[GraphEdge]:
    """Stop believing `facts`. Flag the facts that rest on them, and return these."""
    ids = [fact.pk for fact in facts]
    GraphEdge.objects.believed_now().filter(pk__in=ids).update(believed_until=timezone.now())
    GraphEdge.objects.filter(stands_for__in=ids).update(stands_for=None)
    close_contradictions_of(ids)
    to_check = dependants(ids)
    for fact in to_check:
        fact.flag = f"{RESTED_ON_RETRACTED} {because}"[:200]
    GraphEdge.objects.bulk_update(to_check, ["flag"])
    return to_check
