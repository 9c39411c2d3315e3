"""The tool `art_suggest`: pictures for a scene."""

from typing import Annotated

from pydantic import Field

from art.schemas import ArtSuggestion
from art.suggestions import suggest_cards
from episodes.lookup import find_scene
from worlds.callers import Caller
from worlds.tool_args import ToolRequest


class ArtAsk(ToolRequest):
    scene_id: Annotated[
        str, Field(min_length=1, max_length=200, description="Id or title of the scene.")
    ]
    k: Annotated[int, Field(ge=1, le=20, description="How many cards.")] = 4


def art_suggest(ask: ArtAsk, caller: Caller) -> ArtSuggestion:
    """Pictures for a scene: its own cards, else the nearest by place, by who is in it or by words,
    saying which.

    Use it to show something. Not to learn what happened: that is `session_fetch`.
    Example: {"scene_id": "s1-fog-at-the-landing"}
    """
    scene = find_scene(
        caller.world,
        ask.scene_id,
        caller.audience,
        campaign=caller.campaign,
        resembling=True,
    )
    return suggest_cards(scene, caller.audience, k=ask.k, campaign=caller.campaign)
