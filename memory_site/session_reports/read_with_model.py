"""Read a report with the configured language model, window by window. What it says rests on quotes:
a line whose quote is not in the report is dropped, and so is a name that the world does not know.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from episodes.summarize import SourcedSentence, select_sentences
from knowledge.graph.labels import RELATION_LABELS, relation_label
from knowledge.graph.models import GraphNode
from knowledge.graph.relations import Relations
from memory_site.session_reports.learned import reveals_of_quotes
from memory_site.session_reports.names import NamedSubject
from memory_site.session_reports.people import candidate
from memory_site.session_reports.proposal import (
    NameInReport,
    Proposal,
    ProposedChange,
    ProposedFact,
    ProposedLooseEnd,
)
from memory_site.session_reports.propose import (
    LONGEST_LOOSE_END,
    MOST_LOOSE_ENDS,
    SUMMARY_SENTENCES,
    Report,
    propose_by_rules,
)
from memory_site.session_reports.sentences import Sentence, windows_of
from retrieval.errors import LanguageModelDown
from retrieval.llm import InvalidAnswer, Purpose, PurposeModel, get_llm, in_tags

logger = logging.getLogger(__name__)
PROMPT = (Path(__file__).parent / "data" / "prompt.md").read_text(encoding="utf-8")
MOST_NAMES = 80
LARGEST_DELTA = 40
NOT_A_LETTER = re.compile(r"[\W_]+")
Quote = Annotated[str, Field(max_length=400)]
Name = Annotated[str, Field(max_length=120)]


class ModelPerson(BaseModel):
    name: Name
    was_there: bool
    quote: Quote


class ModelChange(BaseModel):
    name: Name
    axis: Literal["affection", "trust", "respect", "fear"]
    delta: Annotated[int, Field(ge=-LARGEST_DELTA, le=LARGEST_DELTA)]
    reason: Annotated[str, Field(max_length=300)]
    quote: Quote


class ModelLearned(BaseModel):
    name: Name
    quote: Quote


class ModelFact(BaseModel):
    subject: Name
    relation: Literal[(*sorted(RELATION_LABELS),)]  # type: ignore[valid-type]
    object: Name
    quote: Quote


class ModelLooseEnd(BaseModel):
    text: Annotated[str, Field(max_length=300)]
    quote: Quote


class ModelReading(BaseModel):
    """The structured answer of the language model about one window."""

    summary: Annotated[list[Annotated[str, Field(max_length=400)]], Field(max_length=5)]
    game_master_only: Annotated[list[Quote], Field(max_length=10)]
    people: Annotated[list[ModelPerson], Field(max_length=20)]
    changes: Annotated[list[ModelChange], Field(max_length=12)]
    learned: Annotated[list[ModelLearned], Field(max_length=12)]
    facts: Annotated[list[ModelFact], Field(max_length=12)]
    loose_ends: Annotated[list[ModelLooseEnd], Field(max_length=8)]


def propose(report: Report, *, progress: Callable[[float], None] = lambda _share: None) -> Proposal:
    """Propose with the language model if there is one, else, or when it fails, by rules. Must not
    run inside a transaction when there is one."""
    proposal = propose_by_rules(report)
    if (model := get_llm(Purpose.READING, str(report.party.world_id))) is None:
        return proposal
    try:
        readings = list(read_windows(report, model, progress=progress))
    except (LanguageModelDown, InvalidAnswer):
        logger.warning("A report was read by rules: the language model failed", exc_info=True)
        return proposal.model_copy(update={"degraded": ["llm"]})
    return merge(report, proposal, readings)


def read_windows(
    report: Report, model: PurposeModel, *, progress: Callable[[float], None]
) -> Iterator[ModelReading]:
    """Ask about one window after the other, with the names that the rules found in it."""
    told = [each for each in report.sentences if each.start < report.notes_from]
    windows = [*windows_of(told), *windows_of(report.sentences[len(told) :])]
    for number, window in enumerate(windows):
        progress(number / len(windows))
        text = report.text[window[0].start : window[-1].end]
        prompt = (
            f"Party: {report.party.name}. Player characters: "
            f"{', '.join(map(str, report.party.members)) or '-'}\n"
            f"Known names: {', '.join(names_in(report, window)) or '-'}\n"
            f"{in_tags('report', text)}"
        )
        answer = model.generate_structured(PROMPT, prompt, ModelReading, reuse=True)
        reading = with_true_quotes(ModelReading.model_validate(answer), text)
        # The players read the summary, and notes are for game masters alone.
        is_of_notes = window[0].start >= report.notes_from
        yield reading.model_copy(update={"summary": []}) if is_of_notes else reading


def names_in(report: Report, window: Sequence[Sentence]) -> list[str]:
    names = (
        thing.name
        for sentence in window
        for mention in report.mentions.by_sentence.get(sentence.start, ())
        for thing in mention.things
    )
    return list(dict.fromkeys(names))[:MOST_NAMES]


def with_true_quotes(reading: ModelReading, text: str) -> ModelReading:
    """Return the reading without the lines whose quote is not in the text."""
    letters = letters_of(text)

    def is_there(quote: str) -> bool:
        return bool(letters_of(quote)) and letters_of(quote) in letters

    kept = {
        name: [line for line in getattr(reading, name) if is_there(line.quote)]
        for name in ("people", "changes", "learned", "facts", "loose_ends")
    }
    hidden = [quote for quote in reading.game_master_only if is_there(quote)]
    return reading.model_copy(update={**kept, "game_master_only": hidden})


def letters_of(text: str) -> str:
    """The text without case, punctuation and blanks: models change those when they copy."""
    return NOT_A_LETTER.sub("", text.casefold())


def merge(report: Report, proposal: Proposal, readings: Sequence[ModelReading]) -> Proposal:
    """Put what the model read over what the rules found. Names, places, dates and what the party
    met for the first time stay those of the rules."""
    find = NameFinder(report)
    update = {
        "method": "llm",
        "summary": summary_of(readings) or proposal.summary,
        "people": people_of(report, readings, proposal.people, find),
        "changes": changes_of(readings, find),
        "facts": facts_of(readings, find, report),
        "loose_ends": loose_ends_of(readings),
    }
    hidden = [quote for reading in readings for quote in reading.game_master_only]
    update["notes"] = "\n".join(dict.fromkeys([*proposal.notes.splitlines(), *hidden]))
    told = [(find(line.name), line.quote) for each in readings for line in each.learned]
    known = [
        (thing, quote) for thing, quote in told if thing and not is_quote_hidden(report, quote)
    ]
    first_met = [line for line in proposal.reveals if line.candidates[0].secret is None]
    update["reveals"] = [*first_met, *reveals_of_quotes(known, report.mentions, party=report.party)]
    return proposal.model_copy(update=update)


class NameFinder:
    """Which thing a name in the model's answer means; none for a name that fits several."""

    def __init__(self, report: Report) -> None:
        self.things = report.index.things
        self.index = report.index.index

    def __call__(self, name: str) -> NamedSubject | None:
        found = self.index.find_spelled(name)
        return self.things[int(str(found[0].key))] if len(found) == 1 else None


