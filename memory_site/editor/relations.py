"""Relations of a thing in words: read, add, correct, end and retract them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from knowledge.entry_entities import NODE_KINDS, EntityFinder, ensure_entity, page_of_entry
from knowledge.graph.ancestry import ancestors
from knowledge.graph.contradictions import record_contradictions
from knowledge.graph.entity_linking import EntityLinker, parse_uuid
from knowledge.graph.fact_store import end_fact, retract_facts
from knowledge.graph.labels import RELATION_LABELS, in_words, relation_label, stored_label
from knowledge.graph.manual_facts import save_manual_fact
from knowledge.graph.models import FREE_RELATION, SCENE, GraphEdge, GraphNode, SourceKind
from knowledge.graph.protocol import View
from knowledge.graph.relations import Relations
from knowledge.graph.upsert import lock_graph, stored_form
from knowledge.models import Lore
from knowledge.relation_words import relation_of_phrase
from retrieval.errors import Conflict, Invalid
from retrieval.text import KnownName, NameIndex
from worlds.audiences import Visibility
from worlds.models import World
from worlds.stored_names import index_of_names

MOST_RELATIONS = 200
MOST_ENTRIES = 1_000
MOST_WORDS = 60
LONGEST_WORDS = 80
"""The relation that joins any two entities; its label says what it is."""


@dataclass(frozen=True)
class RelationLine:
    """A fact as a line about one of its two entities. `to`: the line goes on from it to `other`;
    else it begins with `other`."""

    fact: GraphEdge
    words: str
    other: GraphNode
    to: bool

    @property
    def is_over(self) -> bool:
        return self.fact.until is not None

    @property
    def is_of_scene(self) -> bool:
        """Whether an episode says so by who was there, for the first time."""
        return self.fact.source_ref.endswith(SCENE) and not self.fact.edited_by


def relations_of(node: GraphNode | None, view: View) -> list[RelationLine]:
    """The facts about an entity that the view shows, present ones first (one statement); of a view
    with a world day, those that hold on that day."""
    if node is None:
        return []
    facts = view.facts().filter(Q(src=node) | Q(dst=node))
    facts = facts if view.at is None else facts.valid_on(view.at)
    lines = []
    # Those that hold first: of many that are over, some are left out.
    facts = facts.order_by(F("until").asc(nulls_first=True), "-believed_from", "pk")
    for fact in facts.select_related("src__lore", "dst__lore")[:MOST_RELATIONS]:
        subject, words, target = in_words(fact)
        to = subject == node
        lines.append(RelationLine(fact, words, target if to else subject, to))
    return sorted(
        without_repeats(lines), key=lambda line: (line.is_over, line.words, line.other.name)
    )


def without_repeats(lines: Iterable[RelationLine]) -> list[RelationLine]:
    """Return each relation in the same words once for the same days. One without days is left out
    beside one that began on a day and holds: the field of an NPC and an episode often say the
    same."""
    by_relation: dict[tuple[str, UUID, bool], dict[Any, RelationLine]] = {}
    for line in lines:
        days = line.fact.since, line.fact.until
        same = by_relation.setdefault((line.words, line.other.pk, line.to), {})
        same.setdefault(days, line)
    for same in by_relation.values():
        if any(since is not None and until is None for since, until in same):
            same.pop((None, None), None)
    return [line for same in by_relation.values() for line in same.values()]


def words_in_use(world: World) -> list[str]:
    """Words for a relation to choose from: those of the relations and those written before."""
    edges = GraphEdge.objects.believed_now().in_world(world).exclude(label="").order_by()
    labels = edges.values_list("label", flat=True).distinct()[:MOST_WORDS]
    written = (relation_label(FREE_RELATION, label) for label in labels)
    return sorted({*map(str, RELATION_LABELS.values()), *written})


def relation_in_words(world: World, words: str) -> tuple[str, str]:
    """Return the code and the label of a relation that somebody wrote in words. Words that no
    relation has become the label of the one that joins anything."""
    wanted = stored_label(" ".join(words.split())).casefold()
    if not wanted:
        raise Invalid(_("Write the relation in words, such as “is in” or “is an enemy of”."))
    if len(wanted) > LONGEST_WORDS:
        text = _("The words of a relation are %(count)d characters long at most.")
        raise Invalid(text % {"count": LONGEST_WORDS})
    for code, label in RELATION_LABELS.items():
        if wanted in (str(label).casefold(), code.casefold(), code.replace("_", " ").casefold()):
            return code, ""
    if phrase := relation_of_phrase(wanted):
        return phrase
    edges = GraphEdge.objects.believed_now().in_world(world).filter(label__iexact=wanted)
    known = edges.values_list("relation_id", "label").first()
    return known or (FREE_RELATION, stored_label(" ".join(words.split())))


def entity_of_name(world: World, name: str) -> GraphNode:
    """Return the entity of this name, alias or slug; an entry that has none yet gets it. Raises
    `Invalid`, `NotFound` or `Ambiguous` with names to choose from."""
    name = name.strip()
    if not name:
        raise Invalid(_("Write the name of the other thing."))
    linker = EntityLinker.for_texts(world, [name])
    entries = entries_without_entity(world, name)
    if not entries or parse_uuid(name) or name in linker.by_slug:
        return linker.resolve(name, resembling=False)
    names = [KnownName(entry.pk, entry.title, (entry.slug, *entry.aliases)) for entry in entries]
    key = NameIndex([*linker.index.entries, *names]).resolve_spelled(name, what="entity")
    entry = next((entry for entry in entries if entry.pk == key), None)
    node = ensure_entity(entry) if entry else linker.by_id[key]  # type: ignore[index]
    assert node
    return node


def entries_without_entity(world: World, name: str) -> list[Lore]:
    """The canon entries of the name that could take part in relations, and do not yet."""
    rows = Lore.objects.filter(world=world, campaign=None, kind__in=NODE_KINDS)
    named = [entry.key for entry in index_of_names(rows, name).entries][:MOST_ENTRIES]
    rows = rows.filter(Q(pk__in=named) | Q(slug=name)).select_related("world")
    entries = list(rows.order_by("title", "pk"))
    pages = {entry.pk: page for entry in entries if (page := page_of_entry(entry))}
    finder = EntityFinder.for_pages(world, pages.values())
    return [entry for entry in entries if finder.find(pages[entry.pk]) is None]


@dataclass(frozen=True)
class RelationText:
    """A relation as it was written on a page. `to`: it reads from the thing to `other`."""

    other: str
    words: str
    to: bool = True
    since: float | None = None
    until: float | None = None
    visibility: str = Visibility.GM


@transaction.atomic
def add_relation(node: GraphNode, text: RelationText, *, by: str) -> GraphEdge:
    """Write a relation that a person typed. Raises `Invalid` with the words that would fit when the
    kinds of the two do not."""
    world = node.world
    lock_graph(world)
    edge = GraphEdge(world=world, source_kind=SourceKind.EDITOR, source_ref=by[:200])
    _fill(edge, node, text)
    same = GraphEdge.objects.believed_now().filter(
        src=edge.src, dst=edge.dst, relation=edge.relation_id, label=edge.label, until=None
    )
    if same.exists():
        raise Conflict(_("This relation is recorded already."))
    return _save(edge, by=by)


@transaction.atomic
def correct_relation(
    fact: GraphEdge, node: GraphNode, text: RelationText, *, by: str, because: str = ""
) -> GraphEdge:
    """Replace a fact by what a person made of it; the old one stays in the history."""
    # Before anything is read: two who correct one fact come one after the other.
    lock_graph(node.world)
    _fill(fact, node, text)
    return _save(fact, by=by, because=because)


@transaction.atomic
def end_relation(fact: GraphEdge, *, day: float) -> GraphEdge:
    """Record that the relation lasted until this world day."""
    lock_graph(fact.world)
    if fact.since is not None and day <= fact.since:
        raise Invalid(_("It has to end after the day on which it began."))
    return end_fact(_present(fact), day)


@transaction.atomic
def retract_relation(fact: GraphEdge, *, because: str) -> list[GraphEdge]:
    """Record that the relation was never true. Returns the facts that rested on it."""
    lock_graph(fact.world)
    return retract_facts([_present(fact)], because=because or _("retracted on its page"))


def find_fact(world: World, node: GraphNode, fact: UUID) -> GraphEdge | None:
    """Return the fact of this id, if it is about `node` and still believed."""
    facts = GraphEdge.objects.believed_now().in_world(world).filter(Q(src=node) | Q(dst=node))
    edge: GraphEdge | None = facts.select_related("src", "dst", "world").filter(pk=fact).first()
    return edge


def _present(fact: GraphEdge) -> GraphEdge:
    facts: Any = GraphEdge.objects
    row: GraphEdge | None = facts.believed_now().select_for_update().filter(pk=fact.pk).first()
    if row is None:
        raise Conflict(_("Somebody has changed this relation meanwhile: look at it again."))
    return row


def _fill(edge: GraphEdge, node: GraphNode, text: RelationText) -> None:
    other = entity_of_name(node.world, text.other)
    if other.pk == node.pk:
        raise Invalid(_("A thing cannot have a relation to itself."))
    code, label = relation_in_words(node.world, text.words)
    relations = Relations.load()
    src, dst = (node, other) if text.to else (other, node)
    # An own label is free to join anything; the words of a relation say which kinds it joins.
    if (src.kind, dst.kind) not in relations.require(code).joins:
        raise Invalid(_misfit(relations, code, src, dst))
    if None not in (text.since, text.until) and text.until <= text.since:  # type: ignore[operator]
        raise Invalid(_("It has to end after the day on which it began."))
    relation, edge.src, edge.dst = stored_form(relations, code, src, dst)
    if relation.acyclic and edge.src_id in ancestors([edge.dst_id], relation.code)[edge.dst_id]:
        text_of_cycle = _("%(target)s already %(words)s %(source)s: it cannot be both ways.")
        names = {"target": edge.dst.name, "source": edge.src.name}
        raise Invalid(text_of_cycle % {"words": relation_label(relation.code), **names})
    edge.relation_id, edge.label = relation.code, label
    edge.written_as = "" if edge.src == src else code
    edge.src_kind, edge.dst_kind = edge.src.kind, edge.dst.kind
    edge.since, edge.until = text.since, text.until
    if edge.visibility != text.visibility:
        edge.visibility = text.visibility


def _misfit(relations: Relations, code: str, src: GraphNode, dst: GraphNode) -> str:
    fitting = [
        relation_label(each)
        for each, relation in relations.items()
        if (src.kind, dst.kind) in relation.joins
    ]
    text = _(
        "“%(words)s” does not fit here: %(source)s (%(source_kind)s) and %(target)s "
        "(%(target_kind)s). What fits: %(fitting)s, or words of your own."
    )
    kinds: dict[str, Any] = {
        "source_kind": src.get_kind_display(),
        "target_kind": dst.get_kind_display(),
    }
    names = {"source": src.name, "target": dst.name}
    return text % {
        "words": relation_label(code),
        "fitting": ", ".join(sorted(fitting)),
        **names,
        **kinds,
    }


def _save(edge: GraphEdge, *, by: str, because: str = "") -> GraphEdge:
    try:
        with transaction.atomic():
            saved = save_manual_fact(edge, by=by, because=because)
    except IntegrityError as problem:
        raise Conflict(_("This relation is recorded already.")) from problem
    record_contradictions(edge.world, edges=[saved.pk], nodes=[])
    return saved
