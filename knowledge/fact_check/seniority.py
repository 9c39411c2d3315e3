"""Which of two siblings is the elder, as a statement or the label of a fact says it."""

import re
from enum import StrEnum

from knowledge.fact_check.labelled_facts import meanings_of
from knowledge.fact_check.lexicon import language_of, load_yaml
from knowledge.graph.labels import in_words
from knowledge.graph.models import GraphEdge, GraphNode
from retrieval.text import fold_name


class Seniority(StrEnum):
    ELDER = "elder"
    YOUNGER = "younger"


OTHER = {Seniority.ELDER: Seniority.YOUNGER, Seniority.YOUNGER: Seniority.ELDER}
SIBLINGS = frozenset({"siblings", "brother", "sister"})
"""Names of the claims that may say it."""


def said_seniority(text: str) -> Seniority | None:
    """Return what the words of a statement or label say of the one whom they call a sibling."""
    words = load_yaml(language_of(text))["seniority"]
    said = [each for each in Seniority if re.search(rf"\b(?:{words[each]})\b", fold_name(text))]
    return said[0] if len(said) == 1 else None


def seniority_in_fact(fact: GraphEdge, of: GraphNode) -> Seniority | None:
    """Return what the label of a fact about two siblings says of one of them."""
    said = said_seniority(fact.label) if fact.label else None
    if said is None:
        return None
    is_swapped = any(meaning.is_swapped for meaning in meanings_of(fact.label))
    is_of_subject = (in_words(fact).subject == of) != is_swapped
    return said if is_of_subject else OTHER[said]
