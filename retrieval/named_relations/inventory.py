"""What the model can say: the kinds of names it finds, and the relations of two names."""

from dataclasses import dataclass

NAME_KINDS = ("person", "place", "faction", "item", "event")
TAGS = ("outside", *(f"{part}-{kind}" for kind in NAME_KINDS for part in ("begin", "inside")))
"""Of a token: whether it begins a name of a kind, goes on with one, or belongs to none."""

DIRECTED = (
    "leads",
    "serves",
    "member",
    "owns",
    "located",
    "lives",
    "native",
    "works",
    "founded",
    "made",
    "wrote",
    "guards",
    "teacher",
    "physician",
    "owes",
    "loves",
    "killed",
    "parent",
    "grandparent",
    "uncle",
)
"""`uncle` is an uncle or an aunt, `loves` need not be returned, `works` is to work at a place."""
MUTUAL = ("allied", "enemy", "knows", "married", "betrothed", "siblings", "cousin")
NONE = "none"
"""The text says nothing of the two, denies or doubts it, or says that it is over."""


@dataclass(frozen=True)
class RelationClass:
    """A relation of the name that comes first in the text to the other; the other way round if not
    `is_first`. Mutual ones are `is_first`."""

    relation: str
    is_first: bool = True


CLASSES = (
    RelationClass(NONE),
    *(RelationClass(relation) for relation in MUTUAL),
    *(RelationClass(relation, is_first) for relation in DIRECTED for is_first in (True, False)),
)
