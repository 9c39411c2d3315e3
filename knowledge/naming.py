"""Which rules and lore entries a question names: whole, by an alias, in an inflected form, or with a slip."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from retrieval.names import Entry, NameIndex, query_keys

MOST_NAMES = 400
"""Names looked at closely, of those that share the beginning of a word with the question."""
LONGEST_NAME = 120
"""Characters: a longer question is a question, not a name."""
MATCHES = {"exact": "exact", "alias": "alias", "ending": "alias", "part": "fuzzy", "fuzzy": "fuzzy"}


@dataclass(frozen=True)
class NamedRow:
    """A row that the question names; `score` is 1 when the question is nothing but its name."""

    id: UUID
    kind: str
    score: float
    name: str


def named_rows(rows: "QuerySet[Any]", question: str, *, within: float) -> list[NamedRow]:
    """Return the rows of a queryset of rules or lore that `question` is the name of, or that it mentions (scored
    `within`). Nothing outside the queryset is looked at."""
    index = index_of(rows, question)
    if len(question) <= LONGEST_NAME and (whole := index.find(question)):
        best = whole[0].score
        return [
            NamedRow(_id(each.key), MATCHES[each.how], each.score, each.name)
            for each in whole
            if each.score >= min(best, 0.97)
        ]
    return _mentioned(index, question, within)


def index_of(rows: "QuerySet[Any]", text: str) -> NameIndex:
    near = rows.filter(name_keys__overlap=query_keys(text[:2000])).values_list("pk", "title", "aliases")
    return NameIndex(Entry(*row) for row in near[:MOST_NAMES])


def _mentioned(index: NameIndex, question: str, within: float) -> list[NamedRow]:
    mentions = [mention for mention in index.mentions(question) if mention.matches]
    return [
        NamedRow(_id(match.key), "alias", within * match.score / len(mention.matches), match.name)
        for mention in mentions
        for match in mention.matches
        if match.how in ("exact", "alias", "ending")
    ]


def _id(key: Any) -> UUID:
    assert isinstance(key, UUID)
    return key
