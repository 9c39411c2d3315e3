"""What people are to each other in a family: the words of the field of an NPC, and the labels of
the facts that it states."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

MOST_RELATIVES = 50


class Kinship(models.TextChoices):
    """What the other person is to the NPC."""

    PARENT = "parent", _("parent")
    MOTHER = "mother", _("mother")
    FATHER = "father", _("father")
    CHILD = "child", _("child")
    DAUGHTER = "daughter", _("daughter")
    SON = "son", _("son")
    SIBLING = "sibling", _("sibling")
    SISTER = "sister", _("sister")
    BROTHER = "brother", _("brother")
    SPOUSE = "spouse", _("spouse")
    WIFE = "wife", _("wife")
    HUSBAND = "husband", _("husband")
    BETROTHED = "betrothed", _("betrothed")
    GRANDPARENT = "grandparent", _("grandparent")
    GRANDMOTHER = "grandmother", _("grandmother")
    GRANDFATHER = "grandfather", _("grandfather")
    GRANDCHILD = "grandchild", _("grandchild")
    GRANDDAUGHTER = "granddaughter", _("granddaughter")
    GRANDSON = "grandson", _("grandson")
    AUNT = "aunt", _("aunt")
    UNCLE = "uncle", _("uncle")
    AUNT_OR_UNCLE = "aunt_or_uncle", _("aunt or uncle")
    NIECE = "niece", _("niece")
    NEPHEW = "nephew", _("nephew")
    NIECE_OR_NEPHEW = "niece_or_nephew", _("niece or nephew")
    COUSIN = "cousin", _("cousin")

    @property
    def fact_label(self) -> str:
        """The label of the fact: from the other person to the NPC."""
        words = self.value.replace("_", " ")
        return f"{words} to" if self is Kinship.BETROTHED else f"{words} of"

    @property
    def converse(self) -> "Kinship":
        """What the NPC is to the other person, whose sex says nothing of the NPC's."""
        return CONVERSES[self]


CONVERSES = {
    Kinship(each): Kinship(converse)
    for words, converse in (
        ("parent mother father", "child"),
        ("child daughter son", "parent"),
        ("sibling sister brother", "sibling"),
        ("spouse wife husband", "spouse"),
        ("betrothed", "betrothed"),
        ("grandparent grandmother grandfather", "grandchild"),
        ("grandchild granddaughter grandson", "grandparent"),
        ("aunt uncle aunt_or_uncle", "niece_or_nephew"),
        ("niece nephew niece_or_nephew", "aunt_or_uncle"),
        ("cousin", "cousin"),
    )
    for each in words.split()
}
KINSHIP_OF_LABEL = {each.fact_label: each for each in Kinship}


@dataclass(frozen=True)
class Relative:
    """`npc` is the slug of an NPC, or a name that no NPC has yet."""

    relation: Kinship
    npc: str


def relatives_of(family: Any) -> list[Relative]:
    """The stored field as values."""
    return [Relative(Kinship(each["relation"]), each["npc"]) for each in family]


def validate_family(value: Any) -> None:
    """Refuse what the field of a model cannot hold."""
    is_list = isinstance(value, list) and len(value) <= MOST_RELATIVES
    for each in value if is_list else [None]:
        if not (
            isinstance(each, dict)
            and set(each) == {"relation", "npc"}
            and each["relation"] in Kinship.values
            and isinstance(each["npc"], str)
            and 0 < len(each["npc"].strip()) <= 200
        ):
            text = _t(
                "Family is a list of at most %(most)d entries such as "
                '{"relation": "mother", "npc": "selka-voss"}.'
            )
            raise ValidationError(text % {"most": MOST_RELATIVES})


def kinship_of_word(word: str) -> Kinship | None:
    """The kinship of a word in English or in the language of the page, in any case."""
    wanted = word.strip().casefold()
    return next(
        (each for each in Kinship if wanted in (each.value, str(each.label).casefold())), None
    )
