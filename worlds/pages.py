"""What every page shares: the world, the signed-in viewer, and the audience that the page is shown
for.

A page never decides what may be seen: it passes `viewer.audience` to the querysets.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, NamedTuple
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import Resolver404, resolve
from django.utils.translation import gettext

from worlds.audience_names import names_of_audiences, parties_with_characters
from worlds.audiences import (
    GM,
    PUBLIC,
    Audience,
    audience_of_character,
    audience_of_party,
    resolve_audience,
)
from worlds.calendars.arithmetic import Calendar
from worlds.calendars.date_texts import typed_text
from worlds.in_world_days import moment_text
from worlds.models import GM_ROLES, Campaign, Membership, Party, World
from worlds.world_calendar import calendar_of, language

SESSION_KEY = "viewing_as"
CAMPAIGN_KEY = "campaigns"
CANON = "-"
"""Chosen instead of a campaign: show the canon of the world alone."""


@dataclass(frozen=True)
class Viewer:
    """A signed-in person in front of a page of `world`."""

    world: World
    name: str
    may_see_all: bool
    own: Audience
    audience: Audience
    campaign_choice: str = ""
    """Slug of the campaign that a game master chose, `CANON`, or empty for no choice."""
    role: str = Membership.Role.PLAYER
    """The viewer's role in the world; a superuser counts as its designer."""

    @property
    def is_gm(self) -> bool:
        """Whether the page shows what a game master sees; not so for a GM who views it as a
        party.
        """
        return self.audience.is_gm

    @property
    def views_as(self) -> Audience | None:
        return self.audience if self.audience != self.own else None

    @property
    def views_as_name(self) -> str:
        """The name of the party or character that the page is viewed as."""
        if self.audience == PUBLIC:
            return gettext("Everyone")
        return self.audience_names.get(str(self.audience), self.audience.slug)

    @property
    def role_name(self) -> str:
        return str(Membership.Role(self.role).label)

    @cached_property
    def parties(self) -> list[Party]:
        """The parties that the viewer may know of: all for a game master, else the viewer's own."""
        parties = Party.objects.filter(world=self.world).select_related("campaign").order_by("name")
        return list(parties if self.is_gm else parties.filter(slug=self.audience.party_slug))

    @cached_property
    def campaigns(self) -> list[Campaign]:
        """The campaigns among which a game master may choose."""
        rows = Campaign.objects.filter(world=self.world).order_by("name")
        return list(rows) if self.may_see_all else []

    @cached_property
    def campaign(self) -> Campaign | None:
        """The campaign whose overlay of canon the pages show; None: canon alone.

        For a party it is the party's own. A game master chooses; in a world with one campaign that
        one is the default.
        """
        if not self.is_gm:
            return self.parties[0].campaign if self.parties else None
        if self.campaign_choice:
            slug = self.campaign_choice
            return next((each for each in self.campaigns if each.slug == slug), None)
        return self.campaigns[0] if len(self.campaigns) == 1 else None

    def in_campaign(self, campaign: Campaign) -> "Viewer":
        """The same viewer with another choice of the campaign. What was read of the world is not
        read again."""
        other = replace(self, campaign_choice=campaign.slug)
        for name in ("parties", "campaigns"):
            if name in vars(self):
                vars(other)[name] = vars(self)[name]
        return other

    def as_party(self, party: Party) -> "Viewer":
        """The same viewer, for what `party` may see."""
        other = replace(self, audience=audience_of_party(party))
        vars(other)["parties"] = [party]
        return other

    @cached_property
    def every_party(self) -> list[Party]:
        """The parties that the view-as switch offers to a game master."""
        if not self.may_see_all or self.is_gm:
            return self.parties if self.may_see_all else []
        return list(Party.objects.filter(world=self.world).order_by("name"))

    @cached_property
    def party_choices(self) -> list[tuple[str, str]]:
        """The audiences of parties and characters with their names, which the view-as switch and
        reveals offer to a game master."""
        if not self.may_see_all:
            return []
        return parties_with_characters(self.world, self.every_party)

    @cached_property
    def audience_names(self) -> dict[str, str]:
        """The names of the audiences that the viewer may know of."""
        return dict(self.party_choices) or {
            f"party:{each.slug}": each.name for each in self.parties
        }

    def names_in_secrets(self, audiences: Iterable[str]) -> dict[str, str]:
        """The names of the audiences that the viewer may know of; for a game master with those of
        NPCs, which are read when a text names one."""
        missing = set(audiences) - self.audience_names.keys()
        if missing and self.may_see_all:
            found = names_of_audiences(self.world, missing)
            self.audience_names.update({each: found.get(each, each) for each in missing})
        return self.audience_names

    @property
    def audience_text(self) -> str:
        return str(self.audience)

    @cached_property
    def calendar(self) -> Calendar | None:
        """The calendar by which the pages show days; None: they show their numbers."""
        return calendar_of(self.world)

    def when(self, row: Any, *, until: bool = False) -> str:
        """Return when a row happened in the world: its own words, else the date of its day."""
        return moment_text(row, lambda: self.calendar, until=until)

    def typed_day(self, day: float | None) -> str:
        """Return a world day as an input takes it."""
        return "" if day is None else typed_text(self.calendar, day, language())

    def party(self, slug: str | None) -> Party | None:
        """Return the party of that slug among `parties`, or None; raises Http404 for one that may
        not be known."""
        if not slug:
            return None
        party = next((party for party in self.parties if party.slug == slug), None)
        if party is None:
            raise Http404
        return party


