"""Who may know what. The audience is part of the query: hidden rows are never fetched, so they
cannot leak.

`gm` sees everything in the world. `party:<slug>`, `character:<slug>` and `npc:<slug>` see what is
public and what the reveal log names them for. `public` sees what is public.

A character knows what its party knows, and may know more. A party knows what it was told, and what
each of its present members knows. Both follow from who is a member now, so nothing is stored for
them: `resolve_audience` reads the members, and the condition of the query has them
(docs/decisions/0057).
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Lookup, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from typing_extensions import TypeVar

from retrieval.errors import Invalid
from retrieval.text import JOINED_AUDIENCES
from worlds.models import Campaign, Character, Party, World

NAMED_KINDS = ("party", "character", "npc")
"""The kinds of audiences of which a world has several. Things are revealed to them."""
NAMES_NO_CHARACTER = '!(exists($[*] ? (@ starts with "character:")))'
"""A JSON path as in `Audience.known_path`."""


@dataclass(frozen=True)
class Audience:
    """`party` is the slug of a character's party, `members` are the slugs of a party's characters.

    Both are empty before `resolve_audience`: then less is known, never more.
    """

    kind: str
    slug: str = ""
    party: str = ""
    members: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        kind, _colon, slug = text.partition(":")
        if kind not in ("gm", *NAMED_KINDS, "public") or (kind in NAMED_KINDS) != bool(slug):
            raise Invalid(
                gettext(
                    "Unknown audience %(text)r: use gm, party:<id>, character:<id>, npc:<id> or "
                    "public."
                )
                % {"text": text}
            )
        return cls(kind, slug)

    def covers(self, other: "Audience") -> bool:
        """Whether whoever may ask as `self` may ask as `other`.

        A game master covers everyone. A character covers its party, and a party none of its
        characters. A party does not cover an NPC nor the reverse: neither's knowledge holds the
        other's. Everyone covers the public.
        """
        if self.is_gm or other == PUBLIC or str(self) == str(other):
            return True
        return other.kind == "party" and other.slug == self.party != ""

    @property
    def is_gm(self) -> bool:
        return self.kind == "gm"

    @property
    def is_named(self) -> bool:
        """Whether things are revealed to it: a party, a character or an NPC."""
        return self.kind in NAMED_KINDS

    @property
    def party_slug(self) -> str:
        """The party whose own story it knows: that of a party is itself. Empty without one."""
        return self.slug if self.kind == "party" else self.party

    @property
    def names(self) -> tuple[str, ...]:
        """The entries of `known_to` each of which is enough."""
        if self.kind == "character":
            return _names_of_member(self.slug, self.party)
        return (str(self),) if self.is_named else ()

    def knows(self, known_to: Collection[str]) -> bool:
        """Whether it knows a revealed row with this `known_to`."""
        if any(name in known_to for name in self.names):
            return True
        # Without the first condition a party without members would know everything.
        members = self.names_of_members
        return bool(members) and all(any(name in known_to for name in each) for each in members)

    @property
    def names_of_members(self) -> list[tuple[str, ...]]:
        """The `names` of each character of the party."""
        return [_names_of_member(member, self.slug) for member in self.members]

    @property
    def known_path(self) -> str:
        """`knows` as a JSON path that PostgreSQL compares with the column: `known_to @@ …`."""
        found = _any_of(self.names)
        if not self.members:
            return found
        return f"{found} || ({' && '.join(map(_any_of, self.names_of_members))})"

    def __str__(self) -> str:
        return f"{self.kind}:{self.slug}" if self.slug else self.kind


def _names_of_member(character: str, party: str) -> tuple[str, ...]:
    own, shared = f"character:{character}", f"party:{party}"
    return (own, shared, f"{own}{JOINED_AUDIENCES}{shared}") if party else (own,)


def _any_of(names: Iterable[str]) -> str:
    # A JSON path writes its strings as JSON does. Without a name, no element is equal to nothing.
    equal = " || ".join(f"$[*] == {json.dumps(name)}" for name in names)
    return f"({equal})" if equal else '($[*] == "")'


GM = Audience("gm")
PUBLIC = Audience("public")


def resolve_audience(world: World, audience: Audience) -> Audience:
    """Return `audience` with who belongs to it now: one query for a party or a character."""
    rows = Character.objects.filter(world=world)
    if audience.kind == "party":
        members = rows.filter(party__slug=audience.slug).order_by("slug")
        return replace(audience, members=tuple(members.values_list("slug", flat=True)))
    if audience.kind == "character":
        party = rows.filter(slug=audience.slug).values_list("party__slug", flat=True).first()
        return replace(audience, party=party or "")
    return audience


def audience_of_party(party: Party) -> Audience:
    """Return the party's audience with its members: one query."""
    return audiences_of_parties([party])[0]


