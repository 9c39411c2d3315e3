"""Deletion for good: complete, with a receipt, and nothing brings it back."""

import random
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from memories import conversation, core, transfer
from memories.coding_agent import SemanticMemoryManager, WorkingMemoryManager
from memories.coding_agent.stores import PostgresMemoryStore
from memories.curation import edits, lifecycle, rebuild
from memories.erasure import deletion
from memories.erasure.verify import search_leftovers
from memories.models import (
    AgentState,
    MemoryItem,
    Message,
    Namespace,
    Observation,
    StoredCodeRule,
    Tombstone,
)
from memories.search import recall
from retrieval.embedders import get_embedder, text_hash
from retrieval.errors import Invalid, NotFound
from retrieval.indexing import embed_pending
from retrieval.models import CachedVector, StagedVector
from tests.memories.conftest import remember
from worlds.models import ApiKey, AuditedCall, IdempotentWrite, World

pytestmark = pytest.mark.django_db

SECRET = "Isaura Brackwen keeps the drowned ledger under the third stair."


def test_a_memory_goes_with_its_former_wordings_and_observations(mira: Namespace) -> None:
    (pk,) = remember(mira, SECRET).ids
    edited = edits.edit(mira, pk, "The ledger is under the third stair.", by="gm")
    remember(mira, "The tide turns at noon.")
    receipt = deletion.erase(mira, "memory", edited.pk, by="gm")
    assert receipt.is_clean
    assert receipt.counts["memoryitem"] == 2
    assert receipt.counts["observation"] == 1
    assert [memory.text for memory in recall.latest(mira)] == ["The tide turns at noon."]


def test_deleting_the_old_wording_takes_the_new_one_too(mira: Namespace) -> None:
    (pk,) = remember(mira, SECRET).ids
    edits.edit(mira, pk, "The ledger is under the third stair.", by="gm")
    assert deletion.erase(mira, "memory", pk).is_clean
    assert not mira.memories.exists()


def test_what_an_erased_memory_had_replaced_comes_back(mira: Namespace) -> None:
    one, other = remember(mira, "Mira owns a night ferry.", SECRET).ids
    merged = edits.merge(
        mira, [one, other], "Mira owns a night ferry; Isaura hides a ledger.", by="gm"
    )
    deletion.erase(mira, "memory", other)
    assert [memory.id for memory in recall.latest(mira)] == [one]
    assert not MemoryItem.objects.filter(pk=merged.pk).exists()


def test_a_source_goes_with_everything_that_rests_on_it(mira: Namespace) -> None:
    remember(mira, SECRET, source="session-2")
    remember(mira, "The tide turns at noon.", source="session-1")
    conversation.log_message(mira, "I saw the ledger.", source="session-2")
    receipt = deletion.erase(mira, "source", "session-2", by="gm")
    assert receipt.is_clean
    assert [seen.source for seen in mira.observations.all()] == ["session-1"]
    assert not mira.messages.exists()


