"""The tool by which an NPC tells another what it knows. Scope agent:write."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from memories.models import Hearsay
from memories.states import Maker, State
from memories.tools import NPCMemoryAsk
from memories.witnesses.hearsay import Telling, tell
from npcs.lookup import find_npc
from npcs.models import NPC, Appearance
from retrieval.errors import Forbidden
from worlds.audiences import GM
from worlds.base_schemas import Day
from worlds.callers import Caller


class NoTeller(Forbidden):
    code, title = "no_teller", "Nobody tells it"


class TellAsk(NPCMemoryAsk):
    to: str = Field(min_length=1, max_length=200, description="Id or name of the NPC who is told.")
    memory_id: UUID | None = Field(None, description="The memory of yours that you tell.")
    text: str = Field("", max_length=4000, description="What you say, if not in its words.")
    sureness: float = Field(1.0, gt=0, le=1, description="How sure you say you are.")
    in_world_at: Annotated[Day | None, Field(description="The in-world day.")] = None


class TellAnswer(BaseModel):
    """`waiting`: a person has to approve it before the NPC knows it."""

    id: str
    memory_id: str
    to: str = Field(description="Id of the NPC who was told.")
    waiting: bool


def memory_tell(ask: TellAsk, caller: Caller) -> TellAnswer:
    """Tell another NPC something that you remember; it remembers who said it, and how sure.

    Use it when an NPC tells another one a memory, or a rumour (`text` alone). Not to tell the
    players, nor for what both have seen.
    Example: {"as": "npc:jory-fenn", "to": "Mira Voss", "text": "The bridge is out."}
    """
    teller = teller_of(caller)
    telling = Telling(
        teller=teller,
        listener=find_listener(teller, ask.to, caller),
        memory_id=ask.memory_id,
        text=ask.text,
        sureness=ask.sureness,
        told_at=ask.in_world_at,
        only_campaign=caller.campaign.pk if caller.campaign else None,
    )
    return present_telling(tell(telling, by=str(caller.key or "agent"), made_by=Maker.TOOL))


def teller_of(caller: Caller) -> NPC:
    """Return the NPC as whom the caller asks; raise `NoTeller` if it is none."""
    if caller.audience.kind != "npc":
        raise NoTeller("Ask as=npc:<id>, with the NPC who tells it.")
    return find_npc(caller.world, caller.audience.slug)


def find_listener(teller: NPC, reference: str, caller: Caller) -> NPC:
    """Return the NPC who is told. A key of the teller alone finds those of whom the teller may know
    or with whom it was seen; raise `NotFound`."""
    if caller.key is None or caller.key.audience == str(GM):
        return find_npc(caller.world, reference)
    shared = Appearance.objects.filter(npc=teller).values("episode")
    beside = NPC.objects.filter(world=caller.world, appearances__episode__in=shared, slug=reference)
    return beside.first() or find_npc(caller.world, reference, caller.audience)


def present_telling(hearsay: Hearsay) -> TellAnswer:
    memory = hearsay.memory
    listener = memory.namespace.npc
    return TellAnswer(
        id=str(hearsay.pk),
        memory_id=str(memory.pk),
        to=listener.slug if listener else "",
        waiting=memory.state == State.PENDING,
    )