def summary_of(readings: Sequence[ModelReading]) -> str:
    lines = [line.strip() for each in readings for line in each.summary if line.strip()]
    sentences = [SourcedSentence(line) for line in lines]
    if len(sentences) > SUMMARY_SENTENCES:
        sentences = select_sentences(sentences, SUMMARY_SENTENCES)
    return " ".join(each.text for each in sentences)


def people_of(
    report: Report,
    readings: Iterable[ModelReading],
    people: Sequence[NameInReport],
    find: NameFinder,
) -> list[NameInReport]:
    """Return the people of the rules, with the model's word on who was there; what is for game
    masters alone does not say so."""
    there: dict[str, bool] = {}
    for line in (line for each in readings for line in each.people):
        thing = find(line.name)
        if thing and thing.sort == "person":
            is_told = line.was_there and not is_quote_hidden(report, line.quote)
            there[thing.ref] = there.get(thing.ref, False) or is_told
    return [
        line.model_copy(update={"present": there.get(line.candidates[0].ref, line.present)})
        if len(line.candidates) == 1
        else line
        for line in people
    ]


def is_quote_hidden(report: Report, quote: str) -> bool:
    """Whether every sentence with the quote is for game masters alone."""
    letters = letters_of(quote)
    hosts = [each for each in report.sentences if letters in letters_of(each.text)]
    if hosts:
        return all(each.is_hidden for each in hosts)
    return report.words.is_hidden(quote)


def changes_of(readings: Iterable[ModelReading], find: NameFinder) -> list[ProposedChange]:
    best: dict[tuple[str, str], ProposedChange] = {}
    for line in (line for each in readings for line in each.changes):
        thing = find(line.name)
        if thing is None or thing.row("npc") is None or not line.delta:
            continue
        change = ProposedChange(
            candidates=[candidate(thing)],
            axis=line.axis,
            delta=line.delta,
            reason=line.reason or line.quote,
            quote=line.quote,
        )
        known = best.get((thing.ref, line.axis))
        if known is None or abs(line.delta) > abs(known.delta):
            best[thing.ref, line.axis] = change
    return list(best.values())


def facts_of(
    readings: Iterable[ModelReading], find: NameFinder, report: Report
) -> list[ProposedFact]:
    """Return the facts whose relation may join the two entities."""
    relations = Relations.load()
    ids = [row.id for thing in find.things for row in thing.rows if row.kind == "entity"]
    nodes = GraphNode.objects.believed_now().in_world(report.party.world).in_bulk(ids)
    facts: dict[tuple[str, str, str], ProposedFact] = {}
    for line in (line for each in readings for line in each.facts):
        ends = [find(line.subject), find(line.object)]
        rows = [thing and thing.row("entity") for thing in ends]
        src, dst = (nodes.get(row.id) if row else None for row in rows)
        if not src or not dst or src == dst or line.relation not in relations:
            continue
        if (src.kind, dst.kind) in relations[line.relation].joins:
            sentence = f"{src.name} {relation_label(line.relation)} {dst.name}"
            key = src.slug, line.relation, dst.slug
            facts[key] = ProposedFact(
                src=key[0], relation=key[1], dst=key[2], sentence=sentence, quote=line.quote
            )
    return list(facts.values())


def loose_ends_of(readings: Iterable[ModelReading]) -> list[ProposedLooseEnd]:
    lines = [line for each in readings for line in each.loose_ends if line.text.strip()]
    texts = {line.text.strip()[:LONGEST_LOOSE_END]: line.quote for line in lines}
    found = [ProposedLooseEnd(text=text, quote=quote) for text, quote in texts.items()]
    return found[-MOST_LOOSE_ENDS:]
