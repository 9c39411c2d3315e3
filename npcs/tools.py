"""The tool `npc_profile`: who an NPC is and what they think."""

from typing import Annotated

from pydantic import Field

from npcs.gm_profile import read_gm_profile
from npcs.lookup import find_npc
from npcs.own_profile import find_self, read_own_profile
from npcs.profile_schemas import NPCProfile
from npcs.profiles import add_relations, read_players_profile
from worlds.callers import Caller
from worlds.lookup import find_party, misread
from worlds.tool_args import ToolRequest


class ProfileAsk(ToolRequest):
    npc_id: Annotated[str, Field(min_length=1, max_length=200, description="Id or name.")]
    party_id: Annotated[
        str | None,
        Field(max_length=200, description="Party they judge."),
    ] = None


def npc_profile(ask: ProfileAsk, caller: Caller) -> NPCProfile:
    """Who an NPC is and what they think of `party_id`, and why.

    The memories of the profile are empty: they are of the layer above.
    """
    # A profile takes one statement when NPC and party are named by their slugs.
    own = find_self(caller, ask.npc_id)
    if own:
        profile = read_own_profile(own, caller, ask.party_id)
    else:
        profile = read_profile(caller, ask.npc_id, ask.party_id)
    if profile is None and own:
        # Refused with the text of a party that does not exist.
        find_party(caller.world, ask.party_id or "", caller.campaign, audience=caller.audience)
    if profile is None:
        npc = find_npc(caller.world, ask.npc_id, caller.audience, resembling=True)
        party = None
        if ask.party_id:
            party = find_party(
                caller.world,
                ask.party_id,
                caller.campaign,
                audience=caller.audience,
                resembling=True,
            )
        profile = read_profile(caller, npc.slug, party.slug if party else None)
        assert profile
        profile.read_as = misread(ask.npc_id, npc.name, npc.slug, *npc.aliases)
        if party and ask.party_id:
            profile.read_as |= misread(ask.party_id, party.name, party.slug)
    add_relations(profile, caller.world, caller.audience)
    return profile


def read_profile(caller: Caller, npc: str, party: str | None) -> NPCProfile | None:
    """Return the profile of the NPC with this slug as the caller may read it; None when there is no
    such NPC or no such party for the caller."""
    audience = caller.audience
    if audience.is_gm:
        return read_gm_profile(caller, npc, party)
    # As `find_party` has it: players ask about their own party alone.
    if party and party != audience.party_slug:
        return None
    campaign = caller.campaign.pk if caller.campaign else None
    return read_players_profile(caller.world.pk, audience, npc, party, campaign=campaign)
