"""Facts that the texts of lore entries state in a form: they follow the text that states them.

A fact has its entry as the source and quotes its line. What a person corrected or retracted by hand
stays as it is while the line is there."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.dispatch import receiver

from knowledge.entry_entities import AUDIENCE, NODE_KINDS, OF_NPC, SavedEntry
from knowledge.graph.fact_store import follow_audience, retract_facts
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind, SourceKind
from knowledge.graph.relations import Relations
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import MAX_BATCH, stored_form, upsert_facts
from knowledge.link_models import Link
from knowledge.mentions.store import are_links_postponed
from knowledge.models import Lore, audience_changed
from knowledge.relation_words import read_field
from knowledge.text_relations import TextRelation, relations_in_text
from retrieval.errors import Problem
from retrieval.text import fold_name
from worlds.audiences import Visibility
from worlds.models import World

BECAUSE = "its entry no longer says so"
SOURCES = (SourceKind.LORE, SourceKind.IMPORT)
FIELDS = "#fields"
"""Ends the source of a fact that a field of an imported entry states, not its text."""
LONGEST_LABEL = 80
Claim = tuple[UUID, str, UUID, str]


def source_ref(entry: Lore) -> str:
    return f"lore:{entry.slug}"[:200]


def claim_of(fact: GraphEdge) -> Claim:
    return fact.src_id, fact.relation_id, fact.dst_id, fact.label


def audience_of(entry: Lore) -> tuple[str, list[str]]:
    """Who may know what the entry states openly. The graph is canon, and a draft is nobody's."""
    if entry.status == Lore.Status.DRAFT or entry.campaign_id:
        return Visibility.GM, []
    return entry.visibility, entry.known_to


@dataclass(frozen=True)
class StatingText:
    """An entry, and the relations that its text states now and before."""

    entry: Lore
    now: Sequence[TextRelation]
    before: Sequence[TextRelation] = ()

    @property
    def has_changed(self) -> bool:
        return self.now != self.before

    @property
    def new(self) -> list[TextRelation]:
        known = {each.key for each in self.before}
        return [each for each in self.now if each.key not in known]

    @property
    def old_quotes(self) -> set[str]:
        return {each.quote for each in self.before}

    @property
    def open_quotes(self) -> set[str]:
        return {each.quote for each in self.now if not each.private}


def follow_texts(world: World, saved: Sequence[SavedEntry]) -> None:
    """Bring the facts that the texts of saved entries of one world state in step with them: those
    of new lines come, those of dropped lines go, and all are known to whoever may know their line.
    Call after their entities and links are written, in the transaction of both."""
    texts = [text for each in saved if (text := _stating_text(each))]
    facts = _stored_facts(world, [text.entry for text in texts])
    resolved = EntryRelations.load(world, [text for text in texts if text.has_changed])
    for text in texts:
        stored = facts[source_ref(text.entry)]
        stated = resolved.find_facts(text.entry, text.now) if text.has_changed else []
        quotes = {each.claim: each.relation.quote for each in stated}
        # What a line states about somebody in the trash, it states again after a restoration.
        gone = text.old_quotes - resolved.unresolved_quotes(text)
        dropped = [
            fact
            for fact in stored
            if text.has_changed and fact.source_note in gone and claim_of(fact) not in quotes
        ]
        if dropped:
            retract_facts(dropped, because=BECAUSE)
        stored = [fact for fact in stored if fact not in dropped]
        _follow(text, stored, quotes)
        known = {claim_of(fact) for fact in stored}
        resolved.write([each for each in stated if each.relation in text.new], besides=known)
    _follow_fields(world, saved)
    complete_texts(world, _texts_to_complete(world, saved))


def _stating_text(saved: SavedEntry) -> StatingText | None:
    """None for an entry whose facts need not change."""
    entry, old = saved.entry, saved.old
    if not {"body", "status", "campaign", *AUDIENCE} & set(saved.fields):
        return None
    before = relations_in_text(old.body) if old else []
    now = before if old and old.body == entry.body else relations_in_text(entry.body)
    return StatingText(entry, now, before) if now or before else None


def _stored_facts(world: World, entries: Collection[Lore]) -> dict[str, list[GraphEdge]]:
    """What the texts of the entries state according to the graph, by their sources."""
    found: dict[str, list[GraphEdge]] = defaultdict(list)
    if entries:
        facts = GraphEdge.objects.believed_now().filter(
            world=world,
            source_kind__in=SOURCES,
            source_ref__in=[source_ref(entry) for entry in entries],
            edited_by="",
        )
        for fact in facts.exclude(source_note=""):
            found[fact.source_ref].append(fact)
    return found


