"""The profile of an NPC for an agent that plays that NPC: what it knows of itself, field by field
(docs/decisions/0187)."""

from typing import Any

from django.db.models import F, Q

from episodes.models import Episode
from npcs.gm_profile import MOST_OPINIONS, read_gm_profile
from npcs.models import NPC, Disposition, DispositionChange, OpinionChange, Secret
from npcs.opinions import opinions_of
from npcs.profile_schemas import (
    NPCDynamic,
    NPCPrivate,
    NPCProfile,
    NPCStatic,
    OpinionInProfile,
)
from npcs.profiles import MOST_INFLUENCES, present_influence, present_reveals
from npcs.schemas import DispositionOut, Influence
from retrieval.text import fold_name
from worlds.callers import Caller
from worlds.lookup import as_uuid
from worlds.models import Party, Reveal

Kind = OpinionChange.Kind


def find_self(caller: Caller, reference: str) -> NPC | None:
    """Return the NPC as whom the caller asks, if `reference` is its id or one of its whole
    names."""
    if caller.audience.kind != "npc":
        return None
    npc: NPC | None = NPC.objects.filter(world=caller.world, slug=caller.audience.slug).first()
    if npc is None:
        return None
    names = {fold_name(name) for name in (npc.slug, npc.name, *npc.aliases)}
    return npc if as_uuid(reference) == npc.pk or fold_name(reference) in names else None


def parties_met(npc: NPC, caller: Caller) -> list[Party]:
    """The parties that the NPC has met: it thinks something of them, or was there with them."""
    thinks = Disposition.objects.filter(npc=npc, changes__gt=0)
    told = Q(disposition_changes__npc=npc, disposition_changes__episode_version=F("version"))
    shared = Episode.objects.filter(Q(appearances__npc=npc) | told, retracted_at=None)
    parties = Party.objects.filter(
        Q(pk__in=thinks.values("party")) | Q(pk__in=shared.values("party")), world=caller.world
    )
    if caller.campaign:
        parties = parties.filter(campaign=caller.campaign)
    return list(parties.order_by("name"))


def read_own_profile(npc: NPC, caller: Caller, reference: str | None) -> NPCProfile | None:
    """Return what `npc` knows of itself and, of the party `reference` (id or name; None: of all
    that it has met), what it thinks. None when it has met no such party: whether there is one is
    not for it to know."""
    met = parties_met(npc, caller)
    if reference:
        met = [party for party in met if is_called(party, reference)]
        if len(met) != 1:
            return None
    full = read_gm_profile(caller, npc.slug, met[0].slug if reference else None)
    if full is None or full.dynamic is None or full.private is None:
        return None
    influences = own_influences(npc, met, caller)
    return NPCProfile(
        id=full.id,
        npc_id=full.npc_id,
        title=full.title,
        static=NPCStatic(
            name=full.static.name,
            aliases=full.static.aliases,
            role=full.static.role,
            description=full.static.description,
            faction=full.static.faction,
            home=full.static.home,
            secrets=own_secrets(npc, caller),
        ),
        dynamic=NPCDynamic(
            disposition={
                party.slug: own_disposition(full.dynamic.disposition[party.slug], influences)
                for party in met
                if party.slug in full.dynamic.disposition
            },
            influences=influences[:MOST_INFLUENCES],
            knows=present_reveals(
                Reveal.objects.filter(world=caller.world, audience=str(caller.audience)),
                caller.audience,
                campaign=caller.campaign,
            ),
            opinions=own_opinions(npc, caller),
        ),
        private=NPCPrivate(
            voice=full.private.voice,
            goals=full.private.goals,
            play_now=full.private.play_now,
            milestones=[],
            visibility="",
            known_to=[],
            base=full.private.base,
        ),
        truncated=len(influences) > MOST_INFLUENCES,
    )


def is_called(party: Party, reference: str) -> bool:
    """Whether `reference` is the id, the slug or the name of the party."""
    names = map(fold_name, (party.slug, party.name))
    return party.pk == as_uuid(reference) or fold_name(reference) in names


def own_secrets(npc: NPC, caller: Caller) -> list[str]:
    """The secrets about the NPC that it knows: those that name it, and those that all know."""
    rows: Any = Secret.objects.filter(npc=npc)
    rows = rows.visible_to(caller.audience).order_by("position")
    return list(rows.values_list("text", flat=True))


def own_influences(npc: NPC, parties: list[Party], caller: Caller) -> list[Influence]:
    """What episodes changed and what counts, latest first. Corrections and consequences are in the
    sum alone: their reasons are the game master's, or tell of relations that may be hidden."""
    rows: Any = DispositionChange.objects.filter(npc=npc, party__in=parties, kind=Kind.EPISODE)
    rows = rows.in_force().select_related("party").annotate_episode()
    found = list(rows.order_by("-happened_at", "-id")[: MOST_INFLUENCES + 1])
    episodes: Any = Episode.objects.in_world(caller.world)
    known = episodes.visible_to(caller.audience).filter(pk__in={each.episode_id for each in found})
    ids = set(known.values_list("pk", flat=True))
    influences = []
    for entry in found:
        summary_id = entry.summary_id if entry.episode_id in ids else None
        # Numbers of the ledger would tell how much else there is.
        hidden = {"change": 0, "made_by": "", "summary_id": summary_id}
        influences.append(present_influence(entry).model_copy(update=hidden))
    return influences


def own_disposition(disposition: DispositionOut, influences: list[Influence]) -> DispositionOut:
    """The disposition as it counts now. What waits is the game master's to know."""
    reasons = [each.reason for each in influences if each.party_id == disposition.party_id]
    last = reasons[0] if reasons else ""
    return disposition.model_copy(update={"pending": 0, "last_reason": last})


def own_opinions(npc: NPC, caller: Caller) -> list[OpinionInProfile]:
    """What the NPC thinks of those whom it may know of, the strongest first, with the reasons that
    episodes told."""
    opinions = opinions_of(npc, caller.campaign)
    others: Any = NPC.objects.filter(pk__in=[each.toward.pk for each in opinions])
    known = set(others.visible_to(caller.audience).values_list("pk", flat=True))
    found = []
    for opinion in opinions:
        entries = [shown.entry for shown in opinion.entries if shown.state == "counts"]
        told = [entry.reason for entry in entries if entry.kind == Kind.EPISODE]
        if entries and opinion.toward.pk in known:
            found.append(
                OpinionInProfile(
                    other=opinion.toward.slug,
                    other_name=opinion.toward.name,
                    score=round(opinion.score, 1),
                    label=opinion.label,
                    last_reason=told[0] if told else "",
                )
            )
    return sorted(found, key=lambda each: (-abs(each.score), each.other_name))[:MOST_OPINIONS]