def worlds_of(user: Any) -> Any:
    """The worlds that `user` belongs to."""
    worlds = World.objects.order_by("name")
    return worlds if user.is_superuser else worlds.filter(memberships__user=user)


class ListedWorld(NamedTuple):
    """A world of a list, and the name that tells it from the others of the list."""

    world: World
    name: str


def listed_worlds(worlds: Iterable[World]) -> list[ListedWorld]:
    """Return the worlds with their names. A copy has the name of the world that it was made of, so
    worlds of one name have their addresses beside it."""
    rows = list(worlds)
    counts = Counter(world.name for world in rows)
    return [
        ListedWorld(each, f"{each.name} ({each.slug})" if counts[each.name] > 1 else each.name)
        for each in rows
    ]


def viewer_of(request: HttpRequest, slug: str) -> Viewer:
    """Return the viewer of the world `slug`; raises Http404 for a world that the user does not
    belong to."""
    world = get_object_or_404(worlds_of(request.user).select_related("system"), slug=slug)
    role, own = role_and_audience(request.user, world)
    text = request.session.get(SESSION_KEY, {}).get(world.slug)
    audience = resolve_audience(world, Audience.parse(text)) if text and own.is_gm else own
    campaign = request.session.get(CAMPAIGN_KEY, {}).get(world.slug, "")
    return Viewer(world, request.user.get_username(), own.is_gm, own, audience, campaign, role)


def role_and_audience(user: AbstractBaseUser | AnonymousUser, world: World) -> tuple[str, Audience]:
    if getattr(user, "is_superuser", False):
        return Membership.Role.DESIGNER, GM
    memberships = Membership.objects.select_related("party", "character__party")
    membership = memberships.get(user=user, world=world)  # type: ignore[misc]
    if membership.role in GM_ROLES:
        return membership.role, GM
    if membership.character:
        return membership.role, audience_of_character(membership.character)
    party = membership.party
    return membership.role, audience_of_party(party) if party else PUBLIC


MEMBERS, GAME_MASTERS = "members of the world", "game masters of the world"
"""Whom a page is for, as its view names it in `access`."""
View = Callable[Concatenate[HttpRequest, Viewer, ...], HttpResponse]


def page(view: View) -> Callable[..., HttpResponse]:
    """Decorate a page of a world, for its members: the view gets a `Viewer` for the slug in the
    address."""

    @login_required
    @wraps(view)
    def wrapper(request: HttpRequest, world: str, **kwargs: Any) -> HttpResponse:
        viewer = viewer_of(request, world)
        request.viewer = viewer  # type: ignore[attr-defined]
        return view(request, viewer, **kwargs)

    wrapper.access = MEMBERS  # type: ignore[attr-defined]
    return wrapper


def gm_page(view: View) -> Callable[..., HttpResponse]:
    """Decorate a page that exists only for a game master who does not view it as a party."""

    @wraps(view)
    def guard(request: HttpRequest, viewer: Viewer, **kwargs: Any) -> HttpResponse:
        if not viewer.is_gm:
            raise Http404
        return view(request, viewer, **kwargs)

    guarded = page(guard)
    guarded.access = GAME_MASTERS  # type: ignore[attr-defined]
    return guarded


def is_for_game_masters(address: str) -> bool:
    """Whether the page at this address of the site is a `gm_page`."""
    try:
        view = resolve(urlsplit(address).path).func
    except (Resolver404, ValueError):
        return False
    return getattr(view, "access", "") == GAME_MASTERS


def render_page(
    request: HttpRequest, viewer: Viewer, template: str, **context: Any
) -> HttpResponse:
    return render(
        request,
        template,
        {"viewer": viewer, "world": viewer.world, "audience": viewer.audience, **context},
    )
