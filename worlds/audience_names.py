"""The names of those to whom something can be revealed: parties, player characters, and what
upper layers add (NPCs).

A model declares that its rows are audiences by `audience_kind`; this module looks the models up, as
`worlds.reveals` does, because `worlds` must not import what lies above it.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.db.models import Model
from django.utils.translation import gettext as _

from retrieval.errors import Invalid
from retrieval.text import KnownName, NameIndex
from worlds.audiences import Audience, audiences_of_campaign
from worlds.lookup import MOST_NAMES
from worlds.models import Campaign, Character, Party, World

CANDIDATES = 5
LONGEST_AUDIENCE = 120


@dataclass(frozen=True)
class AudienceName:
    """`audience` as a secret names it (`party:lanternbearers`), `name` as people do."""

    audience: str
    name: str
    aliases: tuple[str, ...] = ()


@cache
def audience_models() -> dict[str, type[Model]]:
    """The models whose rows are audiences, by the kind of audience (`party`, `npc`)."""
    kinds = {getattr(model, "audience_kind", ""): model for model in apps.get_models()}
    # A table of history inherits nothing of its model, so each kind has one model.
    return {kind: kinds[kind] for kind in sorted(kinds) if kind}


def missing_audiences(
    world: World, audiences: Iterable[str], *, only: Campaign | None = None
) -> set[str]:
    """Return those of `audiences` that nobody in `world` has. One query per kind that is named.
    With `only`, the campaign to which the caller's key is bound, parties and characters of others
    are missing too."""
    missing = set(audiences)
    of_others = of_other_campaigns(missing, only)
    for kind, model in audience_models().items():
        slugs = {each.partition(":")[2] for each in missing if each.startswith(f"{kind}:")}
        if slugs:
            rows = model._default_manager.filter(world=world, slug__in=slugs)
            missing -= {f"{kind}:{slug}" for slug in rows.values_list("slug", flat=True)}
    return missing | of_others


def of_other_campaigns(audiences: Iterable[str], campaign: Campaign | None) -> set[str]:
    """Return the parties and characters among `audiences` that do not play in `campaign`; none
    without a campaign. NPCs belong to all."""
    if campaign is None:
        return set()
    played = {each for each in audiences if each.startswith(("party:", "character:"))}
    return played - set(audiences_of_campaign(campaign)) if played else played


def names_of_audiences(world: World, audiences: Iterable[str]) -> dict[str, str]:
    """Return the names of those of `audiences` (`party:lanternbearers`) that somebody in `world`
    has. One query per kind that is named."""
    wanted = {each.partition(":")[::2] for each in audiences}
    names: dict[str, str] = {}
    for kind, model in audience_models().items():
        slugs = {slug for each, slug in wanted if each == kind and slug}
        if slugs:
            rows = model._default_manager.filter(world=world, slug__in=slugs)
            names |= {f"{kind}:{slug}": name for slug, name in rows.values_list("slug", "name")}
    return names


def audience_names(world: World, *, only: Campaign | None = None) -> list[AudienceName]:
    """Return everybody in `world` to whom something can be revealed; for game masters alone. `only`
    as in `missing_audiences`."""
    names = [
        name for kind, model in audience_models().items() for name in _names(world, kind, model)
    ]
    of_others = of_other_campaigns((each.audience for each in names), only)
    return [each for each in names if each.audience not in of_others]


def parties_with_characters(
    world: World, parties: Iterable[Party] | None = None
) -> list[tuple[str, str]]:
    """Return the parties of `world` as choices of a form, each followed by its characters; last
    those without a party. Two queries; one if `parties`, all of them by name, are given."""
    members: dict[Any, list[Character]] = {}
    for character in Character.objects.filter(world=world).order_by("position", "name"):
        members.setdefault(character.party_id, []).append(character)
    choices = []
    if parties is None:
        parties = Party.objects.filter(world=world).order_by("name")
    for party in parties:
        choices.append((f"party:{party.slug}", party.name))
        choices += [
            (f"character:{each.slug}", f"{each.name} ({party.name})")
            for each in members.get(party.pk, ())
        ]
    return [*choices, *((f"character:{each.slug}", each.name) for each in members.get(None, ()))]


def _names(world: World, kind: str, model: type[Model]) -> Iterator[AudienceName]:
    has_aliases = any(field.name == "aliases" for field in model._meta.get_fields())
    columns: list[Any] = ["slug", "name", *(["aliases"] if has_aliases else [])]
    rows = model._default_manager.filter(world=world).order_by("name")
    for slug, name, *aliases in rows.values_list(*columns)[:MOST_NAMES]:
        yield AudienceName(f"{kind}:{slug}", name, tuple(aliases[0]) if aliases else ())


def require_audiences(
    world: World,
    audiences: Iterable[str],
    *,
    stored: Collection[str] = (),
    field: str = "known_to",
    only: Campaign | None = None,
) -> None:
    """Raise `Invalid` for `audiences` that nobody in `world` has: what is misspelt would be hidden
    from those who know it. Those that are `stored` pass, so that a row can be written again after
    an NPC was deleted. The candidates are for game masters alone. `only` as in
    `missing_audiences`."""
    sent = sorted(set(audiences) - set(stored))
    for text in sent:
        if not Audience.parse(text).is_named:
            raise Invalid(
                _("%(field)s names party:<id>, character:<id> or npc:<id>, not %(text)r.")
                % {"field": field, "text": text}
            )
    if not (missing := sorted(missing_audiences(world, sent, only=only))):
        return
    names = audience_names(world, only=only)
    described = [describe_missing(names, written) for written in missing[:CANDIDATES]]
    messages = [message for message, _candidates in described]
    near = dict.fromkeys(name for _message, candidates in described for name in candidates)
    raise Invalid(
        f"{field}: {' '.join(messages)}",
        errors=[{"loc": [field], "msg": message} for message in messages],
        candidates=list(near)[:CANDIDATES],
    )


def describe_missing(names: Iterable[AudienceName], written: str) -> tuple[str, tuple[str, ...]]:
    """Return what to say of an audience that nobody has, and whom it may mean among `names`."""
    written = written[:LONGEST_AUDIENCE]
    candidates = tuple(suggest_audiences(names, written))
    message = (
        _("This world has no %(audience)s. Did you mean %(candidates)s?")
        if candidates
        else _(
            "This world has no %(audience)s. Name party:<slug>, character:<slug> or npc:<slug>, "
            "or create it."
        )
    )
    return message % {"audience": written, "candidates": ", ".join(candidates)}, candidates


def suggest_audiences(names: Iterable[AudienceName], written: str) -> list[str]:
    """Return up to five audiences that `written` (`party:lantern-bearer`) may mean."""
    kind, _colon, rest = written.rpartition(":")
    words = rest.replace("-", " ").replace("_", " ")
    known = [
        KnownName(each.audience, each.name, [*each.aliases, each.audience.partition(":")[2]])
        for each in names
    ]
    found = [str(match.key) for match in NameIndex(known).find(words)]
    by_name = {each.audience.partition(":")[2]: each.audience for each in names}
    slugs = NameIndex(KnownName(slug, slug) for slug in by_name).suggest(rest)
    ordered = dict.fromkeys([*found, *(by_name[slug] for slug in slugs)])
    # Those of the kind that was written come first; sorting keeps the order of the others.
    return sorted(ordered, key=lambda each: not each.startswith(f"{kind}:"))[:CANDIDATES]
