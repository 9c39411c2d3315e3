"""What a question about the rules means: its spelling corrected, and the rules that it names,
translates or speaks of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from knowledge.glossary.expansion import Glossary, TermMatch, get_glossary
from knowledge.glossary.ordinary_words import is_ordinary_word
from knowledge.name_matching import (
    NamedRow,
    best_of_each,
    match_rules,
    name_index,
    shared_names,
)
from knowledge.questions.abbreviations import write_out
from knowledge.questions.everyday import Saying, everyday_speech
from knowledge.questions.levels import rules_of_levels
from knowledge.questions.misspellings import (
    MatchNames,
    Spelling,
    correct_spelling,
    names_in_readings,
    words_of_system,
)
from knowledge.questions.parts import QuestionReading
from knowledge.questions.things_by_value import WantedThings, wanted_things
from knowledge.questions.values import MONSTER, AskedValues, asked_values
from knowledge.searched_rows import RuleRows, find_occurring
from knowledge.translated_names import english_stems, find_translated
from retrieval.search import Expansion
from retrieval.text import guess_language, name_words, word_stem

MENTIONED_RULE = 0.1
"""Score of a rule whose name occurs in a longer question; both legs together give at most 1."""
MEANT_RULE = 0.4
"""Score of a rule that everyday speech certainly means, without its name."""
MOST_SAYINGS = 5
MOST_EXPANSIONS = 12
LONGEST = 2000
"""Characters compared with the glossary; a longer text is a paste, not a question."""
WHOLE_NAME = 0.8
"""Score from which a text is a rule's name and nothing else."""
VALUED_THING, OTHER_THING = 0.9, 0.4
"""Score of a rule that has the values asked for, with and without the question's other words."""
THINGS = """SELECT id, title, body, kind FROM ({rows}) AS row
WHERE kind = ANY(%(kinds)s) AND body ~ ALL(%(patterns)s::text[]) ORDER BY title LIMIT 100"""
KINDS = "SELECT id, kind FROM ({rows}) AS row WHERE id = ANY(%(ids)s)"


@dataclass(frozen=True)
class RuleReading(QuestionReading):
    """`text` is the question with misspelled words corrected; `names` are the rules it means."""

    terms: Sequence[TermMatch]
    sayings: Sequence[Saying]
    asked: AskedValues
    """The values that the question asks for, such as a monster's armor class."""

    @property
    def expansions(self) -> list[Expansion]:
        terms = [Expansion(each.term, each.weight) for each in self.terms]
        return terms + [Expansion(each.term, each.weight) for each in self.sayings]


def read_rule_question(text: str, rows: RuleRows) -> RuleReading:
    world, language = rows.caller.world, guess_language(text)
    glossary = glossary_of(rows, language)
    text = write_out(text, partial(has_words, rows))
    spelling = correct_question(text, rows, language, glossary)
    terms = glossary.find(spelling.text[:LONGEST])[:MOST_EXPANSIONS] if glossary else []
    match = partial(
        match_rules,
        *(rows.rules, rows.own_rules, world),
        weight=MENTIONED_RULE,
        answers=rows.answers,
    )
    names = names_in_readings(spelling, match)
    sayings = sayings_in(spelling.text, language, names, terms)
    # As it was written, too: a translation that nobody knows is no slip of the finger.
    spellings = dict.fromkeys((text, spelling.text))
    translated = [row for each in spellings for row in translated_names(each, rows)]
    asked, wanted = asked_values(spelling.text), wanted_things(spelling.text)
    things = things_with_values(wanted, rows)
    if things and not asked:
        asked = AskedValues(wanted.values)
    meant = (*names_of_sayings(sayings, match), *names_beside_values(asked, rows, match))
    names = best_of_each((*names, *translated, *meant, *things))
    return RuleReading(spelling.text, language, names, terms, sayings, asked)


def glossary_of(rows: RuleRows, language: str) -> Glossary | None:
    return get_glossary(rows.caller.world.system_id) if language != "en" else None


