"""Relations of an import: names become entries of the import or of the world, words become
relations of the graph, and an attitude toward a party becomes a disposition."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from knowledge.entry_entities import OF_NPC, has_entity
from knowledge.entry_facts import (
    BECAUSE,
    FIELDS,
    SOURCES,
    Claim,
    audience_of,
    claim_of,
    source_ref,
)
from knowledge.graph.fact_store import retract_facts
from knowledge.graph.labels import fact_sentence
from knowledge.graph.models import GraphEdge, GraphNode, NodeKind, SourceKind
from knowledge.graph.relations import Relations
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import MAX_BATCH, stored_form, upsert_facts
from knowledge.importers.drafts import LoreDraft, RelationDraft
from knowledge.models import Lore
from knowledge.relation_words import ReadRelation, label_for, read_field, relation_for
from knowledge.text_relations import quotes_in, relations_in_text
from memory_site.imports.decided_facts import RETRACTED, DecidedFacts
from memory_site.imports.entities import EntityWriter
from memory_site.imports.report import WriteReport
from memory_site.imports.snapshots import values_of
from npcs.dispositions import correct
from npcs.field_facts import facts_of_fields
from npcs.models import NPC, DispositionChange
from retrieval.errors import Problem
from retrieval.text import fold_name
from worlds.audiences import Visibility
from worlds.models import ImportedRow, Party, World

LONGEST_LABEL = 80
MADE_BY = "import"


class EntryNames:
    """The canon entries, and the entities of NPCs without a biography (`people`), that names stand
    for. An entry counts before an NPC, a title before an alias; a name of several is no name."""

    def __init__(self, entries: Iterable[Lore], people: Iterable[GraphNode] = ()) -> None:
        self.by_title: dict[str, set[UUID]] = defaultdict(set)
        self.by_alias: dict[str, set[UUID]] = defaultdict(set)
        self.entries: dict[UUID, Lore] = {}
        for entry in entries:
            if entry.campaign_id is None:
                self.entries[entry.pk] = entry
                self.by_title[fold_name(entry.title)].add(entry.pk)
                for name in (entry.slug, *entry.aliases):
                    self.by_alias[fold_name(name)].add(entry.pk)
        self.people: dict[str, dict[UUID, GraphNode]] = defaultdict(dict)
        for node in people:
            for name in (node.slug, node.name, *node.aliases):
                self.people[fold_name(name)][node.pk] = node

    def find_person(self, name: str) -> GraphNode | None:
        matches = list(self.people.get(fold_name(name), {}).values())
        return matches[0] if len(matches) == 1 else None

    def find(self, name: str) -> Lore | None:
        key = fold_name(name)
        for names in (self.by_title, self.by_alias):
            if len(matches := names.get(key, set())) == 1:
                return self.entries[next(iter(matches))]
        return None


def people_without_entry(world: World) -> Iterable[GraphNode]:
    nodes = GraphNode.objects.believed_now().filter(world=world, lore=None)
    return nodes.filter(source_ref__startswith=OF_NPC)


@dataclass(frozen=True)
class PlannedEdge:
    """A relation of an entry to another one, or to an NPC that has none."""

    draft: LoreDraft
    relation: RelationDraft
    src: Lore
    dst: Lore | GraphNode

    @property
    def entries(self) -> list[Lore]:
        return [self.src, *([self.dst] if isinstance(self.dst, Lore) else ())]

    @property
    def target(self) -> str:
        return self.dst.title if isinstance(self.dst, Lore) else self.dst.name


@dataclass
class RelationWriter:
    """Writes the relations of drafts whose entries are stored: `rows` by the `where` of the draft,
    `npcs` by the id of their biography."""

    world: World
    report: WriteReport
    rows: Mapping[str, Lore]
    npcs: Mapping[UUID, NPC]
    entities: EntityWriter
    old_bodies: Mapping[UUID, str] = field(default_factory=dict)
    """The texts, before the import, of the entries that it has changed."""
    written: set[UUID] = field(default_factory=set)

    def write(self, drafts: Sequence[LoreDraft]) -> None:
        """Write what the drafts state, and retract what only earlier versions of them stated."""
        stored = [draft for draft in drafts if draft.where in self.rows]
        self._write([draft for draft in stored if draft.relations])
        self._retract_dropped({self.rows[draft.where]: draft for draft in stored})

    def _write(self, drafts: Sequence[LoreDraft]) -> None:
        if not drafts:
            return
        columns = ("slug", "title", "aliases", "kind", "status", "campaign_id")
        stored = Lore.objects.filter(world=self.world, campaign=None).only(
            "world_id", "visibility", "known_to", *columns
        )
        names = EntryNames([*stored], people_without_entry(self.world))
        planned = [edge for draft in drafts for edge in self._plan(draft, names)]
        # Entries that the world had before the import, too.
        self.entities.write(("", entry) for edge in planned for entry in edge.entries)
        self._write_edges(planned)
        self._write_attitudes(drafts)

    def _plan(self, draft: LoreDraft, names: EntryNames) -> Iterable[PlannedEdge]:
        src = self.rows[draft.where]
        for relation in draft.relations:
            dst = names.find(relation.target) or names.find_person(relation.target)
            is_thing = isinstance(dst, GraphNode) or (dst is not None and has_entity(dst.kind))
            if dst is None:
                # A link of the text is among the unknown ones already.
                if not relation.quote:
                    self.report.unknown_links.setdefault(draft.where, []).append(relation.target)
            elif not has_entity(src.kind) or not is_thing:
                if relation.quote:
                    continue
                message = _("“%(words)s” %(target)s: entries of the kind Custom have no relations.")
                values = {"words": relation.words, "target": relation.target}
                self.report.note(draft.where, message % values)
            elif src.pk != dst.pk:
                yield PlannedEdge(draft, relation, src, dst)

    def _write_edges(self, planned: Sequence[PlannedEdge]) -> None:
        relations = Relations.load()
        facts = [(edge, self._edge_fact(edge, relations)) for edge in planned]
        facts = self._without_repeated(self._not_of_npcs(facts, relations), relations)
        facts = self._without_decided(facts, relations)
        for at in range(0, len(facts), MAX_BATCH):
            batch = facts[at : at + MAX_BATCH]
            try:
                with transaction.atomic():
                    self._write_batch(batch)
            except Problem:
                for each in batch:
                    self._write_alone(each)

    def _not_of_npcs(
        self, facts: Sequence[tuple[PlannedEdge, EdgeFact]], relations: Relations
    ) -> list[tuple[PlannedEdge, EdgeFact]]:
        """Leave out what a field of the NPC, such as its home, states to the same people."""
        entries = {edge.src.pk for edge, _fact in facts}
        npcs = [npc for pk, npc in self.npcs.items() if pk in entries]
        of_fields = facts_of_fields(self.world, npcs) if npcs else {}
        stated = {
            (fact.visibility, fact.src_id, fact.dst_id, fact.label)
            for own in of_fields.values()
            for fact in own
        }

        def is_stated(edge: PlannedEdge, fact: EdgeFact) -> bool:
            # The field may use another relation for the same words.
            src, _code, dst, label = self._claim(edge, fact, relations)
            return (fact.visibility, src, dst, label) in stated

        return [(edge, fact) for edge, fact in facts if not is_stated(edge, fact)]

    def _without_repeated(
        self, facts: Sequence[tuple[PlannedEdge, EdgeFact]], relations: Relations
    ) -> list[tuple[PlannedEdge, EdgeFact]]:
        """Leave out what a source states again in other words: each import would correct the quote
        of the fact from one to the other."""
        first: dict[tuple[str, str, Claim], tuple[PlannedEdge, EdgeFact]] = {}
        for edge, fact in facts:
            key = fact.source_ref, fact.visibility, self._claim(edge, fact, relations)
            first.setdefault(key, (edge, fact))
        return list(first.values())

    def _without_decided(
        self, facts: Sequence[tuple[PlannedEdge, EdgeFact]], relations: Relations
    ) -> list[tuple[PlannedEdge, EdgeFact]]:
        """Leave out what a person corrected or retracted after an earlier import; a line that the
        text did not have before states it anew."""
        decided = DecidedFacts.load(self.world, (fact.source_ref for _edge, fact in facts))
        lines = self._lines_before(edge.draft for edge, _fact in facts) if decided.rows else {}
        left = []
        for edge, fact in facts:
            row = decided.find(fact.source_ref, self._claim(edge, fact, relations))
            if row and (not edge.relation.quote or edge.relation in lines[edge.draft.where]):
                self._report(row, ImportedRow.Outcome.UNCHANGED, edge)
            else:
                left.append((edge, fact))
        return left

    def _lines_before(self, drafts: Iterable[LoreDraft]) -> dict[str, Collection[RelationDraft]]:
        """Return, by `where`, the relations of each draft that its text stated before."""
        found: dict[str, Collection[RelationDraft]] = {}
        for draft in drafts:
            row = self.rows[draft.where]
            if draft.where not in found:
                before = relations_in_text(self.old_bodies.get(row.pk, row.body))
                stated = {(fold_name(each.target), each.words) for each in before}
                found[draft.where] = [
                    each
                    for each in draft.relations
                    if (fold_name(each.target), each.words) in stated
                ]
        return found

    def _claim(self, edge: PlannedEdge, fact: EdgeFact, relations: Relations) -> Claim:
        src, dst = self._ends(edge)
        if fact.src != src.pk:
            src, dst = dst, src
        stored, src, dst = stored_form(relations, fact.relation, src, dst)
        return src.pk, stored.code, dst.pk, fact.label

    def _write_alone(self, each: tuple[PlannedEdge, EdgeFact]) -> None:
        try:
            with transaction.atomic():
                self._write_batch([each])
        except Problem as problem:
            self.report.note(each[0].draft.where, problem.detail)

    def _write_batch(self, batch: Sequence[tuple[PlannedEdge, EdgeFact]]) -> None:
        outcomes = upsert_facts(self.world, [GraphFact(edge=fact) for _edge, fact in batch]).edges
        rows = GraphEdge.objects.in_bulk([outcome.id for outcome in outcomes])
        for (edge, _fact), outcome in zip(batch, outcomes, strict=True):
            self.written.add(outcome.id)
            self._report(rows[outcome.id], outcome.outcome, edge)

    def _ends(self, edge: PlannedEdge) -> tuple[GraphNode, GraphNode]:
        dst = edge.dst if isinstance(edge.dst, GraphNode) else self.entities.nodes[edge.dst.pk]
        return self.entities.nodes[edge.src.pk], dst

    def _edge_fact(self, edge: PlannedEdge, relations: Relations) -> EdgeFact:
        src, dst = self._ends(edge)
        words = " ".join(edge.relation.words.split())[:LONGEST_LABEL]
        kinds = NodeKind(src.kind), NodeKind(dst.kind)
        if edge.relation.source or edge.relation.quote:
            read = read_field(relations, words, *kinds)
        else:
            code = relation_for(relations, words, *kinds)
            read = ReadRelation(code, label_for(words, code))
        if read.inverse:
            src, dst = dst, src
        attitude = edge.relation.attitude
        is_private = edge.relation.private or edge.draft.private
        visibility, known_to = (Visibility.GM, []) if is_private else audience_of(edge.src)
        is_field = not edge.relation.quote and not is_private
        return EdgeFact(
            src=src.pk,
            dst=dst.pk,
            relation=read.code,
            label=read.label,
            visibility=Visibility(visibility),
            known_to=list(known_to) if visibility == Visibility.REVEALED else [],
            source_kind=SourceKind.IMPORT,
            # By this, a fact of an open field follows the audience of its entry.
            source_ref=source_ref(self.rows[edge.draft.where]) + (FIELDS if is_field else ""),
            source_note=(quote_of(edge.relation) if attitude is None else attitude_note(attitude)),
        )

    def _retract_dropped(self, drafts: Mapping[Lore, LoreDraft]) -> None:
        """Retract what the import has written before and a new version of its source does not
        state, and what a text of before stated. What a person has changed stays."""
        by_ref = {source_ref(row): row for row in drafts}
        refs = [*by_ref, *(ref + FIELDS for ref in by_ref)]
        facts = GraphEdge.objects.believed_now().filter(
            world=self.world, source_kind__in=SOURCES, source_ref__in=refs, edited_by=""
        )
        stored = list(facts.exclude(pk__in=self.written)) if refs else []
        written = GraphEdge.objects.filter(pk__in=self.written)
        claims = {(fact.source_ref, claim_of(fact)) for fact in written} if stored else set()
        dropped = []
        for fact in stored:
            row = by_ref[fact.source_ref.removesuffix(FIELDS)]
            if fact.source_kind == SourceKind.IMPORT or (
                fact.source_note in quotes_in(self.old_bodies.get(row.pk, ""))
                and (
                    (fact.source_ref, claim_of(fact)) in claims
                    or fact.source_note not in quotes_in(row.body)
                )
            ):
                dropped.append(fact)
        if not dropped:
            return
        retract_facts(dropped, because=BECAUSE)
        rows = GraphEdge.objects.select_related("src", "dst").in_bulk([f.pk for f in dropped])
        for fact in rows.values():
            draft = drafts[by_ref[fact.source_ref.removesuffix(FIELDS)]]
            changed = ImportedRow.Outcome.CHANGED
            self.report.add(
                "relation",
                fact,
                changed,
                name=fact_sentence(fact),
                source=draft.where,
                before=dict(RETRACTED),
                after=values_of("relation", fact),
            )

    def _write_attitudes(self, drafts: Sequence[LoreDraft]) -> None:
        """What an NPC thinks of a party is a disposition. Written once for each relation."""
        parties = {fold_name(each.name): each for each in Party.objects.filter(world=self.world)}
        for draft in drafts:
            npc = self.npcs.get(self.rows[draft.where].pk)
            for relation in draft.relations if npc else ():
                party = parties.get(fold_name(relation.target))
                if party and relation.attitude:
                    self._write_attitude(draft, npc, party, relation)  # type: ignore[arg-type]

    def _write_attitude(
        self, draft: LoreDraft, npc: NPC, party: Party, relation: RelationDraft
    ) -> None:
        reason = _("Imported: %(words)s") % {"words": relation.words or relation.target}
        same = DispositionChange.objects.filter(npc=npc, party=party, reason=reason)
        if same.filter(made_by=MADE_BY, delta=relation.attitude).exists():
            return
        change = correct(npc, party, by=relation.attitude or 0, reason=reason, made_by=MADE_BY)
        name = f"{npc.name} → {party.name}: {relation.attitude:+d}"
        created = ImportedRow.Outcome.CREATED
        before = {"change": change.pk}
        self.report.add("disposition", None, created, name=name, source=draft.where, before=before)

    def _report(self, row: GraphEdge, was: str, edge: PlannedEdge) -> None:
        # A fact that changed is a new row beside the old one, which its `replaces` names.
        self.report.add(
            "relation",
            row,
            was,
            name=f"{edge.src.title} – {edge.relation.words} – {edge.target}",
            source=edge.draft.where,
            before={"replaces": str(row.replaces_id)} if was == "changed" else None,
            after=values_of("relation", row) if was != "unchanged" else None,
        )


def quote_of(relation: RelationDraft) -> str:
    """Return the line that states the relation: that of the text, or of the field."""
    field_line = f"{relation.source}: {relation.target}" if relation.source else ""
    return relation.quote or field_line


def attitude_note(attitude: int) -> str:
    return _("Attitude: %(n)+d") % {"n": attitude}


def keep_unresolved(
    drafts: Sequence[LoreDraft], names: EntryNames, known: set[str]
) -> list[LoreDraft]:
    """Put the fields whose names nothing has back into `extra`: nothing of a source is lost."""
    result = []
    for draft in drafts:
        kept: dict[str, list[str]] = {}
        for relation in draft.relations:
            is_known = (
                fold_name(relation.target) in known
                or names.find(relation.target)
                or names.find_person(relation.target)
            )
            if relation.source and not is_known:
                kept.setdefault(relation.source, []).append(relation.target)
        if kept:
            values = {**draft.entry.model_dump(exclude_unset=True)}
            values["extra"] = {**draft.entry.extra, **kept}
            draft = replace(draft, entry=type(draft.entry).model_validate(values))
        result.append(draft)
    return result
