"""What belongs to or names an NPC, besides its ledger and its facts: each part moves what the
merged NPC has to the kept one, and returns what it needs to put it back (`NPCMerge.moved`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Model

from art.models import ArtCard, PictureUse
from episodes.models import Episode, Scene
from npcs.links import follow_secrets
from npcs.lookup import find_npcs
from npcs.models import NPC, Appearance, NPCMerge, Secret
from worlds.audiences import Audience
from worlds.models import ApiKey, Reveal
from worlds.reveals import models_with_visibility, reveal, undo_reveal
from worlds.webhook_model import Webhook

Record = Any
"""Lists and objects of ids as texts and of numbers."""


@dataclass(frozen=True)
class MovedPart:
    name: str
    move: Callable[[NPCMerge], Record]
    put_back: Callable[[NPCMerge, Record], None]


def move_secrets(merge: NPCMerge) -> Record:
    """After the secrets of the kept NPC: engines name secrets by their numbers."""
    last = merge.kept.secrets.aggregate(last=Max("position"))["last"] or 0
    secrets = list(Secret.objects.filter(npc=merge.merged).order_by("position"))
    moved = [[str(secret.pk), secret.position] for secret in secrets]
    for number, secret in enumerate(secrets, start=last + 1):
        secret.npc, secret.position = merge.kept, number
    Secret.objects.bulk_update(secrets, ["npc", "position"])
    follow_secrets(secrets)
    return moved


def put_secrets_back(merge: NPCMerge, moved: Record) -> None:
    positions = dict(moved)
    secrets = list(Secret.objects.filter(npc=merge.kept, pk__in=positions))
    for secret in secrets:
        secret.npc, secret.position = merge.merged, positions[str(secret.pk)]
    Secret.objects.bulk_update(secrets, ["npc", "position"])
    follow_secrets(secrets)


def move_appearances(merge: NPCMerge) -> Record:
    """Episodes where both were keep the row of each."""
    rows = Appearance.objects.filter(npc=merge.merged)
    rows = rows.exclude(episode__in=Appearance.objects.filter(npc=merge.kept).values("episode"))
    episodes = list(rows.values_list("episode", flat=True))
    rows.filter(episode__in=episodes).update(npc=merge.kept)
    return [str(pk) for pk in episodes]


def put_appearances_back(merge: NPCMerge, episodes: Record) -> None:
    Appearance.objects.filter(npc=merge.kept, episode__in=episodes).update(npc=merge.merged)


def shared_appearances(merge: NPCMerge) -> Record:
    """Episodes where both are. A new version of one has a row of the kept NPC alone."""
    both = Appearance.objects.filter(npc=merge.kept)
    rows = Appearance.objects.filter(npc=merge.merged, episode__in=both.values("episode"))
    return [str(pk) for pk in rows.values_list("episode", flat=True)]


def put_shared_appearances_back(merge: NPCMerge, shared: Record) -> None:
    """Add the row of the merged NPC to those that name it still."""
    episodes = list(Episode.objects.filter(pk__in=shared, retracted_at=None))
    names = sorted({name for episode in episodes for name in episode.npcs})
    found, _missing = find_npcs(merge.world, names)
    named = {name for name, npc in found.items() if npc.pk == merge.merged_id}
    rows = [
        Appearance(npc=merge.merged, episode=episode)
        for episode in episodes
        if named & set(episode.npcs)
    ]
    Appearance.objects.bulk_create(rows, ignore_conflicts=True)


def move_pictures(merge: NPCMerge) -> Record:
    """One of the NPC's portraits stays one: that of the kept NPC, else that of the merged one."""
    own = PictureUse.objects.filter(npc=merge.kept)
    has_portrait = own.filter(is_portrait=True, removed_at=None).exists()
    last = own.aggregate(last=Max("position"))["last"] or 0
    uses = PictureUse.objects.filter(npc=merge.merged)
    uses = uses.exclude(picture__in=own.values("picture")).order_by("position", "pk")
    moved = []
    for number, use in enumerate(uses, start=last + 1):
        moved.append([str(use.pk), use.position, use.is_portrait])
        use.npc, use.position = merge.kept, number
        use.is_portrait = use.is_portrait and not has_portrait
        use.save(update_fields=["npc", "position", "is_portrait"])
    return moved


