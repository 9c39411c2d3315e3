"""The game master's profile of an NPC in one statement: it is read before every line that an NPC
says."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from episodes.sql import fetch_rows
from npcs.models import OpinionChange
from npcs.profile_schemas import (
    NPCDynamic,
    NPCPrivate,
    NPCProfile,
    NPCStatic,
    OpinionInProfile,
    StandingInProfile,
)
from npcs.profiles import MOST_INFLUENCES, MOST_KNOWN, build_disposition, titles_of
from npcs.schemas import DispositionOut, Influence, KnownSubject
from npcs.score import ScoreChange, fold, label_of
from retrieval.text import without_secrets
from worlds.callers import Caller
from worlds.models import Campaign

MOST_OPINIONS = 20
PROFILE = Path(__file__).parent / "sql" / "profile.sql"


def read_gm_profile(caller: Caller, npc: str, party: str | None) -> NPCProfile | None:
    """Return the profile of the NPC with this slug; None when there is no such NPC or no such
    party."""
    values = {
        "world": caller.world.pk,
        "npc": npc,
        "party": party,
        "campaign": caller.campaign.pk if caller.campaign else None,
        "most_influences": MOST_INFLUENCES + 1,  # one more shows that the list is truncated
        "most_known": MOST_KNOWN,
    }
    rows = fetch_rows(PROFILE, values)
    if not rows or (party and not rows[0]["party"]):
        return None
    row = rows[0]
    influences = json.loads(row["influences"])
    return NPCProfile(
        id=str(row["id"]),
        npc_id=row["slug"],
        title=row["name"],
        static=NPCStatic(
            name=row["name"],
            aliases=row["aliases"],
            role=row["role"],
            description=row["summary"]
            if caller.audience.is_gm
            else without_secrets(row["summary"]),
            faction=row["faction"],
            home=row["home"],
            secrets=json.loads(row["secrets"]),
        ),
        dynamic=NPCDynamic(
            disposition={each.party_id: each for each in present_dispositions(row)},
            influences=[Influence.model_validate(each) for each in influences[:MOST_INFLUENCES]],
            knows=present_knowledge(json.loads(row["knows"]), caller.campaign),
            opinions=present_opinions(row),
            standings=present_standings(row),
        ),
        private=present_private(row, caller),
        updated_at=row["updated_at"],
        truncated=len(influences) > MOST_INFLUENCES,
    )


def present_knowledge(
    reveals: list[dict[str, Any]], campaign: Campaign | None
) -> list[KnownSubject]:
    """Return what was revealed to the NPC, but for rows in the trash and deleted ones, which have
    no title, and for those of other campaigns than `campaign`."""
    subjects = [(each["kind"], UUID(each["id"])) for each in reveals]
    titles = titles_of(subjects, campaign=campaign)
    return [
        KnownSubject(title=titles[each["kind"], UUID(each["id"])], **each)
        for each in reveals
        if (each["kind"], UUID(each["id"])) in titles
    ]


@dataclass(frozen=True)
class FoldedOpinion:
    """What the changes of one pair come to. `key` and `name` are those of whom they are about."""

    key: str
    name: str
    score: float
    last_reason: str

    @property
    def fields(self) -> dict[str, Any]:
        label = label_of(self.score)
        return {"score": round(self.score, 1), "label": label, "last_reason": self.last_reason}


def fold_opinions(row: dict[str, Any], subject: str) -> list[FoldedOpinion]:
    """Fold the changes about each `subject` (`other`, `faction`) as `npcs.opinions` does, those
    furthest from zero first."""
    by_subject: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for each in json.loads(row["opinions"]):
        if each[subject]:
            by_subject[each[subject], each[f"{subject}_name"]].append(each)
    folded = []
    for (key, name), entries in by_subject.items():
        changes = [
            ScoreChange(each["delta"], in_full=each["kind"] == OpinionChange.Kind.CORRECTION)
            for each in entries
        ]
        score = fold(changes, soft_ends=row["soft_ends"]).score
        folded.append(FoldedOpinion(key, name, score, entries[-1]["reason"]))
    folded.sort(key=lambda each: (-abs(each.score), each.name))
    return folded[:MOST_OPINIONS]


def present_opinions(row: dict[str, Any]) -> list[OpinionInProfile]:
    return [
        OpinionInProfile(other=each.key, other_name=each.name, **each.fields)
        for each in fold_opinions(row, "other")
    ]


def present_standings(row: dict[str, Any]) -> list[StandingInProfile]:
    return [
        StandingInProfile(faction=each.key, faction_name=each.name, **each.fields)
        for each in fold_opinions(row, "faction")
    ]


def present_private(row: dict[str, Any], caller: Caller) -> NPCPrivate:
    return NPCPrivate(
        voice=row["voice"],
        goals=row["goals"],
        play_now=row["play_now"],
        milestones=json.loads(row["milestones"]),
        visibility=row["visibility"],
        known_to=caller.shown_audiences(json.loads(row["known_to"])),
        base=row["base"],
    )


def present_dispositions(row: dict[str, Any]) -> list[DispositionOut]:
    """Return the dispositions of a row of `profile.sql`, decayed to the day each party has reached.

    A party that was asked for and that the NPC has not met gets the NPC's base.
    """
    rows = json.loads(row["dispositions"])
    if not rows and row["party"]:
        rows = [{"party_id": row["party"], "party": row["party_name"], "score": row["base"]}]
    half_life = row["half_life"] or settings.DISPOSITION_HALF_LIFE or None
    dispositions = []
    for each in rows:
        values = {**each, "last_reason": each.get("last_reason") or ""}
        dispositions.append(build_disposition(**values, base=row["base"], half_life=half_life))
    return dispositions
