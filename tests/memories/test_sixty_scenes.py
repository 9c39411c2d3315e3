"""Sixty scenes with twenty NPCs: who knows what, against a model of sets written by hand.

The scenes, tellings, corrections and retractions are written out below as a table of short rows;
the model applies each to plain sets, and knows nothing of the code under test.
"""

from itertools import pairwise
from typing import Any

import pytest

from episodes.ingest import ingest_episode, restore_episode, retract_episode
from episodes.models import Episode
from episodes.schemas import EpisodeIn
from memories import namespaces
from memories.buckets.read_pipeline import ReadPipeline
from memories.models import Hearsay
from memories.search import recall
from memories.states import Maker
from memories.witnesses.hearsay import Telling, take_back, tell
from npcs.models import NPC
from tests import cast
from worlds import reveals
from worlds.audiences import Audience
from worlds.models import Party, World

pytestmark = pytest.mark.django_db

PEOPLE = [
    "mira",
    "jory",
    "tobin",
    "nuri",
    "kade",
    "bettany",
    "hask",
    "oarsman",
    "ringer",
    "sella",
    "orrin",
    "pell",
    "ysolde",
    "garrow",
    "finch",
    "lark",
    "dunstan",
    "wren",
    "maud",
    "corbin",
]
PLACES = ["landing", "toll-house", "eelskin-bridge", "salt-market", "heron-inn", "sunken-ward"]
DEEDS = [
    "cut the rope",
    "rang the bell",
    "hid the ledger",
    "lit the beacon",
    "sank the ferry",
    "found the oar",
    "sold the map",
    "broke the seal",
    "paid the toll",
    "buried the coin",
]
SECRET_OF = {7: "mira", 19: "hask", 31: "oarsman", 44: "maud"}
"""In these scenes one of those present knows what is in a secret block; in the next ones nobody."""
SECRET_FROM_ALL = {8, 20, 32}


def people_of(number: int) -> list[str]:
    """Two to five NPCs, each scene others; the tenth ones have no NPC at all."""
    if number % 10 == 9:
        return []
    count = 2 + number % 4
    return [PEOPLE[(number * 7 + each * 3) % len(PEOPLE)] for each in range(count)]


def word(number: int, kind: str = "deed") -> str:
    """A word that only this scene has, by which its memory is recognized."""
    return f"{kind}{number:02d}x"


def what_of(number: int, version: int = 1) -> str:
    text = f"Somebody {DEEDS[number % len(DEEDS)]} at the {PLACES[number % 6]}: {word(number)}"
    text += f" v{version}v." if version > 1 else "."
    if number in SECRET_OF:
        text += f"\n:::secret npc:{SECRET_OF[number]}\nIt was {word(number, 'secret')}.\n:::"
    if number in SECRET_FROM_ALL:
        text += f"\n:::secret\nUnseen by all: {word(number, 'secret')}.\n:::"
    return text


class Model:
    """Who knows which scene, and by whom they know it, as sets."""

    def __init__(self) -> None:
        self.present: dict[int, set[str]] = {}
        self.retracted: set[int] = set()
        self.version: dict[int, int] = {}
        self.told: list[tuple[str, str, int]] = []
        self.revealed: set[tuple[str, int]] = set()

    def knowers(self, scene: int) -> set[str]:
        if scene in self.retracted:
            return set()
        known = set(self.present[scene]) | {who for who, one in self.revealed if one == scene}
        for teller, listener, told in self.told:  # in the order of telling
            if told == scene and teller in known:
                known.add(listener)
        return known

    def knows(self, who: str) -> set[str]:
        words = set()
        for scene in self.present:
            if who in self.knowers(scene):
                words.add(word(scene))
                if self.version[scene] > 1:
                    words.add(f"{word(scene)} v{self.version[scene]}v")
            if SECRET_OF.get(scene) == who and who in self.present[scene] - self.gone(scene):
                words.add(word(scene, "secret"))
        return words

    def gone(self, scene: int) -> set[str]:
        return set(PEOPLE) if scene in self.retracted else set()


@pytest.fixture
def people(world: World, lanternbearers: Party) -> dict[str, NPC]:
    return {name: cast.create_npc(world, slug=name, name=name.title()) for name in PEOPLE}


@pytest.fixture
def model() -> Model:
    return Model()


