"""A small world of its own, and one call of every public function on it. Run by `manage.py
smoke`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from art.models import ArtCard
from art.schemas import ArtCardIn
from art.upsert import ingest_art
from episodes.ingest import ingest_episode
from episodes.models import Episode
from episodes.scenes import upsert_scene
from episodes.schemas import EpisodeIn, SceneIn
from knowledge.entry_store import save_entry
from knowledge.graph.models import GraphNode
from knowledge.graph.postgres_store import neighbors, shortest_path
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Document, Lore, LorePassage, Rule, RulePassage
from memories.models import MemoryItem
from memory_site import toolbox
from memory_site.mcp import to_mcp_tool
from memory_site.openai_schemas import function_schema
from npcs.schemas import NPCIn
from npcs.upsert import upsert_npc
from retrieval.indexing import count_words, embed_pending, normalize_lore, normalize_srd
from retrieval.search import SearchRequest, search
from worlds import keys, reveals
from worlds.audiences import GM, Audience
from worlds.callers import Caller
from worlds.models import Campaign, GameSystem, Party, World

RULE = (
    "# Grappled\n\nA grappled creature's speed becomes 0. It ends if the grappler is incapacitated."
)
FERRY = "# The Ferry\n\nThe Ferrymen's Guild runs the ferry. Mira Voss keeps its ledger."
PASSAGE_MODELS = (RulePassage, LorePassage, Episode, ArtCard)


Step = tuple[str, Callable[[], Any]]
"""The name of a function and a call of it."""


@dataclass(frozen=True)
class CallResult:
    """What one call returned, in short, and how long it took."""

    name: str
    result: str
    milliseconds: float
    is_error: bool = False


def run() -> Iterator[CallResult]:
    """Call everything; the steps that write come before those that read."""
    world = create_world()
    for name, call in [*write_steps(world), *search_steps(world), *tool_steps(world)]:
        start = perf_counter()
        try:
            result, is_error = summarize(call()), False
        except Exception as exc:
            result, is_error = f"{type(exc).__name__}: {exc}", True
        yield CallResult(name, result, (perf_counter() - start) * 1000, is_error)


def create_world() -> World:
    system = GameSystem.objects.create(slug="smoke", name="Smoke")
    world = World.objects.create(slug="smoke", name="Smoke", system=system)
    campaign = Campaign.objects.create(world=world, slug="low-water", name="Low Water")
    Party.objects.create(
        world=world, campaign=campaign, slug="lanternbearers", name="Lanternbearers"
    )
    Document.objects.create(slug="house", title="House rules", system=system, world=world)
    return world


def write_steps(world: World) -> Iterator[Step]:
    yield "normalize_srd", lambda: normalize_srd(RULE)
    yield "normalize_lore", lambda: normalize_lore(FERRY)
    yield "save_entry of a rule", lambda: save_entry(_rule(world))
    yield "save_entry of lore", lambda: [save_entry(entry) for entry in _lore(world)]
    yield (
        "upsert_npc",
        lambda: upsert_npc(world, NPCIn(npc_id="mira-voss", name="Mira Voss", visibility="public")),
    )
    yield (
        "upsert_npc, another",
        lambda: upsert_npc(world, NPCIn(npc_id="jory-fenn", name="Jory Fenn", visibility="public")),
    )
    scene = SceneIn(
        scene_id="s1-fog-at-the-landing", title="Fog at the Landing", party_id="lanternbearers"
    )
    yield "upsert_scene", lambda: upsert_scene(world, scene)
    yield "ingest_episode", lambda: ingest_episode(world, _episode())
    yield "ingest_art", lambda: ingest_art(world, _card())
    yield "upsert_facts", lambda: upsert_facts(world, _facts())
    yield "embed_pending", lambda: [embed_pending(model) for model in PASSAGE_MODELS]
    yield "refresh_statistics", lambda: [count_words(model) for model in PASSAGE_MODELS]
    yield "create_key", lambda: keys.create_key(world, name="smoke", audience="gm")[0]
    lore = partial(Lore.objects.get, world=world, slug="the-ledger")
    yield "reveal", lambda: reveals.reveal(lore(), Audience("party", "lanternbearers"))


def search_steps(world: World) -> Iterator[Step]:
    rows = LorePassage.objects.in_world(world).visible_to(GM)
    for mode in ("hybrid", "vector", "keyword"):
        request = SearchRequest(
            query="who runs the ferry?", scopes=[world.pk], hidden=True, mode=mode
        )
        yield f"search ({mode})", partial(search, rows, request)

    def node(slug: str) -> Any:
        return GraphNode.objects.get(world=world, slug=slug).pk

    yield "neighbors", lambda: neighbors(View(world, GM), node("mira-voss"))
    yield (
        "shortest_path",
        lambda: shortest_path(View(world, GM), node("mira-voss"), node("ferrymens-guild")),
    )


def tool_steps(world: World) -> Iterator[Step]:
    """Yield a call of every listed tool with the example in its description."""
    caller = Caller(world, GM, scopes=frozenset(keys.Scope), namespace="smoke")
    for tool in toolbox.TOOLS:
        example = json.loads(tool.description.split("Example:", 1)[1])
        yield tool.name, partial(_call, tool.name, example, caller)
    yield "function_schema", lambda: [function_schema(tool) for tool in toolbox.TOOLS]
    yield "mcp tool list", lambda: [to_mcp_tool(tool) for tool in toolbox.TOOLS]


def _call(name: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
    if "memory_id" in arguments:
        # The id of the example is nobody's.
        own = MemoryItem.objects.filter(namespace__world=caller.world, namespace__npc=None)
        memory = own.latest("created_at", "pk")
        arguments = {**arguments, "memory_id": str(memory.pk)}
    return toolbox.call_tool(name, arguments, caller, via="smoke").as_json()


def _rule(world: World) -> Rule:
    document = Document.objects.get(slug="house", world=world)
    return Rule(
        key="house/conditions/grappled", document=document, world=world, title="Grappled", body=RULE
    )


def _lore(world: World) -> list[Lore]:
    ferry = Lore(slug="the-ferry", title="The Ferry", body=FERRY, visibility="public")
    secret = "Mira forged the ninth page."
    ledger = Lore(slug="the-ledger", title="The Ledger", body=secret, visibility="gm")
    for entry in (ferry, ledger):
        entry.world, entry.status = world, Lore.Status.PUBLISHED
    return [ferry, ledger]


def _episode() -> EpisodeIn:
    change = {"npc": "Mira Voss", "delta": 2, "reason": "They paid for the crossing."}
    return EpisodeIn.model_validate(
        {
            "summary_id": "smoke-1",
            "campaign_id": "low-water",
            "party_id": "lanternbearers",
            "scene_id": "s1-fog-at-the-landing",
            "when": 12.0,
            "who": {"players": ["Ada"], "npcs": ["Mira Voss"]},
            "relations_delta": [change],
            "what": "The party paid Mira for the crossing.",
        }
    )


def _card() -> ArtCardIn:
    return ArtCardIn(
        image_id="smoke-art",
        scene_id="s1-fog-at-the-landing",
        cdn_url="https://cdn.example/fog.png",
        prompt_text="A ferry in fog",
        entities=["Mira Voss"],
        moderation="approved",
    )


def _facts() -> list[GraphFact]:
    guild = NodeFact(
        kind="Faction", name="Ferrymen's Guild", slug="ferrymens-guild", visibility="public"
    )
    mira = NodeFact(kind="Character", name="Mira Voss", slug="mira-voss", visibility="public")
    alliance = EdgeFact(
        src="mira-voss", relation="ALLY_WITH", dst="ferrymens-guild", visibility="public"
    )
    return [GraphFact(node=guild), GraphFact(node=mira), GraphFact(edge=alliance)]


def summarize(result: Any) -> str:
    if isinstance(result, dict):
        fields = {name: value for name, value in result.items() if value}
        parts = [
            f"{name}={len(value)}" for name, value in fields.items() if isinstance(value, list)
        ]
        parts += [f"{k}={value}" for k, value in fields.items() if isinstance(value, str | bool)]
        return ", ".join(parts)[:100]
    if isinstance(result, list):
        return f"{len(result)}: {result[0]!r}"[:100] if result else "nothing"
    return repr(result)[:100]