def audience_of_character(character: Character) -> Audience:
    party = character.party
    return Audience("character", character.slug, party=party.slug if party else "")


def audiences_of_parties(parties: Collection[Party]) -> list[Audience]:
    """Return the audiences of `parties`, in their order: one query."""
    members: dict[Any, list[str]] = {}
    rows = Character.objects.filter(party__in=[party.pk for party in parties]).order_by("slug")
    for party, slug in rows.values_list("party", "slug"):
        members.setdefault(party, []).append(slug)
    return [
        Audience("party", party.slug, members=tuple(members.get(party.pk, ()))) for party in parties
    ]


def parties_and_members(parties: Iterable[Party]) -> list[str]:
    """Return the audiences of `parties` and of their characters. One query."""
    by_id = {party.pk: party.slug for party in parties}
    members = Character.objects.filter(party__in=by_id).values_list("slug", flat=True)
    own = [f"party:{slug}" for slug in by_id.values()]
    return [*own, *(f"character:{slug}" for slug in members)]


def audiences_of_campaign(campaign: Campaign) -> list[str]:
    """Return the audiences of the parties that play in the campaign and of their characters."""
    return parties_and_members(Party.objects.filter(campaign=campaign))


class Visibility(models.TextChoices):
    PUBLIC = "public", _("Public")
    GM = "gm", _("GM only")
    REVEALED = "revealed", _("Revealed to some audiences")


@models.JSONField.register_lookup
class MatchesPath(Lookup):
    """`known_to__matches=audience.known_path`."""

    lookup_name = "matches"
    prepare_rhs = False

    def get_db_prep_lookup(self, value: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:  # noqa: ARG002
        return "%s::jsonpath", (value,)

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return f"{left} @@ {right}", (*left_params, *right_params)


def revealed_to(audience: Audience, prefix: str = "") -> Q:
    """The condition that a row is revealed, and to `audience`. `prefix` leads to the row."""
    return Q(
        **{
            f"{prefix}visibility": Visibility.REVEALED,
            f"{prefix}known_to__matches": audience.known_path,
        }
    )


def revealed_to_own_party(audience: Audience, prefix: str = "", party: str = "party") -> Q:
    """The condition that a row of the audience's own party is revealed to that party."""
    return Q(
        **{
            f"{prefix}visibility": Visibility.REVEALED,
            f"{prefix}{party}__slug": audience.party_slug,
            f"{prefix}known_to__matches": NAMES_NO_CHARACTER,
        }
    )


def is_known_to_party(known_to: Iterable[str]) -> bool:
    """Whether a revealed row of a party is known to all of that party."""
    return not any(name.startswith("character:") for name in known_to)


Row = TypeVar("Row", bound=models.Model, default=Any)


class GuardedQuerySet(models.QuerySet[Row]):
    def in_world(self, world: World) -> Self:
        return self.filter(world=world)

    def visible_to(self, audience: Audience) -> Self:
        """Narrow to what `audience` may know exists."""
        if audience.is_gm:
            return self
        if audience == PUBLIC:
            return self.filter(visibility=Visibility.PUBLIC)
        return self.filter(Q(visibility=Visibility.PUBLIC) | revealed_to(audience))


class Guarded(models.Model):
    """A row with visibility. `known_to` is the reveal log's present state, kept on the row so that
    the search filter needs no join: a list of audiences such as `party:lanternbearers`. Passages
    and facts may also have names such as `character:mira&party:gulls`: see `names_in_both`."""

    known_to_own_party: ClassVar[bool] = False
    """A `revealed` row is known to the row's own `party`, unless it names characters: then it is
    known to those whom it names."""

    campaign_path: ClassVar[str] = ""
    """The lookup of the campaign to which a row belongs; empty: all campaigns share such rows."""

    world = models.ForeignKey(World, models.CASCADE, related_name="+")
    visibility = models.CharField(
        _("visibility"), max_length=10, choices=Visibility, default=Visibility.GM
    )
    known_to = models.JSONField(_("known to"), default=list, blank=True, editable=False)

    class Meta:
        abstract = True

    @property
    def own_party(self) -> Party | None:
        """The party of which the row tells, if that knows the row when it is revealed."""
        return getattr(self, "party", None) if self.known_to_own_party else None

    def secret_parts(self) -> "models.QuerySet[Any] | None":
        """Its secrets that are revealed one by one, in their order; None: it has none."""
        return None

    def visibility_changed(self) -> None:
        """Called after `visibility` or `known_to` was changed by the reveal log, in the same
        transaction.

        A model with rows that follow it (an entry's passages) brings them in step here.
        """
