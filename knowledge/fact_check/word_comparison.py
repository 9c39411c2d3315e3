"""Compare the words of a sentence of lore with those of a statement: the sentence confirms it,
contradicts it by another number, a negation or another word of a group, or says nothing of it."""

from collections.abc import Iterable

from knowledge.fact_check.concepts import concepts_of, opposites_of
from knowledge.fact_check.prose_words import (
    AGE,
    YEAR,
    Clause,
    Number,
    SentenceWords,
    excludes,
    has_concept,
    stem_of,
)
from knowledge.fact_check.sentence_clauses import FIRST_YEAR
from knowledge.fact_check.verdicts import FALSE, TRUE
from knowledge.graph.models import GraphNode

MOST_OTHER_WORDS, MOST_NUMBERS = 1, 2
PARTS = frozenset(["단", "칸", "채", "권", "층", "그루"])
"""Korean counters of what a thing consists of: `백 단이다` says no more than the number."""


def compare(statement: SentenceWords, told: SentenceWords, subject: GraphNode | None) -> str:
    """Return what a sentence of an entry about `subject` says of the statement; "" if nothing."""
    if told.is_supposing or not _names_agree(statement, told, subject):
        return ""
    clauses = [
        clause
        for clause in told.clauses
        if any(has_concept(word, clause.words) for word in statement.words)
    ]
    if _limits(statement.clauses) != _limits(clauses):
        return ""
    counted = frozenset().union(*(number.units for number in told.numbers))
    missing = [word for word in statement.words if not has_concept(word, told.words | counted)]
    numbers = _compare_numbers(statement, told)
    if numbers is None or not _is_enough(statement, told):
        return ""
    negative = sum(clause.is_negative for clause in clauses) % 2 == 1
    asserted = sum(clause.is_negative for clause in statement.clauses) % 2 == 1
    if missing:
        if not numbers:
            return ""
        if negative != asserted:
            return TRUE if _is_opposite(missing, statement, told) else ""
        return FALSE if _is_excluded(missing, statement, clauses) else ""
    if statement.denies_having and not negative:
        (noun,) = statement.words if len(statement.words) == 1 else ("",)
        return FALSE if has_concept(noun, [told.first]) else ""
    if not numbers and negative != asserted:
        return ""
    counted = frozenset().union(*(number.units for number in statement.numbers))
    is_bare = not numbers and not statement.words - counted
    if is_bare and not _counts_its_subject(statement, told, subject):
        return ""
    return TRUE if numbers and negative == asserted else FALSE


def _counts_its_subject(
    statement: SentenceWords, told: SentenceWords, subject: GraphNode | None
) -> bool:
    """Whether a sentence with another number can only count the same: it is about the same, and of
    people it says little else. `The Abbey holds one seat on the Bench` counts no seats of it."""
    is_of_subject = subject is not None and subject.pk in statement.names
    if not is_of_subject and (set(told.names) != set(statement.names) or subject is not None):
        return False
    units = frozenset().union(*(number.units for number in statement.numbers))
    return not has_concept(stem_of("people"), units) or len(told.words) <= MOST_OTHER_WORDS


def _is_excluded(missing: list[str], statement: SentenceWords, clauses: list[Clause]) -> bool:
    """Whether the statement differs by one word, for which a clause has another of a group of which
    there can be only one: red cloaks for grey ones."""
    if len(missing) > 1 or len(statement.words) < 2 or len(clauses) != 1:
        return False
    return excludes(missing[0], clauses[0].words)


def _is_opposite(missing: list[str], statement: SentenceWords, told: SentenceWords) -> bool:
    """Whether `does not like sweets` is said as `dislikes sweets`."""
    opposites = opposites_of(missing[0]) if len(missing) == 1 and len(statement.words) > 1 else ()
    return any(not concepts_of(word).isdisjoint(opposites) for word in told.words)


def _limits(clauses: Iterable[Clause]) -> frozenset[str]:
    return frozenset().union(*(clause.limits for clause in clauses))


def _is_enough(statement: SentenceWords, told: SentenceWords) -> bool:
    """One common word is a coincidence, unless the sentence says nothing else, or nothing else
    between two commas or conjunctions. Without a name it takes three words."""
    said = len(statement.words) + len(statement.numbers)
    if not statement.names:
        return said >= 3
    if any(AGE in number.units for number in statement.numbers):
        return True
    if said == 1 and statement.words:
        (word,) = statement.words
        if statement.denies_having:
            return True
        return any(len(part) == 1 and has_concept(word, part) for part in told.parts)
    if said == 1 and not statement.numbers[0].units.isdisjoint(PARTS):
        return len(told.numbers) == 1
    return said >= 2 or (said == 1 and len(told.words) + len(told.numbers) == 1)


def _names_agree(statement: SentenceWords, told: SentenceWords, subject: GraphNode | None) -> bool:
    """Whether the sentence is about the names of the statement. One that names nobody else is about
    the subject of its entry."""
    if set(statement.names) <= set(told.names):
        return True
    if subject is None:
        return False
    if told.begins_with_pronoun and set(statement.names) == {subject.pk}:
        return True
    return set(statement.names) - set(told.names) == {subject.pk} and set(told.names) <= set(
        statement.names
    )


def _compare_numbers(statement: SentenceWords, told: SentenceWords) -> bool | None:
    """Return whether the numbers are the same; None if they count different things."""
    if not statement.numbers or statement.denies_having:
        return True
    same = True
    for number in statement.numbers:
        counted = [each for each in told.numbers if number.counts_same(each)]
        if any(each.value == number.value and _may_count(number, each) for each in told.numbers):
            continue
        # `Seven of them, though one of the seven seats is empty` does not say how many there are.
        is_said = any(each.value == number.value for each in told.numbers)
        if len(counted) != 1 or is_said or len(told.numbers) > MOST_NUMBERS:
            return None
        same = False
    return same


def _may_count(number: Number, told: Number) -> bool:
    """Whether a number counts the same as one of the statement, or is one of a list of years."""
    is_year = YEAR in number.units and number.value >= FIRST_YEAR
    return is_year or number.counts_same(told)
