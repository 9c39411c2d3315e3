"""REST API of what NPCs remember and tell each other: scope agent:write, for game masters and for
the key of the NPC itself."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Body, Path, Query, Router, Status

from memories.models import MemoryItem
from memories.namespaces import bind_to_campaign, namespace_of_npc
from memories.npc_schemas import (
    NPCMemories,
    NPCMemory,
    NPCMemoryQuery,
    TellerOut,
    TellingIn,
    TellingOut,
)
from memories.npc_tools import find_listener, present_telling
from memories.search import recall
from memories.states import Maker
from memories.witnesses.hearsay import Telling, find_hearsay, take_back, tell
from memories.witnesses.queries import Remembered, present_remembered, remembered_by
from npcs.lookup import find_npc
from npcs.models import NPC
from retrieval.errors import NotFound
from retrieval.tasks import embed_soon
from worlds.callers import Caller
from worlds.keys import Scope
from worlds.rest import NeedsKey, caller_of, require_gm

router = Router(tags=["npcs"], auth=NeedsKey(Scope.AGENT_WRITE))
Reference = Annotated[str, Path(max_length=200, description="Id or name of the NPC.")]


@router.get(
    "/npcs/{ref}/memories",
    operation_id="npc_memories",
    summary="List what an NPC remembers",
    response=NPCMemories,
)
def list_memories(
    request: HttpRequest, ref: Reference, query: Query[NPCMemoryQuery]
) -> NPCMemories:
    """The episodes that it witnessed or heard of and has not forgotten, and what its agent wrote:
    the latest in-world day first, or what fits `query` best."""
    caller = caller_of(request)
    npc = find_own_npc(caller, ref)
    campaign = caller.campaign.pk if caller.campaign else None
    if not query.query:
        found = remembered_by(npc, campaign=campaign, limit=query.limit)
        return NPCMemories(memories=[present_memory(each) for each in found])
    namespace = bind_to_campaign(namespace_of_npc(npc), caller)
    result = recall.search(namespace, query.query, limit=query.limit)
    rows = MemoryItem.objects.without_index_columns().select_related("hearsay__teller")
    by_id = rows.in_bulk([memory.id for memory in result.memories])
    found = present_remembered([by_id[memory.id] for memory in result.memories])
    memories = [present_memory(each) for each in found]
    return NPCMemories(memories=memories, degraded=list(result.degraded))


@router.post(
    "/npcs/{ref}/tellings",
    operation_id="npc_tell",
    summary="Let an NPC tell another",
    response={201: TellingOut},
)
def tell_another(
    request: HttpRequest, ref: Reference, entry: Body[TellingIn]
) -> Status[TellingOut]:
    """The other NPC remembers who told it, and how sure that one was, until the episode is
    retracted or the telling is taken back. Without the scope agent:review it waits for approval
    where that NPC's memories are reviewed."""
    caller = caller_of(request)
    teller = find_own_npc(caller, ref)
    telling = Telling(
        teller=teller,
        listener=find_listener(teller, entry.to, caller),
        memory_id=entry.memory_id,
        text=entry.text,
        sureness=entry.sureness,
        told_at=entry.in_world_at,
        told_label=entry.in_world_label,
        only_campaign=caller.campaign.pk if caller.campaign else None,
    )
    is_reviewer = {Scope.AGENT_REVIEW, Scope.ADMIN} & set(caller.scopes)
    made_by = Maker.PERSON if is_reviewer else Maker.TOOL
    answer = present_telling(tell(telling, by=str(caller.key or ""), made_by=made_by))
    embed_soon("memory")
    return Status(
        201,
        TellingOut(
            id=UUID(answer.id),
            memory_id=UUID(answer.memory_id),
            npc_id=answer.to,
            waiting=answer.waiting,
        ),
    )


@router.delete(
    "/npcs/{ref}/hearsay/{uuid:hearsay_id}",
    operation_id="npc_hearsay_delete",
    summary="Take back what an NPC was told",
    response={204: None},
)
def delete_hearsay(request: HttpRequest, ref: Reference, hearsay_id: UUID) -> Status[None]:
    """The NPC does not remember it any more, nor does anyone to whom it told it on."""
    caller = require_gm(request)
    listener = find_npc(caller.world, ref)
    campaign = caller.campaign.pk if caller.campaign else None
    hearsay = find_hearsay(listener, hearsay_id, only_campaign=campaign)
    take_back(hearsay, by=str(caller.key or ""))
    return Status(204, None)


def find_own_npc(caller: Caller, reference: str) -> NPC:
    """Return the NPC for a game master or for its own key; raise `NotFound`."""
    if caller.audience.is_gm:
        return find_npc(caller.world, reference)
    own = NPC.objects.filter(world=caller.world, slug=caller.audience.slug).first()
    is_own = own is not None and caller.audience.kind == "npc"
    if own is None or not is_own or reference not in (own.slug, own.name, str(own.pk)):
        # The name is left out: who may not know of an NPC learns nothing from the difference.
        raise NotFound("There is no such NPC whose memory this key reads.")
    return own


def present_memory(each: Remembered) -> NPCMemory:
    memory = each.memory
    return NPCMemory(
        id=memory.pk,
        text=memory.text,
        way=each.way,
        importance=memory.importance,
        summary_id=memory.source.removeprefix("episode:") if memory.episode_id else "",
        in_world_at=memory.in_world_at,
        in_world_label=memory.in_world_label,
        disposition=each.disposition,
        reasons=list(each.reasons),
        told_by=[
            TellerOut(npc_id=link.teller.slug, name=link.teller.name, sureness=link.sureness)
            for link in each.chain
        ],
        hearsay_id=each.hearsay.pk if each.hearsay else None,
        updated_at=memory.updated_at,
    )
