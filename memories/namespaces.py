"""The namespace that a caller may use: the one that its key names, in the key's world."""

from memories.models import Namespace
from retrieval.errors import Forbidden
from worlds.callers import Caller
from worlds.models import World


class NoNamespace(Forbidden):
    code, title = "no_namespace", "This key has no agent memory"


def require_own_namespace(caller: Caller) -> Namespace:
    """Return the namespace of the caller's key, created on first use; raise `NoNamespace` if the
    key names none."""
    if not caller.namespace:
        raise NoNamespace(
            "Agent memory needs a key that names its namespace: ask for one made for this agent. "
            "An administrator's key names it in the header X-Namespace."
        )
    return get_or_create_namespace(caller.world, caller.namespace)


def get_or_create_namespace(world: World, name: str) -> Namespace:
    """Return the namespace `name` of `world`, created on first use."""
    rows = Namespace.objects.select_related("world")
    defaults = {"language": world.language}
    return rows.get_or_create(world=world, name=name, defaults=defaults)[0]
