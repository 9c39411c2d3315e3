"""The tool `npc_profile`: who an NPC is, what they think, and what they remember of a topic."""

from typing import Annotated

from pydantic import Field

from memories.models import MemoryItem, Namespace
from memories.namespaces import bind_to_campaign
from memories.search import recall
from memories.search.relevant import ANSWERS
from memories.witnesses.queries import present_remembered
from npcs import tools as npc_tools
from npcs.models import NPC
from npcs.profile_schemas import NPCProfile, RecalledMemory
from worlds.callers import Caller

MOST_MEMORIES = 3


class RememberingProfileAsk(npc_tools.ProfileAsk):
    about: Annotated[
        str,
        Field(
            max_length=2000,
            description="Adds memories of it.",
        ),
    ] = ""


def npc_profile(ask: RememberingProfileAsk, caller: Caller) -> NPCProfile:
    """Who an NPC is and what they think of `party_id`, and why.

    Use it before an NPC speaks or acts. Not for places or history: `lore_search`.
    Example: {"npc_id": "Mira Voss", "party_id": "lanternbearers"}
    """
    profile = npc_tools.npc_profile(ask, caller)
    audience = caller.audience
    if ask.about and (audience.is_gm or str(audience) == f"npc:{profile.npc_id}"):
        npc = NPC.objects.get(world=caller.world, slug=profile.npc_id)
        profile.memories, degraded = recall_about(npc, ask.about, caller)
        profile.degraded = [*profile.degraded, *degraded]
    return profile


def recall_about(npc: NPC, topic: str, caller: Caller) -> tuple[list[RecalledMemory], list[str]]:
    """Return what `npc` remembers that answers `topic`, best first, and what was down. A key that
    is bound to a campaign finds its episodes alone."""
    # Not created here: a profile is read without writing anything.
    namespace = Namespace.objects.filter(npc=npc).select_related("world", "npc").first()
    if namespace is None:
        return [], []
    namespace = bind_to_campaign(namespace, caller)
    if caller.campaign:
        namespace.only_campaign = caller.campaign.pk
    result = recall.search(
        namespace,
        topic,
        limit=MOST_MEMORIES,
        share=ANSWERS,
        former=False,
        sources=False,
        count_recalls=False,
    )
    rows = MemoryItem.objects.without_index_columns().select_related("hearsay__teller")
    by_id = rows.in_bulk([memory.id for memory in result.memories])
    found = [by_id[memory.id] for memory in result.memories if memory.id in by_id]
    memories = [
        RecalledMemory(
            text=each.memory.text,
            way=each.way,
            source=each.memory.source.removeprefix("episode:") if each.memory.episode_id else "",
            in_world_at=each.memory.in_world_at,
            told_by=each.hearsay.teller.name if each.hearsay and each.hearsay.teller else "",
        )
        for each in present_remembered(found)
    ]
    # Whether memories that the caller must not know have their vectors yet would show otherwise.
    return memories, list(result.degraded) if memories else []
