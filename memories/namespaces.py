"""Which memory a caller may use: its key's own, in its key's world, and no other."""

from django.db.models import QuerySet

from memories.models import Namespace
from retrieval.problems import Forbidden, NotFound
from worlds.callers import Caller
from worlds.models import World


class NoNamespace(Forbidden):
    code, title = "no_namespace", "This key has no agent memory"


def of_caller(caller: Caller) -> Namespace:
    """Return the memory of the caller's key, made on first use; raise `NoNamespace` for a key without one."""
    if not caller.namespace:
        raise NoNamespace("Agent memory needs a key that names its namespace: ask for one made for this agent.")
    return named(caller.world, caller.namespace)


def named(world: World, name: str) -> Namespace:
    """Return the memory called `name` in `world`, made on first use."""
    defaults = {"language": world.language}
    return Namespace.objects.select_related("world").get_or_create(world=world, name=name, defaults=defaults)[0]


def readable_by(caller: Caller) -> QuerySet[Namespace]:
    """The memories a caller may read: with `admin` all of its world, else its own."""
    rows = Namespace.objects.filter(world=caller.world).order_by("name")
    return rows if "admin" in caller.scopes and not caller.namespace else rows.filter(name=caller.namespace)


def chosen(caller: Caller, name: str | None) -> Namespace:
    """Return the caller's own memory, or for an administrator's key the one it names."""
    if not name or name == caller.namespace:
        return of_caller(caller)
    found = readable_by(caller).filter(name=name).first()
    if found is None:
        raise NotFound("There is no such namespace, or it is not yours.")
    return found
