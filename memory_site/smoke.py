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
from knowledge.entry_store import save_lore, save_rule
from knowledge.graph.models import GraphNode
from knowledge.graph.postgres_store import neighbors, shortest_path
from knowledge.graph.protocol import View
from knowledge.graph.schemas import EdgeFact, GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Document, Lore, LorePassage, Rule, RulePassage
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


SEARCHED = (RulePassage, LorePassage, Episode, ArtCard)


@dataclass(frozen=True)
class CallResult:
    """What one call returned, in short, and how long it took."""

    name: str
    result: str
    milliseconds: float
    failed: bool = False


def run() -> Iterator[CallResult]:
    """Call everything, in an order in which one step needs the other."""
    world = _world()
    steps: list[tuple[str, Callable[[], Any]]] = [
        *_writing(world),
        *_reading(world),
        *_tools(world),
    ]
    for name, step in steps:
        begun = perf_counter()
        try:
            result, failed = _short(step()), False
        except Exception as exc:
            result, failed = f"{type(exc).__name__}: {exc}", True
        yield CallResult(name, result, (perf_counter() - begun) * 1000, failed)


def _world() -> World:
    system = GameSystem.objects.create(slug="smoke", name="Smoke")
    world = World.objects.create(slug="smoke", name="Smoke", system=system)
    campaign = Campaign.objects.create(world=world, slug="low-water", name="Low Water")
    Party.objects.create(
        world=world, campaign=campaign, slug="lanternbearers", name="Lanternbearers"
    )
    Document.objects.create(slug="house", title="House rules", system=system, world=world)
    return world


def _writing(world: World) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "normalize_srd", lambda: normalize_srd(RULE)
    yield "normalize_lore", lambda: normalize_lore(FERRY)
    yield "save_rule", lambda: save_rule(_rule(world))
    yield "save_lore", lambda: [save_lore(entry) for entry in _lore(world)]
    yield (
        "upsert_npc",
        lambda: upsert_npc(world, NPCIn(npc_id="mira-voss", name="Mira Voss", visibility="public")),
    )
    scene = SceneIn(
        scene_id="s1-fog-at-the-landing", title="Fog at the Landing", party_id="lanternbearers"
    )
    yield "upsert_scene", lambda: upsert_scene(world, scene)
    yield "ingest_episode", lambda: ingest_episode(world, _episode())
    yield "ingest_art", lambda: ingest_art(world, _card())
    yield "upsert_facts", lambda: upsert_facts(world, _facts())
    yield "embed_pending", lambda: [embed_pending(model) for model in SEARCHED]
    yield "refresh_statistics", lambda: [count_words(model) for model in SEARCHED]
    yield "create_key", lambda: keys.create_key(world, name="smoke", audience="gm")[0]
    lore = partial(Lore.objects.get, world=world, slug="the-ledger")
    yield "reveal", lambda: reveals.reveal(lore(), Audience("party", "lanternbearers"))


def _reading(world: World) -> Iterator[tuple[str, Callable[[], Any]]]:
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


def _tools(world: World) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every listed tool with the example of its own description; so tools that are listed later are
    called too.
    """
    caller = Caller(world, GM, scopes=frozenset(keys.Scope), namespace="smoke")
    for tool in toolbox.TOOLS:
        example = json.loads(tool.description.split("Example:", 1)[1])
        yield tool.name, partial(_call, tool.name, example, caller)
    yield "function_schema", lambda: [function_schema(tool) for tool in toolbox.TOOLS]
    yield "mcp tool list", lambda: [to_mcp_tool(tool) for tool in toolbox.TOOLS]


def _call(name: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
    return toolbox.call_tool(name, arguments, caller, via="smoke").as_json()


def _rule(world: World) -> Rule:
    document = Document.objects.get(slug="house", world=world)
    return Rule(
        key="house/conditions/grappled", document=document, world=world, title="Grappled", body=RULE
    )


def _lore(world: World) -> list[Lore]:
    known = {"world": world, "status": Lore.Status.PUBLISHED}
    return [
        Lore(**known, slug="the-ferry", title="The Ferry", body=FERRY, visibility="public"),
        Lore(
            **known,
            slug="the-ledger",
            title="The Ledger",
            body="Mira forged the ninth page.",
            visibility="gm",
        ),
    ]


def _episode() -> EpisodeIn:
    told = {"summary_id": "smoke-1", "campaign_id": "low-water", "party_id": "lanternbearers"}
    who = {"players": ["Ada"], "npcs": ["Mira Voss"]}
    moved = [{"npc": "Mira Voss", "delta": 2, "reason": "They paid for the crossing."}]
    return EpisodeIn.model_validate(
        {
            **told,
            "scene_id": "s1-fog-at-the-landing",
            "when": 12.0,
            "who": who,
            "relations_delta": moved,
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
    allied = EdgeFact(
        src="mira-voss", relation="ALLY_WITH", dst="ferrymens-guild", visibility="public"
    )
    return [GraphFact(node=guild), GraphFact(node=mira), GraphFact(edge=allied)]


def _short(result: Any) -> str:
    if isinstance(result, dict):
        listed = {
            name: len(value) for name, value in result.items() if isinstance(value, list) and value
        }
        plain = {
            name: value for name, value in result.items() if isinstance(value, str | bool) and value
        }
        return ", ".join(f"{name}={value}" for name, value in {**listed, **plain}.items())[:100]
    if isinstance(result, list):
        return f"{len(result)}: {result[0]!r}"[:100] if result else "nothing"
    return repr(result)[:100]
