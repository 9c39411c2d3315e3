"""What NPCs tell each other. Whoever heard it remembers who told it, and how sure that one was."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from episodes.models import Episode
from memories.curation.lifecycle import find_memory
from memories.curation.withdrawal import (
    HEARD,
    RETOLD,
    TAKEN_BACK,
    bring_back,
    withdraw_memories,
)
from memories.ledger.commit import change_state, commit, lock_namespaces
from memories.ledger.plan import NewMemory, Particulars, Plan
from memories.models import Hearsay, MemoryItem, Namespace, Succession
from memories.namespaces import namespace_of_npc
from memories.similarity.resolve import MemoryLink
from memories.states import Bucket, LinkKind, Maker, State, name_of_state
from memories.witnesses.accounts import PRESENT, day_of_forgetting, days_of_a_year
from npcs.models import NPC
from retrieval.errors import Conflict, Invalid, NotFound
from retrieval.text import storage_flaw

IN_USE = (State.ACTIVE, State.PENDING)


@dataclass(frozen=True)
class Telling:
    """What one NPC tells another: a memory, in its words or in others; or, without a memory,
    `text` alone. `told_at` is an in-world day."""

    teller: NPC
    listener: NPC
    memory_id: UUID | None = None
    text: str = ""
    sureness: float = 1.0
    told_at: float | None = None
    told_label: str = ""
    only_campaign: UUID | None = None
    """The campaign to which the caller's key is bound: of episodes of others nothing is told."""


@transaction.atomic
def tell(telling: Telling, *, by: str, made_by: Maker) -> Hearsay:
    """Let the listener remember what it was told. Telling the same again returns the first.

    Raise `NotFound` for a memory that the teller does not have, `Conflict` for one that is not in
    use, `Invalid` for a telling without anything to tell.
    """
    if telling.teller == telling.listener:
        raise Invalid(_("An NPC tells others, not itself."))
    told = None
    if telling.memory_id is not None:
        own = namespace_of_npc(telling.teller)
        own.only_campaign = telling.only_campaign
        told = find_memory(own, telling.memory_id)
        if told.state != State.ACTIVE:
            raise Conflict(
                _("This memory is %(state)s: %(teller)s cannot tell of it.")
                % {"state": name_of_state(told.state), "teller": telling.teller}
            )
    text = " ".join(telling.text.split()) or (told.text if told else "")
    if not text:
        raise Invalid(_("Name the memory that is told, or say what is told."))
    if storage_flaw(text):
        raise Invalid(_("This text cannot be stored: it has a character that is none."))
    known = Hearsay.objects.filter(teller=telling.teller, memory__namespace__npc=telling.listener)
    known = known.filter(heard_of=told, memory__text=text, memory__state__in=IN_USE)
    if first := known.select_related("memory").first():
        return first
    namespace = namespace_of_npc(telling.listener)
    about = _particulars(telling, told)
    new = NewMemory(text, made_by, about, language=told.language if told else "")
    commit(namespace, Plan(memories=[new], by=by, reason=f"told by {telling.teller.slug}"))
    return Hearsay.objects.create(
        memory_id=new.id,
        teller=telling.teller,
        heard_of=told,
        sureness=telling.sureness,
        in_own_words=told is None or text != told.text,
        told_at=telling.told_at,
        told_label=telling.told_label,
        by=by[:150],
    )


def _particulars(telling: Telling, told: MemoryItem | None) -> Particulars:
    """What a listener remembers beside the text. Who is told something in doubt finds it less
    important, and forgets it sooner."""
    importance = round((told.importance if told else PRESENT) * telling.sureness, 3)
    year = days_of_a_year(telling.listener.world)
    metadata: dict[str, object] = {
        "audience": f"npc:{telling.listener.slug}",
        "way": HEARD,
        "heard_from": telling.teller.slug,
        "sureness": telling.sureness,
    }
    common = Particulars(bucket=Bucket.EPISODIC, importance=importance, metadata=metadata)
    if told is None:
        return replace(
            common,
            source=f"npc:{telling.teller.slug}",
            in_world_at=telling.told_at,
            in_world_label=telling.told_label,
            forgotten_from=day_of_forgetting(telling.told_at, importance, year=year),
        )
    since = telling.told_at if telling.told_at is not None else told.in_world_at
    return replace(
        common,
        source=told.source,
        subject=told.subject,
        event_at=told.event_at,
        in_world_at=told.in_world_at,
        in_world_label=told.in_world_label,
        episode_id=told.episode_id,
        forgotten_from=day_of_forgetting(since, importance, year=year),
        label=told.context,
    )


