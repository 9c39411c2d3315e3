"""What every page shares: the world, the signed-in viewer, and the audience that the page is shown
for.

A page never decides what may be seen: it passes `viewer.audience` to the querysets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Concatenate

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import GM_ROLES, Membership, Party, World

SESSION_KEY = "viewing_as"


@dataclass(frozen=True)
class Viewer:
    """A signed-in person in front of a page of `world`."""

    world: World
    name: str
    may_see_all: bool
    own: Audience
    audience: Audience

    @property
    def is_gm(self) -> bool:
        """Whether the page shows what a game master sees; not so for a GM who views it as a
        party.
        """
        return self.audience.is_gm

    @property
    def views_as(self) -> Audience | None:
        return self.audience if self.audience != self.own else None

    @cached_property
    def parties(self) -> list[Party]:
        """The parties that the viewer may know of: all for a game master, else the viewer's own."""
        parties = Party.objects.filter(world=self.world).select_related("campaign").order_by("name")
        return list(parties if self.is_gm else parties.filter(slug=self.audience.slug or None))

    @cached_property
    def every_party(self) -> list[Party]:
        """The parties that the view-as switch offers to a game master."""
        parties = Party.objects.filter(world=self.world).order_by("name")
        return list(parties) if self.may_see_all else []

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


def viewer_of(request: HttpRequest, slug: str) -> Viewer:
    """Return the viewer of the world `slug`; raises Http404 for a world that the user does not
    belong to."""
    world = get_object_or_404(worlds_of(request.user).select_related("system"), slug=slug)
    own = own_audience(request.user, world)
    chosen = request.session.get(SESSION_KEY, {}).get(world.slug)
    audience = Audience.parse(chosen) if chosen and own.is_gm else own
    return Viewer(world, request.user.get_username(), own.is_gm, own, audience)


def own_audience(user: AbstractBaseUser | AnonymousUser, world: World) -> Audience:
    if getattr(user, "is_superuser", False):
        return GM
    membership = Membership.objects.select_related("party").get(user=user, world=world)  # type: ignore[misc]
    if membership.role in GM_ROLES:
        return GM
    return Audience("party", membership.party.slug) if membership.party else PUBLIC


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

    return wrapper


def gm_page(view: View) -> Callable[..., HttpResponse]:
    """Decorate a page that exists only for a game master who does not view it as a party."""

    @wraps(view)
    def guard(request: HttpRequest, viewer: Viewer, **kwargs: Any) -> HttpResponse:
        if not viewer.is_gm:
            raise Http404
        return view(request, viewer, **kwargs)

    return page(guard)


def render_page(
    request: HttpRequest, viewer: Viewer, template: str, **context: Any
) -> HttpResponse:
    return render(
        request,
        template,
        {"viewer": viewer, "world": viewer.world, "audience": viewer.audience, **context},
    )
