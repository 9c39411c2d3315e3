"""Bring the memories of an episode in step with it: one for everyone who was there or was told.

All of it runs in the transaction of whatever changed the episode, so that no crash can part them.
Each function can be repeated.
"""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from episodes.models import Episode
from memories.curation.withdrawal import bring_back, withdraw_memories, withdrawn_among
from memories.ledger.commit import commit
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
from npcs.models import NPC

CORRECTED = "the episode was corrected"
IN_USE = frozenset({State.ACTIVE, State.PENDING})
COMPARED = (
    *("importance", "in_world_at", "in_world_label", "episode_id", "forgotten_from", "metadata"),
)


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
    for npc, way in knowers_of(episode):
        felt = impressions.get(npc.pk, Impression())
        account = account_for_npc(episode, npc.slug, felt, way=way, year=year)
        accounts.append((namespace_of_npc(npc), account))
    for namespace in namespaces_that_remember_all(episode.world):
        accounts.append((namespace, account_for_gm(episode, impressions.values())))
    # In one order for all writers, or two episodes with the same NPCs could deadlock.
    return sorted((each for each in accounts if each[1].text), key=lambda each: each[0].pk)


def knowers_of(episode: Episode) -> list[tuple[NPC, str]]:
    """The NPCs who were there, and those to whom the episode was revealed."""
    present = NPC.objects.filter(appearances__episode=episode).select_related("world")
    told_slugs = [name.removeprefix("npc:") for name in episode.known_to if name.startswith("npc:")]
    told = NPC.objects.filter(world=episode.world_id, slug__in=told_slugs).select_related("world")
    ways = dict.fromkeys(told, TOLD) | dict.fromkeys(present, WITNESSED)
    return sorted(ways.items(), key=lambda each: each[0].pk)


def lock_namespaces(ids: Collection[UUID]) -> None:
    rows = Namespace.objects.select_for_update().filter(pk__in=ids).order_by("pk")
    list(rows.values_list("pk", flat=True))


def write_account(namespace: Namespace, episode: Episode, account: Account) -> None:
    """Write what `namespace` should remember, unless that is what was written last."""
    rows = memories_of(episode).filter(namespace=namespace, hearsay=None)
    latest = rows.filter(made_by=Maker.EPISODE).order_by("-timestamp_ms", "-pk").first()
    if latest and is_same(latest, account):
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
    about: Particulars = account.about
    same = all(getattr(memory, name) == getattr(about, name) for name in COMPARED)
    return same and (memory.text, memory.context) == (account.text, about.heading)
