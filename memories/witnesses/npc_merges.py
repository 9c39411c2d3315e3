"""What a merged NPC remembers, as memories of the NPC that it was made one with, and back.

The kept NPC gets memories of its own of the episodes at which the merged one was and which were
revealed to it. What that one was told, and what it told others, is given to the kept NPC as it
is."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q

from episodes.models import Episode
from memories.curation.withdrawal import bring_back, withdraw_memories
from memories.ledger.commit import lock_namespaces
from memories.models import ClientVector, Hearsay, MemoryItem, Namespace
from memories.namespaces import namespace_of_npc
from memories.querysets import MemoryQuerySet
from memories.states import LinkKind
from memories.witnesses.hearsay import IN_USE, wordings_of
from memories.witnesses.upkeep import remember_episode
from npcs.models import NPC, Appearance, NPCMerge

Record = dict[str, list[str]]
"""Ids of the tellings that went over: `heard` by the merged NPC, and `told` by it."""


def lock_episodes(npc: NPC, *, also: Collection[str] = ()) -> list[UUID]:
    """Lock the episodes of which the NPC has a memory, or should have one, and those with the ids
    `also`; return the ids. Call it before the graph is locked, as whoever changes an episode
    does."""
    present = Appearance.objects.filter(npc=npc).values("episode")
    remembered = MemoryItem.objects.filter(namespace__npc=npc).exclude(episode=None)
    concerned = Q(pk__in=present) | Q(pk__in=remembered.values("episode")) | Q(pk__in=also)
    concerned |= Q(known_to__contains=[f"npc:{npc.slug}"])
    rows = Episode.objects.filter(concerned, world=npc.world_id).order_by("pk")
    rows = rows.select_for_update(no_key=True)
    return list(rows.values_list("pk", flat=True))


def lock_memories(npcs: Collection[NPC], episodes: Collection[UUID]) -> None:
    """Lock every memory that a merge of `npcs` writes, in the order of all writers. Call it after
    `lock_episodes` and before the graph is locked."""
    present = Appearance.objects.filter(episode__in=episodes).values("npc")
    of_episodes = MemoryItem.objects.filter(episode__in=episodes).values("namespace")
    listeners = Hearsay.objects.filter(teller__in=npcs).values("memory__namespace")
    concerned = Q(npc__in=npcs) | Q(npc__in=present) | Q(remembers_all=True)
    concerned |= Q(pk__in=of_episodes) | Q(pk__in=listeners)
    worlds = {npc.world_id for npc in npcs}
    rows = Namespace.objects.filter(concerned, world__in=worlds)
    lock_namespaces(set(rows.values_list("pk", flat=True)))


def move_memories(merge: NPCMerge, episodes: Collection[UUID]) -> Record:
    """Let the kept NPC remember what the merged one does, and have told what it told. The merged
    NPC is in the trash already, with its appearances at the kept one. What the two told each other
    stays as it is and out of use."""
    kept, merged = merge.kept, merge.merged
    heard = Hearsay.objects.filter(memory__namespace__npc=merged).exclude(teller=kept)
    heard = heard.exclude(same_telling(memory__namespace__npc=kept, teller=OuterRef("teller")))
    told = Hearsay.objects.filter(teller=merged).exclude(memory__namespace__npc=kept)
    listener = OuterRef("memory__namespace")
    told = told.exclude(same_telling(memory__namespace=listener, teller=kept))
    moved = {"heard": ids_of(heard), "told": ids_of(told)}
    withdraw_memories(wordings_of_all(between(merge)))
    give_tellings(moved, kept)
    remember_episodes(episodes)
    return moved


def put_memories_back(merge: NPCMerge, moved: Record, episodes: Collection[UUID]) -> None:
    """Give the tellings back, and let each of the two remember what it witnessed or was told."""
    give_tellings(moved, merge.merged)
    bring_back(wordings_of_all(between(merge).filter(taken_back_at=None)))
    remember_episodes(episodes)


def same_telling(**between: Any) -> Exists:
    """The condition that what was told is known by another telling already."""
    rows = Hearsay.objects.filter(memory__state__in=IN_USE, **between)
    return Exists(rows.filter(memory__text=OuterRef("memory__text")))


def between(merge: NPCMerge) -> Any:
    """What the two told each other."""
    both = [merge.kept_id, merge.merged_id]
    return Hearsay.objects.filter(teller__in=both, memory__namespace__npc__in=both)


def ids_of(tellings: Any) -> list[str]:
    return [str(pk) for pk in tellings.values_list("pk", flat=True)]


def give_tellings(moved: Record, npc: NPC) -> None:
    """Make `npc` the listener of what was heard, and the teller of what was told."""
    Hearsay.objects.filter(pk__in=moved.get("told", [])).update(teller=npc)
    for hearsay in Hearsay.objects.filter(pk__in=moved.get("heard", [])):
        give_memories(wordings_of_all([hearsay]), namespace_of_npc(npc))
    ids = [*moved.get("told", []), *moved.get("heard", [])]
    for hearsay in Hearsay.objects.filter(pk__in=ids).select_related("teller"):
        rename_in_metadata(hearsay)


def give_memories(rows: MemoryQuerySet, namespace: Namespace) -> None:
    ClientVector.objects.filter(memory__in=rows.values("pk")).update(namespace=namespace)
    former = set(rows.values_list("namespace", flat=True))
    rows.update(namespace=namespace)
    # Caches compare revisions.
    changed = Namespace.objects.filter(pk__in={*former, namespace.pk})
    changed.update(revision=F("revision") + 1)


def rename_in_metadata(hearsay: Hearsay) -> None:
    """Let the memory name its listener and its teller as they are called now."""
    for row in wordings_of_all([hearsay]).select_related("namespace__npc"):
        listener = row.namespace.npc
        if listener is not None:
            names = {"audience": f"npc:{listener.slug}", "heard_from": hearsay.teller.slug}
            MemoryItem.objects.filter(pk=row.pk).update(metadata={**row.metadata, **names})


def wordings_of_all(tellings: Iterable[Hearsay]) -> MemoryQuerySet:
    """The memories of the tellings, with what replaced them and what they replaced."""
    ids = {pk for each in tellings for pk in wordings_of(each.memory_id)}
    for pk in list(ids):
        ids |= earlier_wordings_of(pk)
    return MemoryItem.objects.filter(pk__in=ids).without_index_columns()


def earlier_wordings_of(memory: UUID) -> set[UUID]:
    """What the memory of a telling replaced when its episode was corrected."""
    found: set[UUID] = set()
    newest = {memory}
    while newest:
        rows = MemoryItem.objects.filter(
            successors__newer__in=newest, successors__kind=LinkKind.SUPERSEDES
        )
        newest = set(rows.values_list("pk", flat=True)) - found
        found |= newest
    return found


def remember_episodes(ids: Collection[UUID]) -> None:
    rows = Episode.objects.filter(pk__in=ids).select_related("world", "party")
    for episode in rows.order_by("happened_at", "pk"):
        remember_episode(episode)
