"""The tool that tells who an NPC is and what they think."""

from typing import Annotated

from pydantic import Field

from npcs.gm_profile import read_gm_profile
from npcs.lookup import find_npc
from npcs.profiles import profile_for_players, strongest_relations
from npcs.schemas import NPCProfile
from worlds.callers import Caller
from worlds.lookup import find_party
from worlds.tool_args import Ask


class ProfileAsk(Ask):
    npc_id: Annotated[
        str, Field(min_length=1, max_length=200, description="Id or name of the NPC.")
    ]
    party_id: Annotated[
        str | None,
        Field(max_length=200, description="Id or name of the party whose standing is asked for."),
    ] = None


def npc_profile(ask: ProfileAsk, caller: Caller) -> NPCProfile:
    """Who an NPC is and, with `party_id`, what they think of that party and which episodes made it
    so.

    Use it before an NPC speaks, acts or decides. Not for places, factions or history: that is
    `lore_search`. Example: {"npc_id": "Mira Voss", "party_id": "lanternbearers"}
    """
    profile = _whole(ask, caller) if caller.audience.is_gm else _for_players(ask, caller)
    profile.relations = strongest_relations(caller.world, profile.npc_id, caller.audience)
    return profile


def _for_players(ask: ProfileAsk, caller: Caller) -> NPCProfile:
    npc = find_npc(caller.world, ask.npc_id, caller.audience)
    party = (
        find_party(caller.world, ask.party_id, caller.campaign, audience=caller.audience)
        if ask.party_id
        else None
    )
    return profile_for_players(npc, caller.audience, party)


def _whole(ask: ProfileAsk, caller: Caller) -> NPCProfile:
    """One statement when both are named by their ids; by another name they are looked up first."""
    found = read_gm_profile(caller, ask.npc_id, ask.party_id)
    if found is None:
        npc = find_npc(caller.world, ask.npc_id)
        party = (
            find_party(caller.world, ask.party_id, caller.campaign, audience=caller.audience)
            if ask.party_id
            else None
        )
        found = read_gm_profile(caller, npc.slug, party.slug if party else None)
    assert found
    return found
