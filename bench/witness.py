"""Who knows what after scenes, tellings and retractions: `python -m bench.witness FILE`.

The file is JSON Lines, each with a `kind`: npc, scene, tell, retract, correct, and check, which
says what an NPC knows, has heard, and does not know in the end. Every check is made on the list of
all memories and by searches for each scene; a leak is a hit of a scene that is not known.
"""

import argparse
import json
import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.scratch import connect

os.environ.setdefault("EMBEDDER", "hashing")
Line = dict[str, Any]


@dataclass
class Counts:
    right: int = 0
    wrong: list[str] = field(default_factory=list)

    def count(self, is_right: bool, what: str) -> None:
        if is_right:
            self.right += 1
        else:
            self.wrong.append(what)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    lines = [json.loads(line) for line in parser.parse_args().file.read_text().splitlines()]
    connect("memory37_witness")
    from django.db import transaction

    with transaction.atomic():
        counts = run(lines)
        transaction.set_rollback(True)
    for name, count in counts.items():
        print(f"{name}: {count.right} right, {len(count.wrong)} wrong {count.wrong[:10]}")


def run(lines: list[Line]) -> dict[str, Counts]:
    """Play the file in a new world and check it; the caller rolls back."""
    from worlds.models import Campaign, GameSystem, Party, World

    system = GameSystem.objects.create(slug="witness", name="Witness")
    world = World.objects.create(slug="witness", name="Witness", system=system)
    campaign = Campaign.objects.create(world=world, slug="one", name="One")
    for party in sorted({line["party"] for line in lines if line["kind"] == "scene"}):
        Party.objects.create(world=world, campaign=campaign, slug=party, name=party)
    scenes = {line["id"]: line for line in lines if line["kind"] == "scene"}
    counts: dict[str, Counts] = defaultdict(Counts)
    for line in lines:
        if line["kind"] == "check":
            check(world, line, scenes, counts)
        else:
            STEPS[line["kind"]](world, line, scenes)
    return counts


def create_npc(world: Any, line: Line, _scenes: dict[str, Line]) -> None:
    from npcs.models import NPC

    NPC.objects.create(world=world, slug=line["slug"], name=line["name"])


def summary_of(line: Line, *, version: int = 1) -> Line:
    return {
        "summary_id": line["id"],
        "party_id": line["party"],
        "when": {"in_world_at": line["in_world_day"]},
        "who": {"npcs": line["present"]},
        "what": " ".join([line["summary"], *line["happenings"]]),
        "relations_delta": [
            {"npc": each["npc"], "delta": each["by"], "reason": each["reason"]}
            for each in line.get("changes", [])
            if each["by"]
        ],
        "version": version,
    }


def ingest(world: Any, line: Line, _scenes: dict[str, Line], *, version: int = 1) -> None:
    from episodes.ingest import ingest_episode
    from episodes.schemas import EpisodeIn

    summary = EpisodeIn.model_validate(summary_of(line, version=version))
    ingest_episode(world, summary)


def tell(world: Any, line: Line, _scenes: dict[str, Line]) -> None:
    from memories.models import MemoryItem
    from memories.states import Maker
    from memories.witnesses.hearsay import Telling
    from memories.witnesses.hearsay import tell as write
    from npcs.models import NPC

    npcs = {npc.slug: npc for npc in NPC.objects.filter(world=world)}
    rows = MemoryItem.objects.filter(namespace__npc=npcs[line["from"]], state="active")
    memory = rows.filter(episode__external_id=line["scene"]).order_by("-timestamp_ms").first()
    if memory is None:
        print(f"{line['from']} does not know {line['scene']} and cannot tell of it")
        return
    telling = Telling(
        npcs[line["from"]],
        npcs[line["to"]],
        memory.pk,
        sureness=line["sure"],
        told_at=line["in_world_day"],
    )
    write(telling, by="bench", made_by=Maker.PERSON)


def retract(world: Any, line: Line, _scenes: dict[str, Line]) -> None:
    from episodes.ingest import retract_episode

    retract_episode(world, line["scene"])


def correct(world: Any, line: Line, scenes: dict[str, Line]) -> None:
    """The summary is replaced, and the rest of the scene with it."""
    scene = scenes[line["scene"]] = {
        **scenes[line["scene"]],
        "summary": line["summary"],
        "happenings": [],
    }
    ingest(world, scene, scenes, version=2)


STEPS = {"npc": create_npc, "scene": ingest, "tell": tell, "retract": retract, "correct": correct}


def check(world: Any, line: Line, scenes: dict[str, Line], counts: dict[str, Counts]) -> None:
    from memories.namespaces import namespace_of_npc
    from memories.search import recall
    from memories.witnesses.queries import remembered_by
    from npcs.models import NPC

    npc = NPC.objects.get(world=world, slug=line["npc"])
    ways = {}
    for each in remembered_by(npc, limit=1_000):
        episode = each.memory.episode
        assert episode is not None
        ways[episode.external_id] = each.way
        is_current = scenes[episode.external_id]["summary"] in each.memory.text
        counts["of the record as it stands"].count(is_current, f"{npc}: {episode}")
    for name, way in (("knows", "witnessed"), ("heard", "heard")):
        for scene in line[name]:
            counts[name].count(ways.get(scene) == way, f"{npc}: {scene} {ways.get(scene)}")
    known = {*line["knows"], *line["heard"]}
    for scene in line["does_not_know"]:
        counts["does not know"].count(scene not in ways, f"{npc}: {scene}")
    counts["knows more than the model"].count(set(ways) <= known, f"{npc}: {set(ways) - known}")
    namespace = namespace_of_npc(npc)
    for scene, row in scenes.items():
        hits = recall.search(namespace, row["summary"], limit=30).memories
        found = {hit.summary_id for hit in hits}
        counts["searches without a leak"].count(found <= known, f"{npc}: {found - known}")
        if scene in known:
            counts["searches that find it"].count(scene in found, f"{npc}: {scene}")


if __name__ == "__main__":
    main()
