"""Compare two texts by the cosine of their vectors and by their words.

By the rules a pair says the same only if nothing that carries meaning differs: numbers, names,
negation, times, or a word and its opposite. A fitted model also knows what says it in other words.
A pair that is similar but differs in one of these may be a contradiction ("formerly").
"""

import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from memories.identity import Identity
from memories.similarity.comparable_text import (
    COMPARISONS,
    CONNECTIVES,
    FUNCTION_WORDS,
    INTENTIONS,
    NO_NAMES,
    OPPOSITE_OF,
    RELATION_OF,
    SPELLING_WEIGHT,
    ComparableText,
    fingerprint,
    is_inflection,
    parse_text,
    spelling_match,
    subject_noun,
)
from memories.similarity.same_statement import (
    has_other_details,
    lacks_names,
    same_statement_model,
    signs_of_statements,
)
from memories.similarity.several_hold import several_hold
from memories.text_caches import text_cache
from retrieval.text import split_sentences

SAME_FROM = 0.8
"""`similarity_of` from which two texts without a `difference` say the same. Fitted on the tuning
half of the labelled pairs."""
SIMILAR_FROM = 0.72
"""`similarity_of` from which two texts with a `difference` contradict each other."""
VECTOR_SHARE = 0.8
SHARED_BY_CONTRADICTING = 0.7
"""`overlap` from which texts longer than one statement contradict each other: they are versions of
one text. Of two that share less, a number or a name differs because they speak of other things."""
RUSSIAN_CONTRASTS = frozenset({"а", "но"})
QUESTION_MARKS = ("?", "？")
NO_STATEMENT = re.compile(r"[?？!！\n]")
"""A question, an exclamation, several lines."""
# A bound that is exact may still come out smaller than the sum it bounds.
ROUNDING = 1e-9
MIN_COSINE_OF_SAME = 0.5
"""Of our own pairs that say the same, two of a hundred are below."""
MIN_COSINE = (SIMILAR_FROM - (1 - VECTOR_SHARE)) / VECTOR_SHARE - 0.001
"""Cosine below which not even the same words reach `SIMILAR_FROM`."""


class Verdict(StrEnum):
    EXACT = "exact"
    NEAR = "near"
    REWORDED = "reworded"
    """The same in other words, as the model has it."""
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"

    @property
    def is_same(self) -> bool:
        return self in (Verdict.EXACT, Verdict.NEAR, Verdict.REWORDED)


def compare(
    one: str,
    other: str,
    *,
    similarity: float,
    identities: tuple[Identity, Identity],
    embedder: str = "",
) -> Verdict:
    """Compare two memories by their texts, whose vectors of `embedder` have the cosine
    `similarity`, and their identities."""
    mine, yours = identities
    verdict = compare_texts(one, other, similarity=similarity, embedder=embedder)
    may_hold = {
        Verdict.EXACT: mine.may_be_one_with(yours),
        # A rewording must not take a key away, nor give it to other words.
        Verdict.NEAR: mine.may_be_one_with(yours) and mine.key == yours.key,
        # What somebody said stays in their words: each turn of a conversation happened.
        Verdict.REWORDED: mine.may_be_one_with(yours)
        and mine.key == yours.key
        and not mine.speaker,
        Verdict.CONTRADICTS: mine.may_contradict(yours),
    }
    return verdict if may_hold.get(verdict, True) else Verdict.DIFFERENT


def compare_texts(one: str, other: str, *, similarity: float, embedder: str = "") -> Verdict:
    """Compare by rules and, where `embedder` is the one that it was fitted for, by the model of
    `same_statement`, which also knows other words for the same, and doubts what rules merge."""
    if fingerprint(one) == fingerprint(other):
        return Verdict.EXACT
    verdict = compare_by_rules(one, other, similarity=similarity)
    model = same_statement_model()
    if embedder != model.embedder or similarity < MIN_COSINE_OF_SAME:
        return verdict
    # The test of names and numbers is cheap, and excludes most pairs.
    if verdict is not Verdict.NEAR and not may_be_reworded(one, other):
        return verdict
    probability = probability_of_same(one, other, similarity=similarity)
    if verdict is Verdict.NEAR:
        return verdict if probability >= model.least_by_rules else Verdict.DIFFERENT
    return Verdict.REWORDED if probability >= model.least else verdict


def may_be_reworded(one: str, other: str) -> bool:
    """Whether the model was fitted to such texts, and nothing says plainly that they differ: a name
    that one of them lacks, another number, another time."""
    if not (is_one_statement(one) and is_one_statement(other)):
        return False
    return not (lacks_names(one, other) or has_other_details(one, other))


@text_cache(maxsize=16_384)
def is_one_statement(text: str) -> bool:
    """Whether the text is one sentence that states something. The model knows nothing else: it
    takes two greetings, or two moments of one fight, for two ways to say the same."""
    sentences = [each for each in split_sentences(text) if each.strip()]
    return len(sentences) == 1 and not NO_STATEMENT.search(text)