@transaction.atomic
def take_back(hearsay: Hearsay, *, by: str) -> None:
    """Undo a telling: the listener does not remember it, nor anyone to whom it was told on."""
    tellings = with_further_tellings(hearsay)
    lock_namespaces({each.memory.namespace_id for each in tellings})
    for each in tellings:
        # Who heard it from somebody else as well, or was there, can still tell of it.
        if each == hearsay or current_account(each) is None:
            each.taken_back_at = each.taken_back_at or timezone.now()
            each.save(update_fields=["taken_back_at"])
            for wording in wordings_of(each.memory_id):
                change_state([wording], to=State.ARCHIVED, by=by, reason=TAKEN_BACK)


def with_further_tellings(hearsay: Hearsay) -> list[Hearsay]:
    """Return the telling and those by which it was told on, the earlier ones first."""
    found = [hearsay]
    for each in found:
        rows = Hearsay.objects.filter(heard_of=each.memory_id).select_related("memory")
        found += [further for further in rows if further not in found]
    return found


def wordings_of(memory_id: UUID) -> list[UUID]:
    """Return the memory and what took its place when it was reworded."""
    found = [memory_id]
    for each in found:
        rows = Succession.objects.filter(older=each, in_effect=True)
        newer = rows.filter(kind__in=(LinkKind.SUPERSEDES, LinkKind.SPLIT)).values_list("newer_id")
        found += [pk for (pk,) in newer if pk not in found]
    return found


def find_hearsay(listener: NPC, hearsay_id: UUID, *, only_campaign: UUID | None = None) -> Hearsay:
    """Raise `NotFound` unless `listener` was told it; with `only_campaign` also for what was told
    of episodes of other campaigns."""
    rows = Hearsay.objects.filter(memory__namespace__npc=listener).select_related("memory")
    if only_campaign:
        rows = rows.filter(Q(memory__episode=None) | Q(memory__episode__campaign=only_campaign))
    hearsay = rows.filter(pk=hearsay_id).first()
    if hearsay is None:
        raise NotFound(_("%(listener)s was not told this.") % {"listener": listener.name})
    return hearsay


def retell_episode(episode: Episode) -> None:
    """Bring what was told of `episode` in step with what the tellers remember of it now."""
    # In the order of telling: nobody can tell what they have not heard yet.
    rows = Hearsay.objects.filter(memory__episode=episode, taken_back_at=None)
    rows = rows.order_by("created_at", "pk")
    for hearsay in rows.select_related("memory__namespace", "heard_of"):
        _retell(hearsay)


def _retell(hearsay: Hearsay) -> None:
    rows = MemoryItem.objects.filter(pk=hearsay.memory_id).without_index_columns()
    if hearsay.heard_of is None:
        bring_back(rows)
        return
    account = current_account(hearsay)
    if account is None:
        withdraw_memories(rows)
        return
    if hearsay.in_own_words or account.text == hearsay.memory.text:
        bring_back(rows)
    else:
        hearsay.memory_id = _write_correction(hearsay, account)
    hearsay.heard_of = account
    hearsay.save(update_fields=["memory", "heard_of"])


def current_account(hearsay: Hearsay) -> MemoryItem | None:
    """Return the memory in use of what the teller told of, the teller's own before hearsay."""
    told = hearsay.heard_of
    if told is None:
        return None
    rows = MemoryItem.objects.filter(state=State.ACTIVE)
    if told.episode_id is None:
        return rows.filter(pk=told.pk).first()
    # Not that of the memory: the teller may have been merged with another NPC since.
    rows = rows.filter(namespace__npc=hearsay.teller_id)
    same: MemoryItem | None = (
        rows.filter(episode=told.episode_id)
        .without_index_columns()
        .order_by("hearsay__created_at", "-timestamp_ms")
        .first()
    )
    own = rows.filter(episode=told.episode_id, hearsay=None).without_index_columns()
    return own.order_by("-timestamp_ms").first() or same


def _write_correction(hearsay: Hearsay, account: MemoryItem) -> UUID:
    """Let the listener remember the corrected text; return the id of the new memory."""
    old = hearsay.memory
    namespace: Namespace = old.namespace
    about = Particulars(
        source=old.source,
        subject=old.subject,
        event_at=account.event_at,
        in_world_at=account.in_world_at,
        in_world_label=account.in_world_label,
        bucket=Bucket.EPISODIC,
        importance=round(account.importance * hearsay.sureness, 3),
        metadata=old.metadata,
        episode_id=old.episode_id,
        forgotten_from=old.forgotten_from,
        label=account.context,
    )
    made_by = Maker(old.made_by)
    state = None if old.state == State.PENDING else State.ACTIVE
    new = NewMemory(account.text, made_by, about, language=account.language, state=state)
    link = MemoryLink(old.pk, new.id, LinkKind.SUPERSEDES, RETOLD)
    every_state = frozenset(State)
    commit(
        namespace,
        Plan(memories=[new], links=[link], replace_reason=RETOLD, replaceable=every_state),
    )
    return new.id
