"""Judge a statement whose words no lexicon has by what they mean (`paraphrases.py`).

The statement has to be about two names. The meaning of its other words gives each relation of the
lexicon, and none of them, a probability; each becomes a claim, and the facts judge it. The
statement is true or false if the relations by which it is so are probable enough together.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from knowledge.fact_check.checker import FactChecker
from knowledge.fact_check.claims import MAX_NAMES, Claim
from knowledge.fact_check.description_nouns import nouns_of
from knowledge.fact_check.descriptions import DescriptionReader
from knowledge.fact_check.lexicon import claim_kinds, language_of, lexicon, load_yaml
from knowledge.fact_check.name_slots import DescribedMention, joined_mentions, with_slots
from knowledge.fact_check.paraphrases import LETTERS, NONE, PhraseClass, mask_names, phrase_model
from knowledge.fact_check.prose_words import words_of
from knowledge.fact_check.role_parser import aspect_of, says_holding
from knowledge.fact_check.statement_parts import (
    SPACES,
    ClaimDate,
    Tense,
    strip_date,
    strip_negation,
    strip_tense,
)
from knowledge.fact_check.statements import StatementReader
from knowledge.fact_check.verdicts import FALSE, TRUE, Judgement
from knowledge.graph.entity_linking import EntityLinker
from knowledge.questions.numbers import value_of
from retrieval.embedders import get_embedder
from retrieval.errors import EmbedderDown
from retrieval.text import NameMention
from worlds.callers import Caller

LEAST = {TRUE: 0.55, FALSE: 0.87}
"""From which probability a verdict is believed. What excludes a wrong guess is found more often
than what states it."""
LEAST_DESCRIBED = {TRUE: 0.6, FALSE: 0.97}
"""The same where a description stands for a name."""
LEAST_RATIO = 2
"""How many times as probable as its opposite a verdict has to be."""
NEGLIGIBLE = 0.03
"""Relations that are less probable are not judged."""
MOST_WORDS, MOST_READINGS = 18, 4
ALTERNATIVES = {"lives": ("lives", "located")}
"""A claim of the phrases that facts state in more than one way."""
SLOT = re.compile(r"(?<!\S)M(\d)\S*")
OF_KIN = frozenset(("siblings", "married", "betrothed"))
"""What may be meant beside a word for kin: who is whose mother, the patterns read better."""
KIN = frozenset(
    [
        "father",
        "mother",
        "parent",
        "child",
        "son",
        "daughter",
        "brother",
        "sister",
        "siblings",
        "husband",
        "wife",
        "uncle",
        "aunt",
        "nephew",
        "niece",
        "cousin",
        "grandfather",
        "grandmother",
        "grandson",
        "granddaughter",
    ]
)
EMBEDDED = {
    "en": re.compile(
        r"\b(?:knows?|wonders?|guess\w*|suspects?|thinks?|remembers?|forgot|asks?|asked|sure)"
        r" (?:who|where|what|how|why|that|whether|if|which)\b"
    ),
    "ru": re.compile(
        r"\b(?:зна\w+|догадыва\w+|подозрева\w+|дума\w+|счита\w+|наде\w+|помн\w+|увер\w+|"
        r"спрашива\w+)(?: \S+)? (?:кто|кого|кому|кем|где|что|как|почему|чей|куда|чья|чье)\b"
    ),
    "ko": re.compile(
        r"(?:는지|은지|인지|을지|다고|라고)(?= |$)"
        # `길드가 찾아가는 고아원은 도시에 있다` is about an orphanage.
        r"|M\d_(?:이|가) (?:\S+ )*[가-힣]{2,}(?:은|는) M\d"
    ),
}
"""What somebody knows or thinks, and what is said of somebody else than the two."""


@dataclass(frozen=True)
class OpenStatement:
    """A statement about two names, without its time, date and negation."""

    text: str
    a: int
    b: int
    tense: Tense
    date: ClaimDate | None
    is_described: bool
    kinds: tuple[str, ...]
    language: str
    linker: EntityLinker
    mentions: tuple[NameMention, ...]

    @property
    def names_kin(self) -> bool:
        """Whether it has a word for somebody's kin: `M1's mother` is nobody who is named."""
        nouns = (noun for word in self.text.split() for noun in nouns_of(word))
        return any(noun.claim in KIN for noun in nouns)

    @property
    def phrase(self) -> str:
        return mask_names(self.text, self.kinds, self.language)

    @property
    def pair(self) -> str:
        return self.kinds[self.a] + self.kinds[self.b]


def judge_by_meaning(reader: StatementReader, caller: Caller) -> Judgement | None:
    """Return what the facts say of the meaning of a statement; None if that is not clear, or
    without the embedder that the phrases were fitted for."""
    embedder = get_embedder("lore")
    if embedder.name != phrase_model().embedder:
        return None
    checker = FactChecker(reader.view, caller=caller)
    statements = list(islice(_open_statements(reader), MOST_READINGS))
    try:
        vectors = embedder.embed_query([each.phrase for each in statements]) if statements else ()
    except EmbedderDown:
        return None
    for statement, vector in zip(statements, vectors, strict=True):
        guesses = phrase_model().scores(statement.pair, statement.phrase, vector)
        # `In hock to the boss of M1` is about the boss: without the description it says little.
        may_refute = statement.is_described or not any(each.is_described for each in statements)
        if verdict := _trusted_verdict(statement, guesses, checker, may_refute=may_refute):
            return verdict
    return None


def _trusted_verdict(
    statement: OpenStatement,
    guesses: list[tuple[PhraseClass, float]],
    checker: FactChecker,
    *,
    may_refute: bool,
) -> Judgement | None:
    """Return the verdict that is probable enough, with the facts of its most probable relation."""
    verdicts: dict[str, Judgement] = {}
    shares = {TRUE: 0.0, FALSE: 0.0}
    for guess, share in guesses:
        if share < NEGLIGIBLE:
            break
        if guess.claim == NONE or (statement.names_kin and guess.claim not in OF_KIN):
            continue
        verdict = checker.judge(_claim(statement, guess))
        if verdict.result in shares:
            shares[verdict.result] += share
            verdicts.setdefault(verdict.result, verdict)
    least = LEAST_DESCRIBED if statement.is_described else LEAST
    for result in (TRUE, FALSE) if may_refute else (TRUE,):
        other = shares[FALSE if result == TRUE else TRUE]
        if shares[result] >= max(least[result], LEAST_RATIO * other):
            return verdicts[result]
    return None


def _claim(statement: OpenStatement, guess: PhraseClass) -> Claim:
    nodes = [statement.linker.node_of(mention) for mention in statement.mentions]
    a, b = nodes[statement.a], nodes[statement.b]
    if not guess.is_first:
        a, b = b, a
    names = ALTERNATIVES.get(guess.claim, (guess.claim,))
    if guess.claim == "owns" and says_holding(statement.text, statement.language):
        names = ("holds",)
    kinds = tuple(claim_kinds()[name] for name in names)
    tense, date = statement.tense, statement.date
    aspect = aspect_of(statement.text, guess.claim, statement.language)
    if date and date.role == "during" and aspect != "states":
        date = ClaimDate("since" if aspect == "begins" else "until", date.text, date.language)
    return Claim(a, b, kinds, tense=tense, date=date)


def _open_statements(reader: StatementReader) -> Iterator[OpenStatement]:
    """Yield the readings of a statement that are about two names and say no number."""
    mentions = joined_mentions(reader.text, reader.linker)[:MAX_NAMES]
    described = DescriptionReader(reader.text, reader.linker, reader.view)
    readings = [*described.readings(mentions), tuple(mentions)]
    linker = described.linker
    for reading in readings:
        if any(m.ambiguous or value_of(m.text.lower()) is not None for m in reading):
            continue
        if statement := _open_statement(reader.text, reading, linker):
            yield statement


def _open_statement(
    sentence: str, mentions: tuple[NameMention, ...], linker: EntityLinker
) -> OpenStatement | None:
    nodes = [linker.node_of(mention) for mention in mentions]
    language = lexicon(language_of(sentence))
    full = language.titles.sub("", with_slots(sentence, mentions, nodes))
    text, tense = strip_tense(full, language)
    text, date = strip_date(text, language)
    text, is_negated = strip_negation(text, language)
    if tense == Tense.NO_LONGER:
        is_negated = False
    elif tense == Tense.PRESENT and language.past.search(text):
        tense = Tense.PAST
    slots = [int(number) for number in SLOT.findall(text)]
    # `Души не чает` denies nothing.
    if (
        is_negated
        or tense == Tense.NEVER
        or len(slots) != 2
        or len({nodes[slot].pk for slot in slots}) != 2
    ):
        return None
    statement = OpenStatement(
        text=SPACES.sub(" ", text),
        a=slots[0],
        b=slots[1],
        tense=tense,
        date=date,
        is_described=any(isinstance(m, DescribedMention) for m in mentions),
        kinds=tuple(LETTERS[node.kind] for node in nodes),
        language=language.language,
        linker=linker,
        mentions=mentions,
    )
    if EMBEDDED[language.language].search(full):
        return None
    return statement if _is_plain(statement) else None


def _is_plain(statement: OpenStatement) -> bool:
    """Whether the rest is short and neither counts nor supposes anything."""
    said = words_of(statement.phrase, [], [], statement.language)
    intending = load_yaml("roles")[statement.language]["intending"]
    is_intending = bool(intending and re.search(intending, statement.text))
    is_short = len(statement.text.split()) <= MOST_WORDS
    return is_short and not (said.numbers or said.is_supposing or is_intending)
