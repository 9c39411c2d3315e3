"""The namespace that a caller may use: the one that its key names, in the key's world, or that of
the NPC as whom it asks."""

from collections.abc import Sequence

from memories.models import Namespace
from npcs.lookup import find_npcs
from npcs.models import NPC
from retrieval.errors import Forbidden, NotFound
from worlds.audiences import GM
from worlds.callers import Caller
from worlds.models import World


class NoNamespace(Forbidden):
    code, title = "no_namespace", "This key has no agent memory"


GM_AGENT = "gm"
"""The namespace that remembers every episode of its world."""


class NotOwnMemory(Forbidden):
    code, title = "not_own_memory", "This memory is somebody else's"


def require_own_namespace(caller: Caller) -> Namespace:
    """Return the namespace of the caller, created on first use: that of its key, or of the NPC as
    whom it asks. Raise `NoNamespace` if it has none, `NotOwnMemory` for the memory of an NPC or a
    game master that its audience does not cover.
    """
    audience = caller.audience
    if caller.namespace:
        namespace = get_or_create_namespace(
            caller.world, caller.namespace, knows_all=audience.is_gm
        )
        is_own = namespace.npc is not None and audience.slug == namespace.npc.slug
        if not (audience.is_gm or is_own) and namespace.has_episodes:
            raise NotOwnMemory(f"A key for {audience} does not read this memory.")
        return bind_to_campaign(namespace, caller)
    if audience.kind == "npc":
        npc = NPC.objects.filter(world=caller.world, slug=audience.slug).first()
        if npc is None:
            knows_all = caller.key is None or caller.key.audience == str(GM)
            raise no_such_npc(caller.world, audience.slug, knows_all=knows_all)
        return bind_to_campaign(namespace_of_npc(npc), caller)
    raise NoNamespace(
        "Agent memory needs a key that names its namespace: ask for one made for this agent. "
        "An administrator's key names it in the header X-Namespace, and a game master's asks "
        "as=npc:<id>."
    )


def bind_to_campaign(namespace: Namespace, caller: Caller) -> Namespace:
    """Let searches of the memory of an NPC or a game master find only the episodes of the campaign
    to which the caller's key is bound."""
    if caller.key and caller.key.campaign_id and namespace.has_episodes:
        namespace.only_campaign = caller.key.campaign_id
    return namespace


def get_or_create_namespace(world: World, name: str, *, knows_all: bool = True) -> Namespace:
    """Return the namespace `name` of `world`, created on first use. `npc:<slug>` is the memory of
    that NPC, `gm` that of the game master's agent. Raise `NotFound` for an NPC that there is not:
    a misspelt id would be an empty memory. Who `knows_all` NPCs is told the nearest ids."""
    rows = Namespace.objects.select_related("world", "npc")
    defaults: dict[str, object] = {"language": world.language, "remembers_all": name == GM_AGENT}
    if name.startswith("npc:"):
        slug = name.removeprefix("npc:")
        npc = NPC.objects.filter(world=world, slug=slug).select_related("world").first()
        if npc is not None:
            return namespace_of_npc(npc)
        if not rows.filter(world=world, name=name).exists():
            raise no_such_npc(world, slug, knows_all=knows_all)
    return rows.get_or_create(world=world, name=name, defaults=defaults)[0]


def no_such_npc(world: World, slug: str, *, knows_all: bool) -> NotFound:
    """Return the error for an unknown id, with the nearest ones for who `knows_all` NPCs."""
    near: Sequence[str] = ()
    if knows_all:
        found, missing = find_npcs(world, [slug])
        names = missing.get(slug, ())
        near = [
            npc.slug for npc in (*found.values(), *NPC.objects.filter(world=world, name__in=names))
        ]
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    return NotFound(f"There is no NPC with the id {slug!r} in this world.{hint}", candidates=near)


def namespace_of_npc(npc: NPC) -> Namespace:
    """Return the memory of `npc`, created on first use."""
    rows = Namespace.objects.select_related("world", "npc")
    if existing := rows.filter(npc=npc).first():
        return existing
    name = f"npc:{npc.slug}"[:120]
    defaults = {"language": npc.world.language, "npc": npc}
    namespace, is_new = rows.get_or_create(world=npc.world, name=name, defaults=defaults)
    if not is_new and namespace.npc_id is None:
        namespace.npc = npc
        namespace.save(update_fields=["npc"])
    elif namespace.npc_id != npc.pk:
        # An NPC in the trash had the same slug: its memory is not this one's.
        name = f"{name[:100]}:{npc.pk.hex[-12:]}"
        namespace, _new = rows.get_or_create(world=npc.world, name=name, defaults=defaults)
    return namespace


def namespaces_that_remember_all(world: World) -> Sequence[Namespace]:
    """Return the memories of the game master's agents, by default the one called `gm`."""
    get_or_create_namespace(world, GM_AGENT)
    rows = Namespace.objects.filter(world=world, remembers_all=True)
    return list(rows.select_related("world", "npc").order_by("pk"))