def probability_of_same(one: str, other: str, *, similarity: float) -> float:
    model = same_statement_model()
    by_trees = model.by_trees(signs_of_comparison(one, other, similarity=similarity))
    return model.probability(one, other, by_trees=by_trees)


def signs_of_comparison(one: str, other: str, *, similarity: float) -> list[float]:
    """Return the signs that the trees of `same_statement` read."""
    mine, yours = parse_text(one), parse_text(other)
    return signs_of_statements(
        one,
        other,
        similarity=similarity,
        differences=[differs(mine, yours) for differs in DIFFERENCES.values()],
        overlap=overlap(one, other),
    )


def compare_by_rules(one: str, other: str, *, similarity: float) -> Verdict:
    # The bounds are cheap and exclude most pairs.
    if similarity < MIN_COSINE or upper_bound(one, other, similarity=similarity) < SIMILAR_FROM:
        return Verdict.DIFFERENT
    total = similarity_of(one, other, similarity=similarity)
    if name := difference(one, other):
        is_contradiction = (
            total >= SIMILAR_FROM
            and name not in BOTH_MAY_HOLD
            and can_contradict(one, other)
            and not several_hold(parse_text(one), parse_text(other), name)
        )
        return Verdict.CONTRADICTS if is_contradiction else Verdict.DIFFERENT
    return Verdict.NEAR if total >= SAME_FROM else Verdict.DIFFERENT


def can_contradict(one: str, other: str) -> bool:
    """Whether a difference between two texts is one about the same thing: between two statements,
    or two versions of a longer text. A question contradicts nothing."""
    if any(text.rstrip().endswith(QUESTION_MARKS) for text in (one, other)):
        return False
    if is_one_statement(one) and is_one_statement(other):
        return True
    return overlap(one, other) >= SHARED_BY_CONTRADICTING


def similarity_of(one: str, other: str, *, similarity: float) -> float:
    """From 0 to 1: mostly the cosine of the vectors, the rest the overlap of the words."""
    return VECTOR_SHARE * max(0.0, similarity) + (1 - VECTOR_SHARE) * overlap(one, other)


def upper_bound(one: str, other: str, *, similarity: float) -> float:
    """The most that `similarity_of` can be, without comparing spellings: it excludes most pairs
    in a fraction of the time."""
    mine, yours = parse_text(one).words, parse_text(other).words
    both, all_words = 2 * len(mine & yours), len(mine) + len(yours)
    most = (both + SPELLING_WEIGHT * (all_words - both)) / all_words if mine and yours else 0.0
    return VECTOR_SHARE * similarity + (1 - VECTOR_SHARE) * most + ROUNDING


def overlap(one: str, other: str) -> float:
    """Dice coefficient of the words, 0 to 1; synonyms count as one, similar spellings in part."""
    mine, yours = parse_text(one).words, parse_text(other).words
    if not mine or not yours:
        return 0.0
    both = mine & yours
    soft = sum(spelling_match(word, yours) for word in mine - both) + sum(
        spelling_match(word, mine) for word in yours - both
    )
    return (2 * len(both) + soft) / (len(mine) + len(yours))


def difference(one: str, other: str) -> str:
    """Name the first of `DIFFERENCES` between two texts, or return an empty string."""
    mine, yours = parse_text(one), parse_text(other)
    return next((name for name, differs in DIFFERENCES.items() if differs(mine, yours)), "")


def _have_same_names(mine: ComparableText, yours: ComparableText) -> bool:
    """Every name of one is a word of the other.

    Names are looked up among all words: a name that begins a sentence may not be recognized as one.
    """
    return all(
        name in words or any(is_inflection(name, word) for word in words)
        for names, words in ((mine.names, yours.stems), (yours.names, mine.stems))
        for name in names
    )


def _has_opposites(mine: ComparableText, yours: ComparableText) -> bool:
    only_mine, only_yours = mine.raw - yours.raw, yours.raw - mine.raw
    return any(OPPOSITE_OF.get(word, set()) & only_yours for word in only_mine)


def _has_swapped_names(mine: ComparableText, yours: ComparableText) -> bool:
    """The same names in other roles: who did it to whom. English tells the roles by the order,
    which a passive swaps without changing the meaning, Russian by the cases."""
    # What begins a sentence is a name if the other text has it as one.
    names = {*mine.names, *yours.names}
    own, other = ([each for each in text.sequence if each[0] in names] for text in (mine, yours))
    if len(names) < 2 or Counter(name for name, _ in own) != Counter(name for name, _ in other):
        return False
    if not all(name.isascii() for name in names):
        return sorted(own) != sorted(other)
    has_another_order = [name for name, _ in own] != [name for name, _ in other]
    return has_another_order and mine.is_passive == yours.is_passive


