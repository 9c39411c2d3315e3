"""The members of a world: change their role, party or character, remove them; new worlds."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext

from retrieval.errors import Conflict, NotFound
from retrieval.text import numbered_slug
from worlds.models import GM_ROLES, Character, GameSystem, Membership, Party, World
from worlds.roles import Role, check_may_grant


@transaction.atomic
def change_member(
    member: Membership,
    *,
    role: str,
    granted_by: str,
    party: Party | None = None,
    character: Character | None = None,
) -> None:
    """Give a member another role; only players have a party and a character, whose party counts.
    `granted_by` is the role of whoever does it: raises `Forbidden` for one that may not grant the
    new role or the present one."""
    check_may_grant(granted_by, member.role)
    check_may_grant(granted_by, role)
    if role not in GM_ROLES:
        _keep_a_game_master(member)
    if role != Role.PLAYER:
        party = character = None
    member.role, member.character = role, character
    member.party = character.party if character else party
    member.save(update_fields=["role", "party", "character"])


@transaction.atomic
def remove_member(member: Membership) -> None:
    _keep_a_game_master(member)
    member.delete()


def find_game_master(world: World, username: str) -> Any:
    """Return the user of this name, a designer or game master of `world`. Raises `NotFound`."""
    members = Membership.objects.filter(world=world, role__in=GM_ROLES)
    member = members.filter(user__username=username).select_related("user").first()
    if member is None:
        raise NotFound(
            gettext("No designer or game master of this world is called %(username)r.")
            % {"username": username}
        )
    return member.user


def _keep_a_game_master(member: Membership) -> None:
    """A world that nobody may edit could be helped only by an administrator."""
    leaders = Membership.objects.select_for_update().filter(
        world=member.world_id, role__in=GM_ROLES
    )
    if {leader.pk for leader in leaders} == {member.pk}:
        raise Conflict(
            gettext("The world needs a designer or game master: give somebody else the role first.")
        )


@transaction.atomic
def create_world(
    *,
    name: str,
    language: str,
    system: GameSystem | None,
    designer: Any = None,
    slug: str = "",
    description: str = "",
) -> World:
    """Create a world, whose designer is `designer` if a person creates it; its address is made of
    its name unless `slug` is given."""
    world = World.objects.create(
        slug=slug or free_slug(name, World.objects.all(), otherwise="world"),
        name=name,
        language=language,
        system=system,
        description=description,
    )
    if designer is not None:
        Membership.objects.create(user=designer, world=world, role=Role.DESIGNER)
    return world


def free_slug(name: str, rows: QuerySet[Any], *, otherwise: str) -> str:
    """Return a slug made of `name`, with a number if one of `rows` has it; of `otherwise` if the
    name has no letter."""
    base = slug_of(name, otherwise=otherwise)
    taken = set(rows.filter(slug__startswith=base).values_list("slug", flat=True))
    return numbered_slug(base, taken)


def slug_of(name: str, *, otherwise: str) -> str:
    """Return the slug made of `name`; `otherwise` if it has no letter."""
    return slugify(name, allow_unicode=True)[:70] or otherwise


def new_slug(slug: str | None, name: str, rows: QuerySet[Any], what: str) -> str:
    """Return the slug that was asked for, else the one made from the name. Raises `Conflict` for
    one that a row has: a program that sends a request again would otherwise make a twin."""
    wanted = slug or slug_of(name, otherwise=what)
    if rows.filter(slug=wanted).exists():
        raise Conflict(
            gettext("There is a %(what)s %(wanted)s already: change it, or choose another id.")
            % {"what": gettext(what), "wanted": wanted}
        )
    return wanted
