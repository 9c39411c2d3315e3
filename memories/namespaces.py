"""Which memory a caller may use: its key's own, in its key's world, and no other."""

from memories.models import Namespace
from retrieval.errors import Forbidden
from worlds.callers import Caller
from worlds.models import World


class NoNamespace(Forbidden):
    code, title = "no_namespace", "This key has no agent memory"


def require_own_namespace(caller: Caller) -> Namespace:
    """Return the memory of the caller's key, made on first use; raise `NoNamespace` for a key
    without one."""
    if not caller.namespace:
        raise NoNamespace(
            "Agent memory needs a key that names its namespace: ask for one made for this agent."
        )
    return get_or_create_namespace(caller.world, caller.namespace)


def get_or_create_namespace(world: World, name: str) -> Namespace:
    """Return the memory called `name` in `world`, made on first use."""
    defaults = {"language": world.language}
    return Namespace.objects.select_related("world").get_or_create(
        world=world, name=name, defaults=defaults
    )[0]