def has_words(rows: RuleRows, short: str, long: str) -> bool:
    """Whether the rules have the words of `long`, and the world no rule called `short`."""
    system, language = rows.caller.world.system_id, guess_language(long)
    if not system:
        return False
    known = words_of_system(system, language, shared_names(system), glossary_of(rows, language))
    is_known = any(known.knows(word.norm) for word in name_words(long))
    return is_known and not name_index(rows.own_rules, short).find_spelled(short)


def correct_question(
    text: str, rows: RuleRows, language: str, glossary: Glossary | None
) -> Spelling:
    """Return the question with misspelled words corrected, by the words of the game's rules."""
    system = rows.caller.world.system_id
    if not system:
        return Spelling(text)
    names = shared_names(system)
    known = words_of_system(system, language, names, glossary)
    return correct_spelling(
        text,
        known,
        names,
        find_occurring=partial(find_occurring, rows.passages, language),
        is_ordinary=partial(is_ordinary, language),
    )


def is_ordinary(language: str, word: str) -> bool:
    return everyday_speech(language).knows(word) or is_ordinary_word(word, language)


def sayings_in(
    text: str, language: str, names: Sequence[NamedRow], terms: Sequence[TermMatch]
) -> list[Saying]:
    """Return the terms that the question means by a level of what it names, or by everyday
    speech."""
    known = [row.name for row in names] + [each.term for each in terms]
    return [
        *rules_of_levels(text, known),
        *everyday_speech(language).find(text)[:MOST_SAYINGS],
    ]


def translated_names(text: str, rows: RuleRows) -> Iterator[NamedRow]:
    """Yield the rules that a question in another language may name, or those that answer for
    them."""
    translated = find_translated(rows.caller.world, text)
    replaced = rows.answers() if translated else {}
    return (replace(row, id=replaced.get(row.id, row.id)) for row in translated)


def names_of_sayings(sayings: Sequence[Saying], match: MatchNames) -> list[NamedRow]:
    """Return the rules that everyday speech means. One look-up finds the names of all of them."""
    weights = {saying.term: saying.weight for saying in reversed(sayings)}
    rows = match(". ".join(weights)) if weights else []
    return [
        replace(row, kind="alias", score=MEANT_RULE * weights[row.name])
        for row in rows
        if row.name in weights
    ]


def names_beside_values(asked: AskedValues, rows: RuleRows, match: MatchNames) -> list[NamedRow]:
    """Return the rules of a kind that has the values asked for, if the rest of the question is
    their name. A question that says more is not about a value alone."""
    for name in asked.names:
        named = best_of_each([*match(name), *translated_names(name, rows)])
        certain = {row.id: row for row in named if row.score >= WHOLE_NAME}
        if certain:
            kinds = rows.rules.fetch(KINDS, ("id", "kind"), ids=list(certain))
            if fitting := [certain[pk] for pk, kind in kinds if kind in asked.kinds]:
                return fitting
    return []


def things_with_values(wanted: WantedThings, rows: RuleRows) -> list[NamedRow]:
    """Return the rules whose texts hold the values that a question gives, narrowed down by its
    other words: those of a monster's first line, or of any other text."""
    if not wanted:
        return []
    columns = ("id", "title", "body", "kind")
    values = {"kinds": list(wanted.kinds), "patterns": list(wanted.patterns)}
    found = rows.rules.fetch(THINGS, columns, **values)
    stems = [english_stems(word) for word in wanted.words]
    matched = {
        pk: sum(not own.isdisjoint(stems_of_thing(title, body, kind)) for own in stems)
        for pk, title, body, kind in found
    }
    most = max(matched.values(), default=0)
    if most < len(stems) and not wanted.has_kind:
        return []
    score = VALUED_THING if most == len(stems) else OTHER_THING
    return [NamedRow(row[0], "alias", score, row[1]) for row in found if matched[row[0]] == most]


def stems_of_thing(title: str, body: str, kind: str) -> frozenset[str]:
    of_kind = head_of_monster(body) if kind == MONSTER else body
    return frozenset(word_stem(word.norm) for word in name_words(f"{title} {of_kind}"))


def head_of_monster(body: str) -> str:
    """Its first line, and the table of its statistics that stands next."""
    lines = list(filter(str.strip, body.split("\n")))
    return "\n".join([*lines[:1], *takewhile(is_row, lines[1:])])


def is_row(line: str) -> bool:
    return line.startswith("|")
