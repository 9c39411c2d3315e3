"""What the form of an episode takes over from the scene that was played: day, place and cast."""

from dataclasses import replace
from typing import Any

from django.db.models import F

from episodes.models import Scene, Session
from memory_site.session_pages.episode_lines import EpisodeLine, Lines
from npcs.models import NPC
from worlds.models import Party


def scene_of(session: Session, party: Party) -> Scene | None:
    """Return the open scene of the party in this session, else the one that was ended last."""
    scenes = Scene.objects.filter(session=session, party=party).select_related("place_lore")
    return scenes.order_by(F("ended_at").desc(nulls_first=True), "-created_at").first()


def fields_of_scene(session: Session, scene: Scene | None) -> dict[str, Any]:
    """Return the day and the place, as far as the scene or else the session has them."""
    dated = scene if scene and scene.in_world_at is not None else session
    fields = {"in_world_at": dated.in_world_at, "in_world_label": dated.in_world_label}
    entry = scene.place_entry if scene else None
    place = entry.title if entry else scene.place if scene else ""
    return {**fields, "where": place}


def with_cast(lines: Lines, scene: Scene | None) -> Lines:
    """Return the lines with everyone who is in the scene ticked as having been there."""
    if scene is None or not scene.cast:
        return lines
    cast = NPC.objects.filter(world=scene.world_id, slug__in=scene.cast)
    names = dict(cast.order_by("name").values_list("slug", "name"))
    named = {line.values.get("npc") for line in lines["people"]}
    people = [
        replace(line, accepted=True) if line.values.get("npc") in names else line
        for line in lines["people"]
    ]
    people += [
        EpisodeLine({"npc": slug}, choices=[(slug, name)], accepted=True, title=name)
        for slug, name in names.items()
        if slug not in named
    ]
    return {**lines, "people": people}
