"""The player characters of a world and their parties.

`Party.members` has the names of the party's characters, in their order; it is written here alone.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Unpack
from uuid import UUID

from django.apps import apps
from django.db import transaction
from django.db.models import Max, Q

from worlds.audiences import Audience, Guarded
from worlds.members import free_slug, new_slug
from worlds.models import Campaign, Character, Invitation, Membership, Party, Reveal, World
from worlds.versions import lock_row


class CharacterValues(TypedDict, total=False):
    name: str
    party: Party | None


@transaction.atomic
def create_party(
    world: World,
    *,
    name: str,
    campaign: Campaign | str,
    slug: str = "",
    members: Sequence[str] = (),
) -> Party:
    """Create a party in `campaign`, which is created too if only its name is given; without `slug`
    its slug is made of the name, with a number if another one has it."""
    if isinstance(campaign, str):
        campaigns = Campaign.objects.filter(world=world)
        campaign = campaigns.create(
            world=world,
            slug=free_slug(campaign, campaigns, otherwise="campaign"),
            name=campaign,
        )
    slug = slug or free_slug(name, Party.objects.filter(world=world), otherwise="party")
    party = Party.objects.create(world=world, campaign=campaign, slug=slug, name=name)
    if members:
        set_members(party, members)
    return party


@transaction.atomic
def create_character(
    world: World, *, name: str, party: Party | None = None, slug: str | None = None
) -> Character:
    """Create a character, the last member of `party`; without `slug` its slug is made of the
    name, with a number if another one has it. Raises `Conflict` for a taken slug."""
    lock_parties(world.pk)
    rows = Character.objects.filter(world=world)
    character = Character.objects.create(
        world=world,
        slug=new_slug(slug, name, rows, "character")
        if slug
        else free_slug(name, rows, otherwise="character"),
        name=name,
        party=party,
        position=_next_place(party),
    )
    if party:
        write_members(party)
    return character


@transaction.atomic
def change_character(character: Character, **values: Unpack[CharacterValues]) -> None:
    """Rename a character, or move it to another party; its players follow it. What is not given
    stays as it is stored."""
    lock_parties(character.world_id)
    lock_row(character)
    before = character.party
    for name, value in values.items():
        setattr(character, name, value)
    character.save(update_fields=[*values, "updated_at"])
    follow_party(character, before=before)


@transaction.atomic
def follow_party(character: Character, *, before: Party | None) -> None:
    """Bring what depends on its party in step after a character was saved: its place, its players
    and the names of the members."""
    party = character.party
    if party != before:
        character.position = _next_place(party)
        character.save(update_fields=["position", "updated_at"])
    Membership.objects.filter(character=character).update(party=party)
    for each in {before, party} - {None}:
        assert each
        write_members(each)


@transaction.atomic
def delete_character(character: Character) -> None:
    """Delete a character of which nothing tells (`worlds.references`)."""
    lock_parties(character.world_id)
    lock_row(character)
    party = character.party
    character.delete()
    if party:
        write_members(party)


@transaction.atomic
def set_members(party: Party, names: Sequence[str]) -> None:
    """Make the characters with these names the members of `party`, in this order.

    Members with another name leave it. A new name means the character of this name that has no
    party, if there is exactly one: so whoever left by mistake comes back with what they know. Else
    it is a new character.
    """
    lock_parties(party.world_id)
    present = list(party.characters.order_by("position", "pk"))
    for place, name in enumerate(names):
        member = next((each for each in present if each.name == name), None)
        if member:
            present.remove(member)
        else:
            member = _without_party(party, name) or _new_character(party, name)
        member.party, member.position = party, place
        member.save()
        Membership.objects.filter(character=member).update(party=party)
    for member in present:
        _leave(member)
    write_members(party)


def add_missing_characters(parties: Iterable[Party]) -> None:
    """Create the characters of parties that have only the names of members: an archive that is
    older than characters has no others."""
    for party in parties:
        if party.members and not party.characters.exists():
            set_members(party, party.members)


def lock_parties(world_id: UUID) -> None:
    """Lock the parties of a world until the end of the transaction. Whoever changes who is where
    does this first: a character may move between any two of them."""
    parties = Party.objects.filter(world=world_id).order_by("pk")
    list(parties.select_for_update(no_key=True).values_list("pk"))


def write_members(party: Party) -> None:
    """Bring `Party.members` in step with the characters. The parties are locked."""
    party.refresh_from_db(fields=["members"])
    rows = party.characters.order_by("position", "pk")
    names = list(rows.values_list("name", flat=True))
    if names != party.members:
        party.members = names
        party.save(update_fields=["members", "updated_at"])


def _next_place(party: Party | None) -> int:
    if party is None:
        return 0
    last: int | None = party.characters.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def _without_party(party: Party, name: str) -> Character | None:
    rows = Character.objects.filter(world=party.world_id, party=None, name=name)
    found = list(rows[:2])
    return found[0] if len(found) == 1 else None


def _new_character(party: Party, name: str) -> Character:
    rows = Character.objects.filter(world=party.world_id)
    slug = free_slug(name, rows, otherwise="character")
    return Character(world_id=party.world_id, slug=slug, name=name)


def _leave(character: Character) -> None:
    """Without a party the character keeps what it alone knows; nothing is lost with one that knows
    nothing and is nobody's, so that a misspelt name leaves nothing behind."""
    if is_unused(character):
        character.delete()
        return
    character.party = None
    character.save()
    Membership.objects.filter(character=character).update(party=None)


def is_unused(character: Character) -> bool:
    """Whether nobody plays the character, and nothing was ever revealed to it."""
    audience = Audience("character", character.slug)
    rows: list[Any] = [
        Membership.objects.filter(character=character),
        Invitation.objects.filter(character=character),
        Reveal.objects.filter(world=character.world_id, audience=str(audience)),
        *(
            model._base_manager.filter(world=character.world_id).filter(_names(audience))
            for model in apps.get_models()
            if issubclass(model, Guarded)
        ),
    ]
    return not any(each.exists() for each in rows)


def _names(audience: Audience) -> Q:
    # The name may be part of one such as `character:mira&party:gulls`.
    path = f'$[*] == "{audience}" || exists($[*] ? (@ starts with "{audience}&"))'
    return Q(known_to__matches=path)