def _has_swapped_words(mine: ComparableText, yours: ComparableText) -> bool:
    """The same words in the same order, but two that are exchanged: the baron hired them against
    the abbey, the abbey hired them against the baron. Where endings tell the roles, words in the
    same forms are only in another order."""
    own, other = (
        [each for each in text.sequence if each[1] not in NO_NAMES] for text in (mine, yours)
    )
    if len(own) != len(other) or len(own) < 3 or mine.is_passive != yours.is_passive:
        return False
    pairs = zip(own, other, strict=True)
    unlike = [(one, two) for one, two in pairs if not _is_one_word(one[0], two[0])]
    if len(unlike) != 2:
        return False
    (first, second), (third, fourth) = unlike
    if not (_is_one_word(first[0], fourth[0]) and _is_one_word(second[0], third[0])):
        return False
    if first[1].isascii() or (first[1] != fourth[1] and second[1] != third[1]):
        return True
    # Russian words in the same forms, each in a clause of its own: Anna fears the dark, Vera water.
    forms = [word for _, word in mine.sequence]
    between = forms[forms.index(first[1]) + 1 : forms.index(third[1])]
    return bool(RUSSIAN_CONTRASTS & set(between))


def _has_swapped_clauses(mine: ComparableText, yours: ComparableText) -> bool:
    """What comes before a connective in one text comes after it in the other."""
    for word in CONNECTIVES & mine.raw & yours.raw:
        (left, right), (other_left, other_right) = (
            _split_at(word, text.sequence) for text in (mine, yours)
        )
        if not (left and right and other_left and other_right):
            continue
        straight = len(left & other_left) + len(right & other_right)
        crossed = len(left & other_right) + len(right & other_left)
        if crossed > straight:
            return True
    return False


def _split_at(
    word: str, sequence: tuple[tuple[str, str], ...]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the content words before `word` and after it."""
    at = [form for _, form in sequence].index(word)
    before, after = sequence[:at], sequence[at + 1 :]
    content = FUNCTION_WORDS | CONNECTIVES
    first, second = (
        frozenset(stemmed for stemmed, form in part if form not in content)
        for part in (before, after)
    )
    return first, second


def _has_other_possessors(mine: ComparableText, yours: ComparableText) -> bool:
    """The queen's aunt, and the aunt's queen; a text may say it without 's."""
    own, other = mine.possessors, yours.possessors
    return bool(own and other) and not own & other


def _has_another_mode(mine: ComparableText, yours: ComparableText) -> bool:
    """A plan and what was done; a comparison and a statement."""
    return any(
        bool(words & mine.raw) != bool(words & yours.raw) for words in (INTENTIONS, COMPARISONS)
    )


def _is_one_word(one: str, other: str) -> bool:
    return one == other or is_inflection(one, other)


def _says_more(mine: ComparableText, yours: ComparableText) -> bool:
    """One has all words of the other and at least one more: the father of somebody, the character
    of a player, what somebody suspects. Both may hold."""
    for one, other in ((mine, yours), (yours, mine)):
        more = [word for word in one.words if not spelling_match(word, other.words)]
        less = [word for word in other.words if not spelling_match(word, one.words)]
        if more and not less and len(other.words) > 1:
            return True
    return False


def _has_swapped_roles(mine: ComparableText, yours: ComparableText) -> bool:
    """Two Korean nouns, each with another particle: who did it to whom. One is enough if it has
    something in one text and is the whole in the other: the village, the village's barn."""
    own, other = dict(mine.roles), dict(yours.roles)
    unlike = [{own[noun], other[noun]} for noun in own.keys() & other.keys()]
    unlike = [roles for roles in unlike if len(roles) > 1]
    return len(unlike) > 1 or {"possessor", "object"} in unlike


def _has_another_relation(mine: ComparableText, yours: ComparableText) -> bool:
    """Each has a word for a relation that the other lacks: near the mill, in the mill."""
    own, other = (
        {RELATION_OF[word] for word in text.raw & RELATION_OF.keys()} for text in (mine, yours)
    )
    return bool(own - other) and bool(other - own)


def _differs_in_one_word(mine: ComparableText, yours: ComparableText) -> bool:
    """All words are shared but one on each side: the same statement about something else."""
    only_mine = [word for word in mine.words if not spelling_match(word, yours.words)]
    only_yours = [word for word in yours.words if not spelling_match(word, mine.words)]
    if not (len(only_mine) == len(only_yours) == 1 and len(mine.words) > 2):
        return False
    noun = subject_noun(only_mine[0], mine)
    return not noun or noun != subject_noun(only_yours[0], yours)


DIFFERENCES: dict[str, Callable[[ComparableText, ComparableText], bool]] = {
    "number": lambda mine, yours: mine.numbers != yours.numbers,
    "negation": lambda mine, yours: mine.is_negated != yours.is_negated,
    "time": lambda mine, yours: mine.times != yours.times,
    "name": lambda mine, yours: not _have_same_names(mine, yours),
    "opposite": _has_opposites,
    "order": _has_swapped_names,
    "role": _has_swapped_roles,
    "relation": _has_another_relation,
    "possessor": _has_other_possessors,
    "mode": _has_another_mode,
    "word": _differs_in_one_word,
    "parts": _has_swapped_words,
    "clauses": _has_swapped_clauses,
    "detail": _says_more,
}
"""What changes the meaning, by name, the cheapest test first."""


BOTH_MAY_HOLD = frozenset({"detail"})
"""Differences that make two statements of one, and no contradiction."""
