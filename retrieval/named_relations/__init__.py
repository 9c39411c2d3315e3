"""Names in a text and how they are related, read by one small model: people, places, groups, things
and events, and whether a passage makes one the sister, the owner or the pupil of another."""

from retrieval.named_relations.inventory import CLASSES, NONE, RelationClass
from retrieval.named_relations.marked_text import MarkedSpan, MarkedText
from retrieval.named_relations.relation_reader import (
    FoundName,
    find_names,
    has_relation_model,
    prepare_relation_model,
    relations_between,
)
from retrieval.named_relations.windows import PairWindow, ReadText

__all__ = [
    "CLASSES",
    "NONE",
    "FoundName",
    "MarkedSpan",
    "MarkedText",
    "PairWindow",
    "ReadText",
    "RelationClass",
    "find_names",
    "has_relation_model",
    "prepare_relation_model",
    "relations_between",
]
