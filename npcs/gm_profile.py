"""The whole profile of an NPC in one statement, for game masters: the read that comes before every
line an NPC says.
"""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from episodes.sql import fetch_rows
from npcs.profiles import MOST_INFLUENCES, MOST_KNOWN, direction_of, titles_of
from npcs.schemas import (
    DispositionOut,
    Influence,
    KnownSubject,
    NPCDynamic,
    NPCPrivate,
    NPCProfile,
    NPCStatic,
)
from npcs.score import decay, label_of
from worlds.callers import Caller

PROFILE = Path(__file__).parent / "sql" / "profile.sql"


def read_gm_profile(caller: Caller, npc: str, party: str | None) -> NPCProfile | None:
    """Return the profile of the NPC with this slug; None when there is no such NPC, or no such
    party.
    """
    found = fetch_rows(
        PROFILE,
        {
            "world": caller.world.pk,
            "npc": npc,
            "party": party,
            "campaign": caller.campaign.pk if caller.campaign else None,
            "most_influences": MOST_INFLUENCES + 1,
            "most_known": MOST_KNOWN,
        },
    )
    if not found or (party and not found[0]["party"]):
        return None
    return _profile(found[0])


def _profile(row: dict[str, Any]) -> NPCProfile:
    influences = json.loads(row["influences"])
    return NPCProfile(
        id=str(row["id"]),
        npc_id=row["slug"],
        title=row["name"],
        static=NPCStatic(
            name=row["name"],
            aliases=row["aliases"],
            role=row["role"],
            description=row["summary"],
            faction=row["faction"],
            home=row["home"],
            secrets=json.loads(row["secrets"]),
        ),
        dynamic=NPCDynamic(
            disposition={each.party_id: each for each in _dispositions(row)},
            influences=[Influence.model_validate(each) for each in influences[:MOST_INFLUENCES]],
            knows=_known(json.loads(row["knows"])),
        ),
        private=NPCPrivate(
            voice=row["voice"],
            goals=row["goals"],
            play_now=row["play_now"],
            milestones=json.loads(row["milestones"]),
            visibility=row["visibility"],
            known_to=json.loads(row["known_to"]),
            base=row["base"],
        ),
        updated_at=row["updated_at"],
        truncated=len(influences) > MOST_INFLUENCES,
    )


def _dispositions(row: dict[str, Any]) -> list[DispositionOut]:
    stored = json.loads(row["dispositions"])
    if not stored and row["party"]:
        stored = [{"party_id": row["party"], "party": row["party_name"], "score": row["base"]}]
    half_life = row["half_life"] or settings.DISPOSITION_HALF_LIFE or None
    return [_disposition(each, base=row["base"], half_life=half_life) for each in stored]


def _disposition(told: dict[str, Any], *, base: float, half_life: float | None) -> DispositionOut:
    since, today, trend = told.get("in_world_at"), told.get("today"), told.get("trend", 0.0)
    days = 0.0 if since is None or today is None else today - since
    score = decay(told["score"], base=base, days=days, half_life=half_life)
    return DispositionOut(
        party_id=told["party_id"],
        party=told["party"],
        score=round(score, 1),
        label=label_of(score),
        trend=round(trend, 1),
        direction=direction_of(trend),
        axes=told.get("axes", {}),
        changes=told.get("changes", 0),
        pending=told.get("pending", 0),
        last_reason=told.get("last_reason") or "",
    )


def _known(told: list[dict[str, Any]]) -> list[KnownSubject]:
    titles = titles_of([(each["kind"], UUID(each["id"])) for each in told])
    return [
        KnownSubject(title=titles.get((each["kind"], UUID(each["id"])), ""), **each)
        for each in told
    ]
