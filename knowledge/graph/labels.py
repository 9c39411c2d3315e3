"""Translated words for relations and facts."""

from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

RELATION_LABELS = {
    "KNOWS": _("knows"),
    "LOCATED_IN": _("is in"),
    "OWNS": _("owns"),
    "OWNED_BY": _("belongs to"),
    "ALLY_WITH": _("is allied with"),
    "ENEMY_OF": _("is an enemy of"),
    "PART_OF": _("is part of"),
    "INVOLVES": _("involves"),
    "RELATES_TO": _("is related to"),
}

PROGRAM_LABELS = {
    "parent of": _("parent of"),
    "mother of": _("mother of"),
    "father of": _("father of"),
    "child of": _("child of"),
    "daughter of": _("daughter of"),
    "son of": _("son of"),
    "sibling of": _("sibling of"),
    "sister of": _("sister of"),
    "brother of": _("brother of"),
    "spouse of": _("spouse of"),
    "wife of": _("wife of"),
    "husband of": _("husband of"),
    "betrothed to": _("betrothed to"),
    "grandparent of": _("grandparent of"),
    "grandmother of": _("grandmother of"),
    "grandfather of": _("grandfather of"),
    "grandchild of": _("grandchild of"),
    "granddaughter of": _("granddaughter of"),
    "grandson of": _("grandson of"),
    "aunt of": _("aunt of"),
    "uncle of": _("uncle of"),
    "aunt or uncle of": _("aunt or uncle of"),
    "niece of": _("niece of"),
    "nephew of": _("nephew of"),
    "niece or nephew of": _("niece or nephew of"),
    "cousin of": _("cousin of"),
    "first met": _("first met"),
    "was first seen at": _("was first seen at"),
    "lives in": _("lives in"),
    "member of": _("member of"),
    "leads": _("leads"),
    "rules": pgettext_lazy("relation", "rules"),
    "part of": _("part of"),
    "mentor of": _("mentor of"),
    "apprentice of": _("apprentice of"),
    "teacher of": _("teacher of"),
    "physician of": _("physician of"),
    "friend of": _("friend of"),
    "rival of": _("rival of"),
    "serves": _("serves"),
    "guards": _("guards"),
    "founder of": _("founder of"),
    "maker of": _("maker of"),
    "author of": _("author of"),
    "capital of": _("capital of"),
    "owes money to": _("owes money to"),
    "in love with": _("in love with"),
    "killed": _("killed"),
    "married to": _("married to"),
    "godparent of": _("godparent of"),
    "godfather of": _("godfather of"),
    "godmother of": _("godmother of"),
    "godchild of": _("godchild of"),
    "born in": _("born in"),
}
"""Labels that the fields of NPCs and of notes, the scenes of episodes and proposals from texts
write: stored in English, shown in the language of the page."""

PROGRAM_RULES = {
    "Nobody and nothing is in two places at one time.": _(
        "Nobody and nothing is in two places at one time."
    ),
    "A thing has one owner at a time.": _("A thing has one owner at a time."),
    "An ally is not an enemy at the same time.": _("An ally is not an enemy at the same time."),
    "The dead do not go anywhere.": _("The dead do not go anywhere."),
    "The dead make no acquaintances.": _("The dead make no acquaintances."),
    "The dead acquire nothing.": _("The dead acquire nothing."),
    "The dead enter no alliances.": _("The dead enter no alliances."),
    "The dead start no feuds.": _("The dead start no feuds."),
}
"""What the initial conflict rules say (`data/relations.yaml`), in the language of the page."""


def relation_label(code: str, label: str = "") -> str:
    """Return the edge's own label, else the relation's translated name, else its code in lower
    case."""
    if label:
        return str(PROGRAM_LABELS.get(label, label))
    return str(RELATION_LABELS[code]) if code in RELATION_LABELS else code.replace("_", " ").lower()


def stored_label(words: str) -> str:
    """Return the label that is shown as these words, in any case; the words themselves where the
    program writes no such label."""
    wanted = words.casefold()
    shown = (label for label, text in PROGRAM_LABELS.items() if str(text).casefold() == wanted)
    return next(shown, words)


class FactInWords(NamedTuple):
    """A fact as its source wrote it: who or what, the relation, to whom or what. The ends are
    `GraphNode`s, which know these words themselves."""

    subject: Any
    words: str
    target: Any


def in_words(fact: Any) -> FactInWords:
    """Return a `GraphEdge` in the direction in which it was written, which is not always the stored
    one."""
    if fact.written_as:
        return FactInWords(fact.dst, relation_label(fact.written_as, fact.label), fact.src)
    return FactInWords(fact.src, relation_label(fact.relation_id, fact.label), fact.dst)


def fact_sentence(fact: Any) -> str:
    """Return a fact as a short sentence: *Mira Voss knows Jory Fenn*."""
    subject, words, target = in_words(fact)
    return f"{subject} {words} {target}"