def _follow(text: StatingText, facts: Iterable[GraphEdge], quotes: Mapping[Claim, str]) -> None:
    """Give facts the audience and the words of the lines that state them."""
    openly = audience_of(text.entry)
    lines = {each.quote for each in (*text.now, *text.before)}
    for fact in facts:
        if fact.source_note not in lines:
            continue  # of a program that names the entry as its source
        quote = quotes.get(claim_of(fact), fact.source_note)
        if quote != fact.source_note:
            fact.source_note = quote
            fact.save(update_fields=["source_note"])
        is_open = quote in text.open_quotes
        follow_audience(fact, *(openly if is_open else (Visibility.GM, [])))


def _follow_fields(world: World, saved: Sequence[SavedEntry]) -> None:
    """Make facts from the fields of imported entries known to whoever may know the entry."""
    changed = {"status", "campaign", *AUDIENCE}
    entries = {
        source_ref(each.entry) + FIELDS: each.entry
        for each in saved
        if each.old and changed & set(each.fields)
    }
    facts = GraphEdge.objects.believed_now().filter(
        world=world, source_kind=SourceKind.IMPORT, source_ref__in=entries, edited_by=""
    )
    for fact in facts if entries else ():
        follow_audience(fact, *audience_of(entries[fact.source_ref]))


def _texts_to_complete(world: World, saved: Sequence[SavedEntry]) -> list[Lore]:
    """The entries whose texts link to entries that are new or have another name or kind, and those
    that have another kind themselves."""
    named = {"title", "aliases", "kind", "slug"}
    ids = [each.entry.pk for each in saved if named & set(each.fields)]
    if not ids:
        return []
    changed = {each.entry.pk for each in saved if each.old and "kind" in each.fields}
    return _entries(world, (_ids_of_texts_about(world, ids) - set(ids)) | changed)


def _ids_of_texts_about(world: World, ids: Collection[UUID]) -> set[UUID]:
    """The entries whose texts link to one of these rows."""
    links = Link.objects.filter(world=world, source_kind="lore", targets__overlap=list(ids))
    return set(links.exclude(kind=Link.Kind.NAME).values_list("source_id", flat=True))


def _entries(world: World, ids: Collection[UUID]) -> list[Lore]:
    """The canon entries among these."""
    entries = list(Lore.objects.filter(pk__in=ids, campaign=None)) if ids else []
    for entry in entries:
        entry.world = world  # else each would read it
    return entries


def complete_texts_about(
    world: World, ids: Collection[UUID], *, besides: Collection[UUID] = ()
) -> list[UUID]:
    """Write what texts that link to the rows `ids` (entries, NPCs) state and the graph has never
    heard from them, but for the entries `besides`; return the ids of these facts. Call after the
    links and entities of the rows are written, in the transaction of both."""
    if not ids or are_links_postponed():
        return []
    texts = _ids_of_texts_about(world, ids) - set(besides)
    return complete_texts(world, _entries(world, texts))


def complete_texts(world: World, entries: Sequence[Lore]) -> list[UUID]:
    """Write what the texts of the entries state and what the graph has never heard from them;
    return the ids of these facts. What was retracted by hand is not written again."""
    texts = [StatingText(entry, now) for entry in entries if (now := relations_in_text(entry.body))]
    if not texts:
        return []
    refs = [source_ref(text.entry) for text in texts]
    rows = GraphEdge.objects.filter(world=world, source_kind__in=SOURCES, source_ref__in=refs)
    known: dict[str, set[Claim]] = defaultdict(set)
    for fact in rows:
        known[fact.source_ref].add(claim_of(fact))
    resolved = EntryRelations.load(world, texts)
    return [
        fact
        for text in texts
        for fact in resolved.write(
            resolved.find_facts(text.entry, text.now), besides=known[source_ref(text.entry)]
        )
    ]


@dataclass(frozen=True)
class RelationFact:
    """A relation of a text between two entities: in the form in which it is stored, and as it is
    written."""

    relation: TextRelation
    claim: Claim
    fact: EdgeFact