def record(world: World, model: Model, scene: int, *, version: int = 1, who: Any = None) -> None:
    names = people_of(scene) if who is None else who
    if scene in SECRET_OF and SECRET_OF[scene] not in names:
        names = [*names, SECRET_OF[scene]]
    summary = {
        "summary_id": f"scene-{scene:02d}",
        "party_id": "lanternbearers",
        "when": {"in_world_at": 1000.0 + scene, "in_world_label": f"day {scene}"},
        "who": {"npcs": names},
        "what": what_of(scene, version),
        "visibility": ("revealed", "gm", "public")[scene % 3],
        "version": version,
    }
    if names and scene % 5 == 0:
        summary["relations_delta"] = [{"npc": names[0], "delta": 10, "reason": "Help."}]
    ingest_episode(world, EpisodeIn.model_validate(summary))
    model.present[scene], model.version[scene] = set(names), version
    model.retracted.discard(scene)


def tell_scene(
    world: World, people: dict[str, NPC], model: Model, teller: str, listener: str, scene: int
) -> Hearsay | None:
    """Tell of the scene if the teller remembers it; nobody can tell what they do not."""
    rows = namespaces.namespace_of_npc(people[teller]).memories.active()
    memory = rows.filter(episode__external_id=f"scene-{scene:02d}").first()
    assert (memory is not None) == (teller in model.knowers(scene))
    if memory is None or teller == listener:
        return None
    telling = Telling(people[teller], people[listener], memory.pk, sureness=0.8)
    model.told.append((teller, listener, scene))
    return tell(telling, by="gm", made_by=Maker.PERSON)


def check_everybody(world: World, people: dict[str, NPC], model: Model) -> None:
    """Compare what each NPC remembers with the model, by list, by search and by question."""
    every_word = {word(n, kind) for n in range(60) for kind in ("deed", "secret")}
    for name, npc in people.items():
        namespace = namespaces.namespace_of_npc(npc)
        known = model.knows(name)
        texts = " ".join(memory.text for memory in recall.latest(namespace, count=500))
        assert {each for each in known if each not in texts} == set(), f"{name} forgot"
        leaked = {each for each in every_word if each in texts and each not in known}
        assert leaked == set(), f"{name} knows what nobody told"
        for scene in (0, 19, 42):
            found = recall.search(namespace, what_of(scene), limit=50).memories
            asked = ReadPipeline(namespace, abstains=False).query(f"Who {DEEDS[scene % 10]}?")
            for memory in [*found, *(each.memory for each in asked.memories)]:
                assert not [one for one in every_word if one in memory.text and one not in known]
            if name in model.knowers(scene):
                assert any(word(scene) in memory.text for memory in found)


def test_who_knows_what_of_sixty_scenes(world: World, people: dict[str, NPC], model: Model) -> None:
    for scene in range(60):
        record(world, model, scene)
    check_everybody(world, people, model)
    # Each sixth scene is told on by one of its witnesses, and by who heard it, and by a stranger.
    for scene in range(0, 60, 6):
        names = people_of(scene)
        chain = [*names[:1], "finch", "lark", "corbin", "wren"]
        for teller, listener in pairwise(chain):
            tell_scene(world, people, model, teller, listener, scene)
        tell_scene(world, people, model, "maud", "sella", scene)
    check_everybody(world, people, model)
    for scene in (6, 12, 19, 25, 31, 42):
        retract_episode(world, f"scene-{scene:02d}")
        model.retracted.add(scene)
    check_everybody(world, people, model)
    for scene in (12, 31):
        restore_episode(world, f"scene-{scene:02d}")
        model.retracted.discard(scene)
    record(world, model, 18, version=2)
    record(world, model, 24, version=2, who=["garrow"])
    record(world, model, 42, version=2, who=["pell", "orrin"])
    record(world, model, 50, version=2, who=[*people_of(50), "dunstan"])
    for who, scene in (("ysolde", 9), ("ringer", 3), ("ysolde", 19)):
        episode = Episode.objects.get(external_id=f"scene-{scene:02d}")
        reveals.reveal(episode, Audience("npc", who))
        model.revealed.add((who, scene))
    check_everybody(world, people, model)
    told = Hearsay.objects.filter(taken_back_at=None, memory__episode__external_id="scene-48")
    first = told.order_by("created_at", "pk").select_related("memory").first()
    assert first is not None
    take_back(first, by="gm")
    # Who was told it on does not know it either, but for those who were there themselves.
    model.told.remove(next(each for each in model.told if each[2] == 48))
    check_everybody(world, people, model)
