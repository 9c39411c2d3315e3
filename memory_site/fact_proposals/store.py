"""Read texts and store what they state as proposals. The same sentence is proposed once, whatever
was decided about it; what a text says no more is not proposed any longer."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import transaction

from knowledge.entry_entities import NODE_KINDS
from knowledge.extraction.findings import Finding
from knowledge.extraction.narrative import is_rules_text
from knowledge.extraction.new_names import is_known
from knowledge.extraction.text_reader import TextReader, sentences_of
from knowledge.fact_proposal_model import FactProposal, LatestReading
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.relations import Relations
from knowledge.mentions.names import read_names
from knowledge.models import Lore
from memory_site.fact_proposals.contradictions import contradictions_of_facts
from memory_site.fact_proposals.known_facts import stated_in_graph
from memory_site.fact_proposals.read_with_model import read_with_model, without_those_of_rules
from memory_site.fact_proposals.sources import (
    ReadableText,
    texts_of_world,
    texts_saved,
    unread_texts,
)
from memory_site.fact_proposals.statement import key_of, statement_of
from retrieval.llm import Purpose, get_llm
from retrieval.text import fold_name, other_spellings
from worlds.audiences import Visibility
from worlds.calendars.names import spellings
from worlds.models import Party, World
from worlds.world_calendar import calendar_of

logger = logging.getLogger(__name__)
BATCH = 500
MOST_UNREAD = 500
"""Texts of each kind that one sweep reads: the rest is for the next one."""
State, LLM = FactProposal.State, FactProposal.Method.LLM


@dataclass(frozen=True)
class ReadingResult:
    """How many proposals a reading has made, and how many open ones were withdrawn because their
    sentence is gone or the graph says so by now."""

    new: int = 0
    withdrawn: int = 0

    def __add__(self, other: "ReadingResult") -> "ReadingResult":
        return ReadingResult(self.new + other.new, self.withdrawn + other.withdrawn)


def read_source(world: World, source: ReadableText, *, with_model: bool = True) -> ReadingResult:
    """Read one text by rules, and by the language model if there is one, and store its proposals.
    With a language model this must not run inside a transaction."""
    relations = Relations.load()
    model = get_llm(Purpose.READING, str(world.pk)) if with_model else None
    nodes = list(EntityLinker.for_texts(world, [source.whole]).nodes)
    about = GraphNode.objects.believed_now().in_world(world).filter(lore=source.id).first()
    nodes += [about] if about and about not in nodes else []
    known = {node.pk for node in nodes}
    nodes += entries_without_entity(world, source.whole, nodes)
    about = about or next((node for node in nodes if node.lore_id == source.id), None)
    others = names_of_table(world)
    reader = partial(
        TextReader, nodes, relations, about, not_names=calendar_names(world), not_new=others
    )
    openly = reader().read(source.open) if source.open.strip() else []
    every = openly
    if source.open != source.whole:
        # What only the whole text says is for game masters: a name of a secret, too.
        said = {_what(each) for each in openly}
        whole = reader().read(source.whole)
        every = [*openly, *(each for each in whole if _what(each) not in said)]
    by_model: list[Finding] = []
    if model and source.whole.strip() and not is_rules_text(sentences_of(source.whole)):
        linker = EntityLinker(nodes, typos=False)
        found = read_with_model(world, source.whole, linker, relations, model)
        by_model = without_those_of_rules(without_names(found, others, known=known), every)
        every = [*every, *by_model]
    # What the model reads comes from the whole text: it stays with game masters.
    public = {id(each) for each in openly}
    news = unknown_findings(world, every, known=known, relations=relations)
    rows = proposal_rows(world, source, news, known=known, public=public, relations=relations)
    told = {id(each) for each in by_model}
    for row, finding in rows:
        row.method = LLM if id(finding) in told else FactProposal.Method.RULES
    result = save_proposals(world, source, [row for row, _finding in rows])
    record_reading(world, source)
    return result


def calendar_names(world: World) -> frozenset[str]:
    """Return the names of months, festivals, seasons, eras and weekdays, folded."""
    calendar = calendar_of(world)
    return (
        frozenset(fold_name(text) for text, _name in spellings(calendar))
        if calendar
        else frozenset()
    )


def names_of_table(world: World) -> list[GraphNode]:
    """Return unsaved entities for the player characters, the parties and the world: whoever plays
    knows them, and a text that names them tells no new name."""
    parties = Party.objects.filter(world=world).values_list("name", "members")
    names = dict.fromkeys(
        [world.name, *(str(name) for party, members in parties for name in (party, *members))]
    )
    return [
        GraphNode(name=name, kind=NodeKind.CHARACTER, aliases=other_spellings(name))
        for name in names
        if name.strip()
    ]


def without_names(
    findings: Iterable[Finding], others: Sequence[GraphNode], *, known: set[UUID]
) -> list[Finding]:
    """Return the findings without those about a new name that means one of `others`."""
    linker = EntityLinker(others, typos=False)

    def is_other(node: GraphNode | None) -> bool:
        is_new = node is not None and node.pk not in known and node.lore_id is None
        return node is not None and is_new and is_known(node.name, linker)

    return [each for each in findings if not (is_other(each.node) or is_other(each.other))]


def entries_without_entity(world: World, text: str, nodes: Sequence[GraphNode]) -> list[GraphNode]:
    """Return unsaved entities for the canon entries that `text` may name and that have none yet:
    accepting a fact about one makes its entity."""
    ids = [row.id for row in read_names(world, [], text=text).things if row.kind == "lore"]
    names = {fold_name(node.name) for node in nodes}
    entries = Lore.objects.in_world(world).filter(
        pk__in=ids, campaign=None, nodes=None, npcs=None, kind__in=NODE_KINDS
    )
    return [
        GraphNode(name=entry.title, aliases=entry.aliases, kind=NODE_KINDS[entry.kind], lore=entry)
        for entry in entries
        if fold_name(entry.title) not in names
    ]


def read_world(world: World) -> ReadingResult:
    """Read every text of a world, one after the other."""
    result = ReadingResult()
    for source in texts_of_world(world):
        result += read_source(world, source)
    return result


def read_saved_texts(world: World, begin: datetime) -> ReadingResult:
    """Read what was saved last in the window from `begin`, by rules alone: a save costs no call of
    a language model."""
    result = ReadingResult()
    for source in texts_saved(world, begin):
        result += read_source(world, source, with_model=False)
    return result


def read_unread_texts(now: datetime) -> ReadingResult:
    """Read, by rules alone, what was saved and not read since: what a lost message announced. A
    text whose reading fails is logged and tried again by the next sweeps, `MOST_TRIES` times."""
    result = ReadingResult()
    for world, source in unread_texts(now, most=MOST_UNREAD):
        # Before it is read: a text that ends the process would end it at every sweep.
        record_attempt(world, source)
        try:
            result += read_source(world, source, with_model=False)
        except Exception:
            logger.exception("The %s %s was not read for proposals", source.kind, source.ref)
    return result


def record_attempt(world: World, source: ReadableText) -> None:
    """Note that a sweep begins to read this save of the text."""
    row = LatestReading.objects.filter(source_id=source.id).first()
    is_same = row is not None and row.saved_at == source.saved_at
    record_reading(world, source, unfinished=row.unfinished + 1 if row and is_same else 1)


def record_reading(world: World, source: ReadableText, *, unfinished: int = 0) -> None:
    """Note that this save of the text was read."""
    if source.saved_at:
        row = LatestReading(
            source_id=source.id, world=world, saved_at=source.saved_at, unfinished=unfinished
        )
        LatestReading.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["source_id"],
            update_fields=["saved_at", "unfinished"],
        )


def _what(finding: Finding) -> tuple[object, ...]:
    """The statement by names: two readings make rows of their own for a new name."""
    other = finding.other.name if finding.other else ""
    sentence = (finding.sentence.start, finding.kind, finding.node.name, other)
    return (*sentence, finding.relation, finding.alias, finding.what, finding.value)


def unknown_findings(
    world: World, findings: Sequence[Finding], *, known: set[UUID], relations: Relations
) -> list[Finding]:
    """Return the findings without what the graph says already."""
    facts = [each for each in findings if each.kind == "fact" and _ends_in(each, known)]
    stated = stated_in_graph(world, facts, relations)

    def is_known(each: Finding) -> bool:
        if each.kind == "fact":
            return id(each) in stated
        if each.kind == "death":
            return each.node.until is not None
        if each.kind == "date":
            is_end = each.what in ("died", "destroyed")
            return (each.node.until if is_end else each.node.since) is not None
        return False

    return [each for each in findings if not is_known(each)]


def _ends_in(finding: Finding, known: set[UUID]) -> bool:
    return finding.node.pk in known and finding.other is not None and finding.other.pk in known


def proposal_rows(
    world: World,
    source: ReadableText,
    findings: Sequence[Finding],
    *,
    known: set[UUID],
    public: set[int],
    relations: Relations,
) -> list[tuple[FactProposal, Finding]]:
    """Return one unsaved row for each finding whose sentence is in the text."""
    facts = [each for each in findings if each.kind == "fact" and _ends_in(each, known)]
    against = contradictions_of_facts(world, facts, relations)
    rows: dict[str, tuple[FactProposal, Finding]] = {}
    for each in findings:
        start, end = each.sentence.start, each.sentence.end
        if source.whole[start:end] != each.sentence.text:
            continue
        statement = statement_of(each, known)
        key = key_of(each.kind, source.id, source.quoted[start:end], statement)
        start, end = source.with_markup(start, end)
        is_open = id(each) in public
        row = FactProposal(
            world=world,
            kind=each.kind,
            source_kind=source.kind,
            source_id=source.id,
            source_ref=source.ref,
            source_version=source.version,
            quote=source.quoted[start:end],
            start=start,
            fields=statement.model_dump(mode="json", exclude_defaults=True),
            visibility=source.visibility if is_open else Visibility.GM,
            known_to=list(source.known_to) if is_open else [],
            contradicts=against.get(id(each), []),
            key=key,
        )
        rows.setdefault(key, (row, each))
    return list(rows.values())


@transaction.atomic
def save_proposals(
    world: World, source: ReadableText, rows: Iterable[FactProposal]
) -> ReadingResult:
    """Store the rows of a source that are new, and withdraw its open ones that are not among
    them."""
    by_key = {row.key: row for row in rows}
    stored = FactProposal.objects.filter(world=world, source_id=source.id)
    keys = set(stored.values_list("key", flat=True))
    gone = stored.filter(state=State.OPEN).exclude(key__in=by_key)
    # A model may leave out the next time what it has read once: its quote has to be there.
    still = [row.pk for row in gone.filter(method=LLM) if row.quote in source.quoted]
    withdrawn, _by_type = gone.exclude(pk__in=still).delete()
    new = [row for key, row in by_key.items() if key not in keys]
    # Two readings at once: the second finds the rows of the first.
    FactProposal.objects.bulk_create(new, batch_size=BATCH, ignore_conflicts=True)
    return ReadingResult(len(new), withdrawn)


def forget_source(source_id: UUID) -> None:
    """Delete what was proposed from a row that is deleted for good: it quotes its text."""
    FactProposal.objects.filter(source_id=source_id).delete()
    LatestReading.objects.filter(source_id=source_id).delete()
