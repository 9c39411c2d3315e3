"""Read a text with the configured language model, window by window, for what the rules do not see.
A line whose quote is not in the text is dropped, and so is a name that the quote does not have."""

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from knowledge.extraction.findings import Finding, TextSentence
from knowledge.extraction.text_reader import sentences_of
from knowledge.graph.entity_linking import EntityLinker
from knowledge.graph.labels import RELATION_LABELS
from knowledge.graph.models import GraphNode, NodeKind
from knowledge.graph.relations import Relations
from memory_site.fact_proposals.statement import EVENTS
from retrieval.errors import LanguageModelDown
from retrieval.llm import InvalidAnswer, PurposeModel, in_tags
from worlds.models import World

logger = logging.getLogger(__name__)
PROMPT = (Path(__file__).parent / "data" / "prompt.md").read_text(encoding="utf-8")
WINDOW, MOST_NAMES = 6_000, 80
Quote = Annotated[str, Field(max_length=400)]
Name = Annotated[str, Field(max_length=120)]
Kind = Literal[(*NodeKind.values,)]  # type: ignore[valid-type]


class StatedFactLine(BaseModel):
    subject: Name
    relation: Literal[(*sorted(RELATION_LABELS),)]  # type: ignore[valid-type]
    object: Name
    label: Annotated[str, Field(max_length=80)]
    quote: Quote


class StatedAliasLine(BaseModel):
    name: Name
    alias: Name
    quote: Quote


class StatedDateLine(BaseModel):
    name: Name
    what: Literal[(*EVENTS,)]  # type: ignore[valid-type]
    date: Annotated[str, Field(max_length=60)]
    quote: Quote


class NewNameLine(BaseModel):
    name: Name
    kind: Kind
    quote: Quote


class TextStatements(BaseModel):
    """The structured answer of the language model about one window."""

    facts: Annotated[list[StatedFactLine], Field(max_length=40)]
    aliases: Annotated[list[StatedAliasLine], Field(max_length=20)]
    dates: Annotated[list[StatedDateLine], Field(max_length=20)]
    new_names: Annotated[list[NewNameLine], Field(max_length=40)]


def read_with_model(
    world: World, text: str, linker: EntityLinker, relations: Relations, model: PurposeModel
) -> list[Finding]:
    """Return what the model reads in `text`; nothing when it fails. Must not run inside a
    transaction."""
    reader = AnswerReader(text, linker, relations)
    try:
        for window in windows_of_text(text):
            names = dict.fromkeys(node.name for node in linker.mentioned_nodes(window))
            known = ", ".join(list(names)[:MOST_NAMES]) or "-"
            prompt = f"Known names: {known}\n{in_tags('text', window)}"
            answer = model.generate_structured(PROMPT, prompt, TextStatements, reuse=True)
            reader.add(TextStatements.model_validate(answer))
    except (LanguageModelDown, InvalidAnswer):
        logger.warning("A text of %s was read by rules alone", world.slug, exc_info=True)
    return reader.findings


def windows_of_text(text: str) -> Iterator[str]:
    """Yield runs of sentences of at most `WINDOW` characters."""
    start = end = 0
    for sentence in sentences_of(text):
        if sentence.end - start > WINDOW and end > start:
            yield text[start:end]
            start = sentence.start
        end = sentence.end
    if text[start:end].strip():
        yield text[start:end]


class AnswerReader:
    """Makes findings of answers about one text."""

    def __init__(self, text: str, linker: EntityLinker, relations: Relations) -> None:
        self.text, self.linker, self.relations = text, linker, relations
        self.made: dict[str, GraphNode] = {}
        self.findings: list[Finding] = []

    def add(self, answer: TextStatements) -> None:
        for new in answer.new_names:
            place = self._place(new.quote)
            if place and new.name in place.text and not self.linker.index.find_spelled(new.name):
                node = self.made.setdefault(new.name, GraphNode(name=new.name, kind=new.kind))
                self.findings.append(Finding("entity", place, node))
        for line in answer.aliases:
            place, nodes = self._place(line.quote), self._nodes(line.name)
            if place and nodes and line.alias in place.text:
                self.findings.append(Finding("alias", place, nodes[0], alias=line.alias))
        for date in answer.dates:
            place, nodes = self._place(date.quote), self._nodes(date.name)
            if place and nodes and date.date in place.text:
                is_death = date.what == "died" and nodes[0].kind == NodeKind.CHARACTER
                self.findings.append(
                    Finding("death", place, nodes[0], value=date.date)
                    if is_death
                    else Finding("date", place, nodes[0], what=date.what, value=date.date)
                )
        for fact in answer.facts:
            self._add_fact(fact)

    def _add_fact(self, line: StatedFactLine) -> None:
        place, nodes = self._place(line.quote), self._nodes(line.subject, line.object)
        relation = self.relations.get(line.relation)
        if not place or not nodes or relation is None or nodes[0] is nodes[1]:
            return
        if (nodes[0].kind, nodes[1].kind) in relation.joins:
            src, dst = nodes
            self.findings.append(
                Finding("fact", place, src, dst, relation=line.relation, label=line.label)
            )

    def _nodes(self, *names: str) -> list[GraphNode]:
        """Return the entity of each name, known or new; none if one of them is neither."""
        nodes = [self._node(name) for name in names]
        return [node for node in nodes if node] if all(nodes) else []

    def _node(self, name: str) -> GraphNode | None:
        found = self.linker.index.find_spelled(name)
        keys = {match.key for match in found}
        if len(keys) == 1:
            return next(node for node in self.linker.nodes if node.pk in keys)
        return self.made.get(name) if not keys else None

    def _place(self, quote: str) -> TextSentence | None:
        """Return where the quote stands, word for word; None for one that was invented."""
        words = [re.escape(word) for word in quote.split()]
        match = re.search(r"\s+".join(words), self.text) if words else None
        return TextSentence(match[0], match.start(), match.end()) if match else None


def without_those_of_rules(
    findings: Sequence[Finding], by_rules: Sequence[Finding]
) -> list[Finding]:
    """Return what the rules have not found: their quotes are whole sentences."""
    said = {_statement(each) for each in by_rules}
    return [each for each in findings if _statement(each) not in said]


def _statement(finding: Finding) -> tuple[str, ...]:
    other = finding.other.name if finding.other else ""
    ends = sorted((finding.node.name, other))
    return (finding.kind, *ends, finding.relation, finding.alias, finding.what)