def test_a_subject_goes_as_speaker_too(mira: Namespace) -> None:
    remember(mira, SECRET, subject="Isaura")
    remember(
        mira,
        "I never liked that bell.",
        speaker="Isaura",
        event_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert deletion.erase(mira, "subject", "Isaura").is_clean
    assert not mira.memories.exists()
    assert not mira.observations.exists()


def test_what_was_embedded_under_a_heading_leaves_the_cache_of_vectors(
    mira: Namespace, tobin: Namespace
) -> None:
    CachedVector.objects.all().delete()  # those of rules that another test has committed
    said_at = datetime(2026, 1, 2, tzinfo=UTC)
    remember(mira, SECRET, speaker="Isaura", event_at=said_at)
    remember(tobin, "Tobin keeps the toll bell.")
    conversation.log_message(mira, "Isaura hates eels.", speaker="Isaura")
    embed_pending(Message)
    assert CachedVector.objects.count() == 3
    assert deletion.erase(mira, "subject", "Isaura").is_clean
    hashes = set(CachedVector.objects.values_list("text_hash", flat=True))
    assert hashes == {text_hash("Tobin keeps the toll bell.")}


def test_the_core_loses_the_line_in_every_version(mira: Namespace) -> None:
    page = f"# SOUL\n\n# TOOLS\n\n# RULE\n\n# USER\n- {SECRET}\n- Likes tea.\n"
    core.write_by_hand(mira, page, reason="by hand")
    core.write_by_hand(mira, page + "- Likes eel.\n", reason="by hand")
    (pk,) = remember(mira, SECRET).ids
    receipt = deletion.erase(mira, "memory", pk)
    assert receipt.is_clean
    assert receipt.counts["core lines"] == 2
    assert "- Likes tea." in core.current(mira).markdown


def test_audit_and_stored_answers_forget_it(mira: Namespace, world: World) -> None:
    key = ApiKey.objects.create(
        world=world, name="mira", prefix="mira", secret_hash="x", namespace=mira.name
    )
    (pk,) = remember(mira, SECRET).ids
    call = AuditedCall.objects.create(
        world=world,
        key=key,
        door="rest",
        tool="archival_memory_search",
        audience="public",
        request_id="r",
        status=200,
        asked={"query": SECRET, "limit": 8},
        returned=[str(pk)],
        milliseconds=1,
        at=datetime.now(UTC),
    )
    write = IdempotentWrite.objects.create(
        key=key, token="t", fingerprint="f", status=200, body=SECRET.encode()
    )
    receipt = deletion.erase(mira, "memory", pk)
    call.refresh_from_db(), write.refresh_from_db()
    assert (call.returned, call.asked) == ([], {"query": "", "limit": 8})
    assert (write.status, SECRET.encode() in bytes(write.body)) == (410, False)
    assert receipt.is_clean


def test_rebuilding_and_importing_do_not_bring_it_back(mira: Namespace, world: World) -> None:
    _kept, secret = remember(mira, "The tide turns at noon.", SECRET).ids
    lines = list(transfer.export_namespace(mira))
    deletion.erase(mira, "memory", secret)
    rebuild.rebuild_memories(mira, everything=True)
    transfer.import_namespace(lines, world)
    assert SECRET not in {memory.text for memory in mira.memories.all()}
    assert SECRET not in {seen.text for seen in mira.observations.all()}
    with pytest.raises(NotFound, match="cannot be brought back"):
        lifecycle.restore(mira, secret)


def test_a_whole_namespace_goes_and_its_neighbour_stays(mira: Namespace, tobin: Namespace) -> None:
    remember(mira, SECRET)
    remember(tobin, SECRET)
    core.write_by_hand(mira, "# SOUL\n\n# TOOLS\n\n# RULE\n\n# USER\n", reason="x")
    assert deletion.erase(mira, "namespace", by="gm").is_clean
    assert not Namespace.objects.filter(pk=mira.pk).exists()
    assert [memory.text for memory in recall.search(tobin, "ledger").memories] == [SECRET]


def test_the_verifier_finds_what_a_careless_deletion_leaves(mira: Namespace) -> None:
    (pk,) = remember(mira, SECRET).ids
    conversation.log_message(mira, f"Did you know? {SECRET}")
    MemoryItem.objects.filter(pk=pk).delete()
    get_embedder("memory").embed_document([SECRET])
    leftovers = search_leftovers([mira.pk], [pk], [SECRET], texts_in_cache=[SECRET])
    assert any("memories_observation.text" in place for place in leftovers)
    assert any("memories_message.text" in place for place in leftovers)
    assert any("cachedvector" in place for place in leftovers)


def test_nothing_to_name_is_nothing_to_erase(mira: Namespace) -> None:
    with pytest.raises(Invalid):
        deletion.erase(mira, "source", " ")


@pytest.mark.parametrize("seed", range(6))
def test_after_any_deletion_nothing_is_left_and_nothing_else_is_lost(
    mira: Namespace, seed: int
) -> None:
    """A random history of adds, edits, merges, splits and restores; then deletions, each
    verified.
    """
    dice = random.Random(seed)
    facts = add_random_history(mira, dice)
    for _ in range(4):
        ids = list(mira.memories.values_list("pk", flat=True))
        if not ids:
            break
        scope = dice.choice(["memory", "source", "subject"])
        receipt = erase_by_scope(mira, scope, dice.choice(ids), dice)
        assert receipt.is_clean, receipt.leftovers
        assert not mira.memories.filter(pk__in=receipt.tombstones.values("pk")).exists()
    facts_without_memory = {fact for fact in facts if not has_memory_of(mira, fact)}
    facts_without_observation = {
        seen for seen in facts if not mira.observations.filter(text=seen).exists()
    }
    assert facts_without_memory == facts_without_observation
    assert Tombstone.objects.exists()


def add_random_history(namespace: Namespace, dice: random.Random) -> list[str]:
    facts = [
        f"{name} {verb} the {thing} number {n}."
        for n, (name, verb, thing) in enumerate(random_phrases(dice))
    ]
    for fact in facts:
        remember(
            namespace,
            fact,
            source=f"session-{dice.randint(1, 4)}",
            subject=dice.choice(["Mira", "Tobin", "Oda"]),
        )
    for _ in range(8):
        ids = list(namespace.memories.active().values_list("pk", flat=True))
        one, other = dice.sample(ids, 2)
        texts = {
            memory.pk: memory.text for memory in namespace.memories.filter(pk__in=[one, other])
        }
        match dice.randrange(3):
            case 0:
                edits.edit(namespace, one, f"Indeed: {texts[one]}", by="dice")
            case 1:
                edits.merge(namespace, [one, other], f"{texts[one]} {texts[other]}", by="dice")
            case _:
                edits.split(
                    namespace,
                    one,
                    [f"{texts[one]} So it is.", f"{texts[one]} So it was."],
                    by="dice",
                )
    return facts


def random_phrases(dice: random.Random) -> list[tuple[str, str, str]]:
    names, verbs, things = (
        ["Mira", "Tobin", "Oda", "Jory"],
        ["guards", "sold", "fears", "carved"],
        ["oar", "bell", "lamp"],
    )
    return [(dice.choice(names), dice.choice(verbs), dice.choice(things)) for _ in range(12)]


def erase_by_scope(namespace: Namespace, scope: str, pk: UUID, dice: random.Random):  # type: ignore[no-untyped-def]
    if scope == "memory":
        return deletion.erase(namespace, "memory", pk)
    if scope == "source":
        return deletion.erase(namespace, "source", f"session-{dice.randint(1, 4)}")
    return deletion.erase(namespace, "subject", dice.choice(["Mira", "Tobin", "Oda"]))


def has_memory_of(namespace: Namespace, fact: str) -> bool:
    """In use or in history, a memory rests on the observation of this fact."""
    return namespace.memories.filter(observations__text=fact).exists()


def test_an_erased_episode_leaves_nothing_in_what_was_learned_or_is_under_way(
    mira: Namespace,
) -> None:
    store = PostgresMemoryStore(mira)
    secret = "The toll of Heron Abbey is three silver for each bell."
    working, semantic = WorkingMemoryManager(store), SemanticMemoryManager(store)
    episodes = []
    for task in (secret, "The ledger crashes on rows of free crossings"):
        working.init_task(task)
        working.record_step("run", error_type="KeyError", error_message="'fare' is missing")
        episodes.append(working.consolidate(solution="Read it with get"))
        semantic.learn_from_episode(episodes[-1])
    (pattern,) = semantic.match_bug_pattern("KeyError", "'fare' is missing")
    working.init_task(f"Look again: {secret}")
    rule = StoredCodeRule.objects.create(
        namespace=mira, name="quotes", category="style", description=secret
    )

    first = deletion.erase(mira, "memory", episodes[0].id)
    assert first.leftovers == []
    (same_pattern,) = semantic.match_bug_pattern("KeyError", "'fare' is missing")
    assert (same_pattern.id, same_pattern.episodes) == (pattern.id, (str(episodes[1].id),))
    assert secret not in str(AgentState.objects.get(name="working:working").state)
    assert not StoredCodeRule.objects.filter(pk=rule.pk).exists()

    second = deletion.erase(mira, "memory", episodes[1].id)
    assert second.leftovers == []
    assert semantic.match_bug_pattern("KeyError", "'fare' is missing") == []


@pytest.mark.django_db(transaction=True)
def test_a_world_that_is_deleted_in_the_admin_takes_its_memories_along(
    mira: Namespace, admin_client: Client
) -> None:
    remember(mira, "Mira Voss keeps the ledgers.", "Tobin owes her forty silver.")
    (memory, _other) = mira.memories.all()
    StagedVector.objects.create(
        domain="memory", model="next", passage_id=memory.pk, rev=1, vector=[1.0]
    )
    assert CachedVector.objects.count() == 2
    page = reverse("admin:worlds_world_delete", args=[mira.world_id])
    assert admin_client.get(page).status_code == 200
    assert admin_client.post(page, {"post": "yes"}).status_code == 302
    assert not World.objects.exists()
    assert not Observation.objects.exists()
    assert not MemoryItem.objects.exists()
    assert not CachedVector.objects.exists()
    assert not StagedVector.objects.exists()
