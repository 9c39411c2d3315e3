"""The text that a new entry begins with: a skeleton of headings for each kind."""

from collections.abc import Sequence
from typing import Any

from django.utils import translation
from django.utils.translation import get_supported_language_variant
from django.utils.translation import gettext_lazy as _

from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore

HEADINGS: dict[str, Sequence[Any]] = {
    Lore.Kind.PLACE: (
        _("At first sight"),
        _("Who is here"),
        _("What happens here"),
        _("Its history"),
    ),
    Lore.Kind.FACTION: (
        _("What it wants"),
        _("Who leads it"),
        _("How it works"),
        _("Friends and foes"),
    ),
    Lore.Kind.BIOGRAPHY: (_("Appearance"), _("Past"), _("What drives them"), _("Whom they know")),
    Lore.Kind.ITEM: (
        _("What it looks like"),
        _("What it does"),
        _("Who made it"),
        _("Where it is now"),
    ),
    Lore.Kind.EVENT: (_("What happened"), _("Who took part"), _("What came of it")),
    Lore.Kind.QUEST: (_("Hook"), _("Who asks for it"), _("Obstacles"), _("Reward")),
    Lore.Kind.TIMELINE: (_("Before"), _("In those days"), _("Since then")),
    Lore.Kind.CUSTOM: (),
}
"""What a game master asks about a thing of each kind, in the order of reading."""

FOR_THE_GM = _("What only the game master knows.")


def starting_text(kind: str, *, custom_kind: LoreKind | None = None, language: str = "") -> str:
    """Return the Markdown that a new entry begins with, in the language of the world: the template
    of the world's own kind, else headings and a secret block. Empty for an unknown kind."""
    if custom_kind:
        return custom_kind.template
    headings = HEADINGS.get(kind, ())
    if not headings:
        return ""
    with translation.override(_catalogue_language(language)):
        parts = [f"## {heading}\n" for heading in headings]
        return "\n".join([*parts, f":::secret\n{FOR_THE_GM}\n:::"])


def _catalogue_language(language: str) -> str:
    try:
        return get_supported_language_variant(language)
    except LookupError:
        return translation.get_language() or "en"
