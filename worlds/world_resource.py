"""A world as the REST endpoints read and change it."""

from django.db import transaction
from django.http import HttpRequest

from retrieval.errors import Invalid, NotFound
from retrieval.text import read_fences
from worlds.models import FOR_ALL_MEMBERS, GameSystem, World
from worlds.rest import check_match
from worlds.schemas import WorldChange, WorldOut
from worlds.versions import digest_of_row, lock_row


def find_system(slug: str | None) -> GameSystem | None:
    if not slug:
        return None
    system = GameSystem.objects.filter(slug=slug).first()
    if system is None:
        known = [*GameSystem.objects.order_by("slug").values_list("slug", flat=True)[:20]]
        raise NotFound(f"There is no game system {slug!r}.", candidates=known)
    return system


def require_open_description(description: str) -> None:
    """Raise `Invalid` for one with a secret block: all members read it, and all keys."""
    if read_fences(description):
        errors = [{"loc": ["description"], "msg": str(FOR_ALL_MEMBERS)}]
        raise Invalid(f"description: {FOR_ALL_MEMBERS}", errors=errors)


def change_world(request: HttpRequest, world: World, change: WorldChange) -> World:
    """Write the fields that were sent, if `If-Match` names the stored state. Raises `Stale`."""
    with transaction.atomic():
        lock_row(world)
        check_match(request, digest_of_world(world))
        sent = change.model_fields_set
        if "name" in sent and not change.name:
            raise Invalid("A world needs a name.", errors=[{"loc": ["name"], "msg": "required"}])
        require_open_description(change.description or "")
        for name in sent & {"name", "language", "description"}:
            setattr(world, name, getattr(change, name))
        if "system_id" in sent:
            world.system = find_system(change.system_id)
        fields = {"system" if name == "system_id" else name for name in sent}
        world.save(update_fields=[*fields, "updated_at"])
    return world


@transaction.atomic
def digest_of_world(world: World) -> str | None:
    return digest_of_row(World.objects.filter(pk=world.pk))


def present_world(world: World) -> WorldOut:
    return WorldOut(
        world_id=world.slug,
        name=world.name,
        language=world.language,
        system_id=world.system.slug if world.system else None,
        description=world.description,
        created_at=world.created_at,
        updated_at=world.updated_at,
    )
