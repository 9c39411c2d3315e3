"""What a game master writes into a told world and nobody else may know: the world with it and the
world without it must answer everybody else alike."""

from collections.abc import Callable

from episodes.models import Episode, Scene
from knowledge.entry_store import save_all
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore, Rule
from npcs.models import NPC, Appearance, Secret
from tests.memory_site.api.secrets import MARK
from worlds.models import World

MOST = 12
"""Of each kind, so that writing takes a few seconds."""
KOREAN = "안개 속에서 종이 세 번 울리고 등대지기는 아무에게도 말하지 않았다. "


def add_secret_blocks(world: World) -> int:
    """One in the middle of each open text: inline words, a heading, another language."""
    entries = list(
        Lore.objects.filter(world=world, visibility="public", status="published").order_by("slug")
    )[:MOST]
    for number, entry in enumerate(entries):
        before, gap, after = entry.body.partition("\n\n")
        block = f":::secret\n## {MARK}gm70{number}\n\n{KOREAN * 4}The bell of {entry.title}.\n:::"
        entry.body = f"{before}\n\n{block}{gap}{after}"
    save_all(entries)
    return len(entries)


def copy_in_hiding(world: World) -> int:
    """Entries and rules with the words and nearly the names of open ones, hidden or in draft."""
    open_lore = Lore.objects.filter(world=world, visibility="public", status="published")
    copies = [
        Lore(
            world=world, slug=f"hidden-{number}", title=f"{each.title} of old", kind=each.kind,
            body=f"{each.body}\n\n{MARK}gm71{number}", language=each.language,
            visibility=("gm", "public")[number % 2], status=("published", "draft")[number % 2],
        )
        for number, each in enumerate(open_lore.order_by("slug")[:MOST])
    ]  # fmt: skip
    save_all(copies)
    house = Rule.objects.filter(world=world).order_by("key")[:MOST]
    rules = [
        Rule(
            key=f"house/hidden-{number}", document=each.document, world=world, title=each.title,
            body=f"{each.body} {MARK}gm72{number}", visibility=("gm", "revealed")[number % 2],
            known_to=[[], ["npc:nobody"]][number % 2],
        )
        for number, each in enumerate(house)
    ]  # fmt: skip
    save_all(rules)
    return len(copies) + len(rules)


def end_open_facts(world: World) -> int:
    """Each by a hidden fact about another open entity of that kind."""
    facts = GraphEdge.objects.believed_now().filter(world=world, until=None, visibility="public")
    nodes = list(GraphNode.objects.believed_now().filter(world=world, visibility="public"))
    written = []
    for fact in facts.select_related("src", "dst").order_by("pk"):
        others = [each for each in nodes if each.kind == fact.dst_kind]
        others = [each for each in others if each.pk not in (fact.src_id, fact.dst_id)]
        if others and fact.relation_id in ("LOCATED_IN", "OWNED_BY"):
            written.append(
                GraphFact(
                    edge=EdgeFact(
                        src=str(fact.src_id), relation=fact.relation_id, dst=str(others[0].pk),
                        since=(fact.since or 0.0) + 1, succeeds=True, visibility="gm",
                        label=f"{MARK}gm73",
                    )
                )
            )  # fmt: skip
    upsert_facts(world, written)
    return len(written)


def add_hidden_people(world: World) -> int:
    """Somebody who was at every scene, secrets of everybody, and notes."""
    spy = NPC.objects.create(world=world, slug="spy", name="Ferry Spy", summary=f"{MARK}gm74")
    episodes = list(Episode.objects.filter(world=world))
    Appearance.objects.bulk_create([Appearance(npc=spy, episode=each) for each in episodes])
    Episode.objects.filter(world=world).update(notes=f"{MARK}gm75 was a lie.")
    npcs = NPC.objects.filter(world=world, visibility="public")
    Secret.objects.bulk_create(
        [
            Secret(world=world, npc=each, position=91, text=f"{MARK}gm76 {each.name}")
            for each in npcs
        ]
    )
    return len(episodes)


def draft_places(world: World) -> int:
    """The places of scenes that are no entry get one, which is a draft."""
    scenes = list(Scene.objects.filter(world=world, place_lore=None))
    for number, scene in enumerate(scenes[:MOST]):
        title = scene.place or f"Old ferry {number}"
        place = Lore(
            world=world, slug=f"draft-place-{number}", title=title, kind="place",
            body=f"{MARK}gm77", visibility="public", status="draft",
        )  # fmt: skip
        save_all([place])
        Scene.objects.filter(pk=scene.pk).update(place_lore=place)
    return len(scenes)


def tell_hidden_episodes(world: World) -> int:
    """Like those that the parties know, word for word, for the game master alone."""
    told = Episode.objects.filter(world=world).order_by("external_id")[:MOST]
    for number, each in enumerate(told):
        Episode.objects.create(
            world=world, campaign=each.campaign, party=each.party, scene=each.scene,
            external_id=f"hidden-{number}", what=each.what, text=each.text, visibility="gm",
            language=each.language,
        )  # fmt: skip
    return len(told)


DEEDS: list[Callable[[World], int]] = [
    add_secret_blocks, copy_in_hiding, end_open_facts, add_hidden_people, draft_places,
    tell_hidden_episodes,
]  # fmt: skip