@dataclass
class EntryRelations:
    """The entities that texts of entries link, by the links of these entries. An NPC without a
    biography has no entry: then the link means its entity itself."""

    world: World
    by_lore: dict[UUID, GraphNode] = field(default_factory=dict)
    people: dict[UUID, GraphNode] = field(default_factory=dict)
    targets: dict[tuple[UUID, str], GraphNode] = field(default_factory=dict)
    relations: Relations = field(default_factory=Relations)

    @classmethod
    def load(cls, world: World, texts: Sequence[StatingText]) -> "EntryRelations":
        if not any(text.now for text in texts):
            return cls(world)
        ids = [text.entry.pk for text in texts]
        links = Link.objects.filter(source_kind="lore", source_id__in=ids, field="body")
        named = list(links.filter(state=Link.State.RESOLVED).exclude(kind=Link.Kind.NAME))
        wanted = {*ids, *(target for link in named for target in link.targets)}
        nodes = GraphNode.objects.believed_now().filter(world=world)
        nodes = nodes.filter(Q(lore__in=wanted) | Q(pk__in=wanted, source_ref__startswith=OF_NPC))
        resolved = cls(world, relations=Relations.load())
        for node in nodes.order_by("-pk").select_related("lore"):
            if node.lore_id is None:
                resolved.people[node.pk] = node
            else:
                resolved.by_lore[node.lore_id] = _own(node, resolved.by_lore.get(node.lore_id))
        for link in named:
            if node := resolved._node_of(link):
                resolved.targets[link.source_id, fold_name(link.name)] = node
        return resolved

    def _node_of(self, link: Link) -> GraphNode | None:
        """The entity that a link means; that of the last entry, if it means several rows."""
        found = [self.people[each] for each in link.targets if each in self.people]
        found += [self.by_lore[each] for each in link.targets if each in self.by_lore]
        return found[-1] if found else None

    def unresolved_quotes(self, text: StatingText) -> set[str]:
        """The lines of the text that have a link to nothing, or to what is no entity."""
        own = text.entry.pk
        return {
            each.quote for each in text.now if (own, fold_name(each.target)) not in self.targets
        }

    def find_facts(self, entry: Lore, relations: Iterable[TextRelation]) -> list[RelationFact]:
        """Return the relations whose ends are entities; of two that say the same, the last is the
        one that anyone may read who may read the entry."""
        own = self.by_lore.get(entry.pk)
        found = []
        for each in relations:
            target = self.targets.get((entry.pk, fold_name(each.target)))
            if own and target and own.pk != target.pk and not entry.campaign_id:
                found.append(self._make_fact(entry, each, own, target))
        return sorted(found, key=lambda each: not each.relation.private)

    def _make_fact(
        self, entry: Lore, relation: TextRelation, own: GraphNode, target: GraphNode
    ) -> RelationFact:
        words = " ".join(relation.words.split())[:LONGEST_LABEL]
        read = read_field(self.relations, words, NodeKind(own.kind), NodeKind(target.kind))
        src, dst = (target, own) if read.inverse else (own, target)
        visibility, known_to = (Visibility.GM, []) if relation.private else audience_of(entry)
        fact = EdgeFact(
            src=src.pk,
            dst=dst.pk,
            relation=read.code,
            label=read.label,
            visibility=Visibility(visibility),
            known_to=list(known_to) if visibility == Visibility.REVEALED else [],
            source_kind=SourceKind.LORE,
            source_ref=source_ref(entry),
            source_note=relation.quote,
        )
        stored, src, dst = stored_form(self.relations, read.code, src, dst)
        return RelationFact(relation, (src.pk, stored.code, dst.pk, read.label), fact)

    def write(self, stated: Iterable[RelationFact], *, besides: Collection[Claim]) -> list[UUID]:
        """Write what is not among the claims `besides`; return the ids. What the graph refuses,
        such as a cycle of parts, is left out: a text is saved all the same."""
        new = {each.claim: each.fact for each in stated if each.claim not in besides}
        facts = [GraphFact(edge=fact) for fact in new.values()]
        written: list[UUID] = []
        for at in range(0, len(facts), MAX_BATCH):
            batch = facts[at : at + MAX_BATCH]
            ids = self._write(batch) or [pk for fact in batch for pk in self._write([fact])]
            written += ids
        return written

    def _write(self, facts: Sequence[GraphFact]) -> list[UUID]:
        try:
            with transaction.atomic():
                return [fact.id for fact in upsert_facts(self.world, facts).edges]
        except Problem:
            return []


def _own(node: GraphNode, other: GraphNode | None) -> GraphNode:
    """The one of two entities of an entry that is of the entry's kind: the page of a place may be
    the biography of an NPC."""
    if other is None:
        return node
    assert node.lore
    return node if NODE_KINDS.get(node.lore.kind) == node.kind else other


@receiver(audience_changed, sender=Lore)
def follow_reveal(entry: Lore, **_signal: Any) -> None:
    """Open and close the facts of an entry that was revealed, or hidden again."""
    if entry.deleted_at is None and entry.campaign_id is None:
        follow_texts(entry.world, [SavedEntry(entry, AUDIENCE, entry)])