def put_pictures_back(merge: NPCMerge, moved: Record) -> None:
    for pk, position, is_portrait in moved:
        rows = PictureUse.objects.filter(pk=pk, npc=merge.kept)
        rows.update(npc=merge.merged, position=position, is_portrait=is_portrait)


def move_depictions(merge: NPCMerge) -> Record:
    """Cards that show the merged NPC, each with whether they show the kept one as well."""
    moved = []
    for card in ArtCard.objects.filter(npcs=merge.merged):
        moved.append([str(card.pk), card.npcs.filter(pk=merge.kept.pk).exists()])
        card.npcs.add(merge.kept)
        card.npcs.remove(merge.merged)
    return moved


def put_depictions_back(merge: NPCMerge, moved: Record) -> None:
    showed_both = dict(moved)
    for card in ArtCard.objects.filter(pk__in=showed_both):
        card.npcs.add(merge.merged)
        if not showed_both[str(card.pk)]:
            card.npcs.remove(merge.kept)


def move_knowledge(merge: NPCMerge) -> Record:
    """The kept NPC learns what the merged one knows; return the new entries of the reveal log."""
    old, new = audience_of(merge.merged), audience_of(merge.kept)
    entries = []
    for model in models_with_visibility().values():
        rows = model._default_manager.filter(world=merge.world, known_to__contains=[str(old)])
        for row in rows:
            if str(new) not in row.known_to:
                entry = reveal(row, new, note=str(merge), by=merge.made_by)
                entries.append(str(entry.pk))
    return entries


def put_knowledge_back(_merge: NPCMerge, entries: Record) -> None:
    for entry in Reveal.objects.filter(pk__in=entries, undone_at=None):
        undo_reveal(entry)


def move_scenes(merge: NPCMerge) -> Record:
    """Scenes in whose cast the merged NPC is, each with whether the kept one is there, too."""
    moved = []
    old, new = merge.merged.slug, merge.kept.slug
    for scene in Scene.objects.filter(world=merge.world, cast__contains=[old]):
        moved.append([str(scene.pk), new in scene.cast])
        cast = [new if each == old else each for each in scene.cast]
        set_cast(scene, list(dict.fromkeys(cast)))
    return moved


def put_scenes_back(merge: NPCMerge, moved: Record) -> None:
    had_both = dict(moved)
    old, new = merge.kept.slug, merge.merged.slug
    for scene in Scene.objects.filter(pk__in=had_both, cast__contains=[old]):
        if had_both[str(scene.pk)]:
            set_cast(scene, [*scene.cast, new])
        else:
            set_cast(scene, [new if each == old else each for each in scene.cast])


def set_cast(scene: Scene, cast: list[str]) -> None:
    scene.cast = cast
    scene.save(update_fields=["cast", "updated_at"])


BOUND: Mapping[str, type[Model]] = {"key": ApiKey, "webhook": Webhook}
"""What asks or is told as an NPC."""


def move_bindings(merge: NPCMerge) -> Record:
    moved = {}
    for name, model in BOUND.items():
        rows = model._default_manager.filter(
            world=merge.world, audience=str(audience_of(merge.merged))
        )
        moved[name] = [str(pk) for pk in rows.values_list("pk", flat=True)]
        rows.update(audience=str(audience_of(merge.kept)))
    return moved


def put_bindings_back(merge: NPCMerge, moved: Record) -> None:
    for name, ids in moved.items():
        rows = BOUND[name]._default_manager.filter(pk__in=ids)
        rows = rows.filter(audience=str(audience_of(merge.kept)))
        rows.update(audience=str(audience_of(merge.merged)))


def audience_of(npc: NPC) -> Audience:
    return Audience("npc", npc.slug)


PARTS = (
    MovedPart("secrets", move_secrets, put_secrets_back),
    MovedPart("shared_appearances", shared_appearances, put_shared_appearances_back),
    MovedPart("appearances", move_appearances, put_appearances_back),
    MovedPart("pictures", move_pictures, put_pictures_back),
    MovedPart("depictions", move_depictions, put_depictions_back),
    MovedPart("knowledge", move_knowledge, put_knowledge_back),
    MovedPart("scenes", move_scenes, put_scenes_back),
    MovedPart("bindings", move_bindings, put_bindings_back),
)
