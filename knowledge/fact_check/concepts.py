"""Words that say the same, in one language and across them: `carved` and `вырезана`."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from knowledge.fact_check.lexicon import load_yaml
from retrieval.text import fold_name, has_hangul, text_forms, word_stem


@dataclass(frozen=True)
class Concepts:
    """`by_stem`: the concepts of a stem; `verbs`: those of the Korean words with this beginning;
    `groups`: the exclusive groups of a concept."""

    by_stem: dict[str, frozenset[str]]
    verbs: tuple[tuple[str, str], ...]
    groups: dict[str, frozenset[int]]


@cache
def _concepts() -> Concepts:
    data = load_yaml("concepts")
    by_stem: dict[str, set[str]] = defaultdict(set)
    verbs = []
    for line in data["words"]:
        words = line.replace("|", " ").split()
        concept = words[0]
        for word in words:
            if word.endswith("~"):
                verbs.append((word[:-1], concept))
            else:
                # The shortest form is what a Korean word is compared by.
                forms = text_forms(word) if has_hangul(word) else [word_stem(fold_name(word))]
                for form in (word, min(forms, key=len)) if has_hangul(word) else forms:
                    by_stem[form].add(concept)
    groups: dict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(data["exclusive"]):
        for concept in group:
            groups[concept].add(number)
    return Concepts(
        {stem: frozenset(names) for stem, names in by_stem.items()},
        tuple(verbs),
        {concept: frozenset(numbers) for concept, numbers in groups.items()},
    )


@cache
def concepts_of(stem: str) -> frozenset[str]:
    """Return the concepts of a stem, or of a Korean word."""
    known = _concepts()
    if not has_hangul(stem):
        return known.by_stem.get(stem, frozenset())
    found = {name for form in text_forms(stem) for name in known.by_stem.get(form, ())}
    verbs = (concept for start, concept in known.verbs if stem.startswith(start))
    return frozenset(found or verbs)


@cache
def opposites_of(stem: str) -> frozenset[str]:
    """Return the concepts that say the opposite: to hate is not to love."""
    groups = load_yaml("concepts")["exclusive"]
    pairs = (group for group in groups if len(group) == 2)
    own = concepts_of(stem)
    return frozenset(name for pair in pairs if own & set(pair) for name in pair if name not in own)


@cache
def exclusive_groups(stem: str) -> frozenset[int]:
    """Return the groups of which a thing has only one word, and `stem` is one."""
    groups = _concepts().groups
    return frozenset(number for name in concepts_of(stem) for number in groups.get(name, ()))


@cache
def deeds_done_once(stem: str) -> frozenset[str]:
    """Return the concepts of a stem that only one can have done to a thing: to build it."""
    return concepts_of(stem) & frozenset(load_yaml("concepts")["done_once"])
