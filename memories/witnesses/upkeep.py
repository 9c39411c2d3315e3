"""Bring the memories of an episode in step with it: one for everyone who was there or was told.

All of it runs in the transaction of whatever changed the episode, so that no crash can part them.
Each function can be repeated.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from episodes.models import Episode
from memories.curation.withdrawal import bring_back, withdraw_memories, withdrawn_among
from memories.ledger.commit import commit, lock_namespaces
from memories.ledger.plan import NewMemory, Particulars, Plan
from memories.models import MemoryItem, Namespace, RememberedEpisode
from memories.namespaces import namespace_of_npc, namespaces_that_remember_all
from memories.querysets import MemoryQuerySet
from memories.similarity.resolve import MemoryLink
from memories.states import LinkKind, Maker, State
from memories.witnesses.accounts import (
    TOLD,
    WITNESSED,
    Account,
    Impression,
    account_for_gm,
    account_for_npc,
    days_of_a_year,
    impressions_of,
)
from memories.witnesses.hearsay import retell_episode
from npcs.models import NPC, NPCMerge
from retrieval.text import without_secrets

CORRECTED = "the episode was corrected"
IN_USE = frozenset({State.ACTIVE, State.PENDING})
OF_RECORD = ("in_world_at", "in_world_label", "episode_id")
"""What a memory has from the text of its episode, beside that text."""
OF_IMPRESSION = ("importance", "forgotten_from", "metadata")
"""What it has from the changes in what its owner thinks, which can count later, or no more."""


@transaction.atomic
def remember_episode(episode: Episode) -> None:
    """Let everyone remember `episode` who was there or was told, and nobody else."""
    rows = [RememberedEpisode(episode=episode)]
    RememberedEpisode.objects.bulk_create(rows, ignore_conflicts=True)
    if episode.retracted_at:
        lock_namespaces(set(memories_of(episode).values_list("namespace_id", flat=True)))
        withdraw_memories(memories_of(episode))
        return
    accounts = accounts_of(episode)
    holders = memories_of(episode).values_list("namespace_id", flat=True)
    lock_namespaces({*(namespace.pk for namespace, _account in accounts), *holders})
    kept = {namespace.pk for namespace, _account in accounts}
    own = memories_of(episode).filter(hearsay=None)
    withdraw_memories(own.exclude(namespace__in=kept))
    for namespace, account in accounts:
        write_account(namespace, episode, account)
    retell_episode(episode)


def memories_of(episode: Episode) -> MemoryQuerySet:
    return MemoryItem.objects.filter(episode=episode).without_index_columns()


def accounts_of(episode: Episode) -> list[tuple[Namespace, Account]]:
    """What each namespace should remember of `episode`, in the order of the namespaces' ids."""
    impressions = impressions_of(episode)
    year = days_of_a_year(episode.world)
    accounts: list[tuple[Namespace, Account]] = []
    knowers = knowers_of(episode)
    has_secrets = without_secrets(episode.what) != episode.what
    merged = slugs_merged_into(npc for npc, _way in knowers) if has_secrets else {}
    for npc, way in knowers:
        felt = impressions.get(npc.pk, Impression())
        account = account_for_npc(
            episode, npc.slug, felt, way=way, year=year, merged=merged.get(npc.pk, ())
        )
        accounts.append((namespace_of_npc(npc), account))
    for namespace in namespaces_that_remember_all(episode.world):
        accounts.append((namespace, account_for_gm(episode, impressions.values())))
    # In one order for all writers, or two episodes with the same NPCs could deadlock.
    return sorted((each for each in accounts if each[1].text), key=lambda each: each[0].pk)


def knowers_of(episode: Episode) -> list[tuple[NPC, str]]:
    """The NPCs who were there, and those to whom the episode was revealed. NPCs in the trash as
    well: they come back with what they remember. In the place of one who was merged, the other one
    remembers."""
    merged = NPCMerge.objects.filter(undone_at=None).values("merged")
    everyone: Any = NPC.with_trash.filter(world=episode.world_id).exclude(pk__in=merged)
    present = everyone.filter(appearances__episode=episode).select_related("world")
    told_slugs = [name.removeprefix("npc:") for name in episode.known_to if name.startswith("npc:")]
    told = everyone.filter(slug__in=told_slugs).select_related("world")
    # A reveal names an NPC by its slug, which another one may have since: that one is live.
    named = {npc.slug: npc for npc in told.order_by(F("deleted_at").asc(nulls_last=True))}
    ways = dict.fromkeys(named.values(), TOLD) | dict.fromkeys(present, WITNESSED)
    return sorted(ways.items(), key=lambda each: each[0].pk)


def slugs_merged_into(npcs: Iterable[NPC]) -> Mapping[UUID, list[str]]:
    """The slugs of the NPCs that were made one with each of `npcs`, also by way of another, by the
    id of the NPC."""
    slugs: dict[UUID, list[str]] = defaultdict(list)
    kept_of = {npc.pk: npc.pk for npc in npcs}
    rows = NPCMerge.objects.filter(undone_at=None)
    found = dict(kept_of)
    while found:
        merges = list(rows.filter(kept__in=found).select_related("merged"))
        found = {merge.merged_id: kept_of[merge.kept_id] for merge in merges}
        for merge in merges:
            slugs[kept_of[merge.kept_id]].append(merge.merged.slug)
        kept_of |= found
    return slugs


def write_account(namespace: Namespace, episode: Episode, account: Account) -> None:
    """Write what `namespace` should remember, unless that is what was written last."""
    rows = memories_of(episode).filter(namespace=namespace, hearsay=None)
    latest = rows.filter(made_by=Maker.EPISODE).order_by("-timestamp_ms", "-pk").first()
    if latest and is_same(latest, account):
        follow_impression(rows, latest, account)
        bring_back(rows)
        return
    # What the agent or a person made of it in the meantime was made of a wrong record.
    replaced = {row.pk for row in rows.filter(state__in=IN_USE)} | withdrawn_among(rows)
    new = NewMemory(account.text, Maker.EPISODE, account.about, language=episode.language)
    links = [MemoryLink(pk, new.id, LinkKind.SUPERSEDES, CORRECTED) for pk in sorted(replaced)]
    commit(
        namespace,
        Plan(
            memories=[new],
            links=links,
            by="episode",
            replace_reason=CORRECTED,
            replaceable=frozenset({*IN_USE, State.ARCHIVED}),
        ),
    )


def is_same(memory: MemoryItem, account: Account) -> bool:
    """Whether the memory says the same, whatever impression it made."""
    about: Particulars = account.about
    same = all(getattr(memory, name) == getattr(about, name) for name in OF_RECORD)
    same = same and memory.metadata.get("way") == about.metadata.get("way")
    return same and (memory.text, memory.context) == (account.text, about.heading)


def follow_impression(rows: MemoryQuerySet, latest: MemoryItem, account: Account) -> None:
    """Let the memory, and what its owner or a person made of it, be as important as the episode is
    now. An importance that was set by hand stays."""
    about = account.about
    if all(getattr(latest, name) == getattr(about, name) for name in OF_IMPRESSION):
        return
    old = {name: getattr(latest, name) for name in OF_IMPRESSION}
    for row in rows.filter(Q(state__in=[*IN_USE, State.ARCHIVED]) | Q(pk=latest.pk)):
        for name, value in old.items():
            if getattr(row, name) == value:
                setattr(row, name, getattr(about, name))
        MemoryItem.objects.filter(pk=row.pk).update(
            **{name: getattr(row, name) for name in OF_IMPRESSION}, updated_at=timezone.now()
        )
