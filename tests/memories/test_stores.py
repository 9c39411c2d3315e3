"""One suite for all stores: in memory, JSON file, PostgreSQL, Qdrant in its local mode."""

import json
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection, transaction
from qdrant_client import QdrantClient

from memories.code_rules.rule import CodeRule, RuleCategory
from memories.coding_agent.stores import (
    EmbeddingMemoryStore,
    FileStore,
    InMemoryStore,
    MemoryRecord,
    MemoryStore,
    PostgresMemoryStore,
)
from memories.coding_agent.stores.protocol import StoreDamaged, StoreDown
from memories.models import CodeRuleOutcome, MemoryItem, Namespace, StoredCodeRule
from memories.states import Bucket
from retrieval.errors import Conflict, Invalid, NotFound

pytestmark = pytest.mark.django_db

STORES: dict[str, Callable[[Path, Namespace], MemoryStore]] = {
    "memory": lambda folder, namespace: InMemoryStore(),
    "file": lambda folder, namespace: FileStore(folder / "memories.json"),
    "postgres": lambda folder, namespace: PostgresMemoryStore(namespace),
    "qdrant": lambda folder, namespace: EmbeddingMemoryStore(QdrantClient(":memory:")),
}
FARE = MemoryRecord(
    "The fare over the river is one penny.", Bucket.FACT, 0.4, {"kind": "note", "n": 1}
)
BELL = MemoryRecord(
    "Tobin rang the cracked bell at noon.", Bucket.EPISODIC, 0.7, {"kind": "episode"}
)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, mira: Namespace) -> MemoryStore:
    return STORES[request.param](tmp_path, mira)


def rule(name: str = "None by identity", **more: object) -> CodeRule:
    return CodeRule(
        name=name, category=RuleCategory.NULL_SAFETY, before_pattern="x == None", **more
    )  # type: ignore[arg-type]


def test_what_was_added_is_there(store: MemoryStore) -> None:
    store.add(FARE)
    found = store.get(FARE.id)
    assert found is not None
    assert (found.text, found.bucket, found.importance, dict(found.payload)) == (
        FARE.text,
        FARE.bucket,
        FARE.importance,
        dict(FARE.payload),
    )
    assert store.get(uuid4()) is None


def test_an_id_is_taken_once(store: MemoryStore) -> None:
    store.add(FARE)
    with pytest.raises(Conflict):
        store.add(FARE)
    assert len(store.find()) == 1


def test_the_payload_can_change_and_the_text_stays(store: MemoryStore) -> None:
    store.add(FARE)
    store.update(FARE.id, payload={"kind": "note", "n": 2}, importance=0.9)
    found = store.get(FARE.id)
    assert found is not None
    assert (found.text, found.importance, found.payload["n"]) == (FARE.text, 0.9, 2)
    with pytest.raises(NotFound):
        store.update(uuid4(), payload={})


@pytest.mark.parametrize("wrong", [-1, 2, float("nan")])
def test_an_importance_outside_its_range_changes_nothing(store: MemoryStore, wrong: float) -> None:
    store.add(FARE)
    with pytest.raises(Invalid):
        store.update(FARE.id, importance=wrong)
    assert store.get(FARE.id).importance == FARE.importance  # type: ignore[union-attr]


def test_what_was_removed_is_neither_found_nor_listed(store: MemoryStore) -> None:
    store.add(FARE)
    assert store.remove(FARE.id)
    assert not store.remove(FARE.id)
    assert store.get(FARE.id) is None
    assert store.search("fare over the river") == []
    assert store.find() == []


def test_it_lists_by_bucket_and_kind_latest_first(store: MemoryStore) -> None:
    store.add(FARE)
    store.add(BELL)
    assert [record.id for record in store.find()] == [BELL.id, FARE.id]
    assert [record.id for record in store.find(bucket=Bucket.FACT)] == [FARE.id]
    assert [record.id for record in store.find(kind="episode")] == [BELL.id]
    assert len(store.find(limit=1)) == 1


def test_it_finds_by_meaning_within_buckets_and_kinds(store: MemoryStore) -> None:
    store.add(FARE)
    store.add(BELL)
    first, second = store.search("who rang the bell at noon")
    assert first.record.id == BELL.id
    assert 0 <= second.similarity < first.similarity <= 1
    assert [hit.record.id for hit in store.search("the bell", buckets=[Bucket.FACT])] == [FARE.id]
    assert [hit.record.id for hit in store.search("the fare", kind="episode")] == [BELL.id]


def test_every_write_gives_another_revision(store: MemoryStore) -> None:
    seen = [store.revision()]
    for write in (
        lambda: store.add(FARE),
        lambda: store.update(FARE.id, importance=0.1),
        lambda: store.remove(FARE.id),
    ):
        write()
        seen.append(store.revision())
    assert len(set(seen)) == 4


def test_unfinished_work_is_kept_and_dropped(store: MemoryStore) -> None:
    assert store.load_state("task") is None
    store.save_state("task", {"steps": [1]})
    store.save_state("task", {"steps": [1, 2]})
    assert store.load_state("task") == {"steps": [1, 2]}
    store.drop_state("task")
    assert store.load_state("task") is None


def test_rules_are_found_by_project_category_language_and_confidence(store: MemoryStore) -> None:
    sure = store.save_code_rule(rule(confidence=0.9), project_id="ferry")
    weak = store.save_code_rule(rule("Other", confidence=0.2, languages=("rust",)))
    assert store.get_code_rule(sure.id) == sure
    assert [found.id for found in store.find_code_rules()] == [sure.id, weak.id]
    assert [found.id for found in store.find_code_rules(project_id="ferry")] == [sure.id]
    assert [found.id for found in store.find_code_rules(language="rust")] == [weak.id]
    assert [found.id for found in store.find_code_rules(min_confidence=0.5)] == [sure.id]
    assert store.find_code_rules(category="security") == []
    assert store.get_code_rule(uuid4()) is None


def test_saving_a_rule_again_replaces_it(store: MemoryStore) -> None:
    kept = store.save_code_rule(rule())
    store.save_code_rule(CodeRule(**{**vars(kept), "description": "by is"}))
    assert [found.description for found in store.find_code_rules()] == ["by is"]


def test_confidence_moves_by_a_fifth_towards_the_outcome(store: MemoryStore) -> None:
    kept = store.save_code_rule(rule(confidence=0.5))
    assert store.update_code_rule_confidence(kept.id, True).confidence == pytest.approx(0.6)
    after = store.update_code_rule_confidence(kept.id, False)
    assert after.confidence == pytest.approx(0.48)
    assert (after.observation_count, after.success_count, after.failure_count) == (3, 1, 1)
    assert store.get_code_rule(kept.id).confidence == pytest.approx(0.48)  # type: ignore[union-attr]
    with pytest.raises(NotFound):
        store.update_code_rule_confidence(uuid4(), True)


def test_weak_rules_go_when_seen_often_enough(store: MemoryStore) -> None:
    store.save_code_rule(rule("Weak", confidence=0.1, observation_count=5))
    store.save_code_rule(rule("New", confidence=0.1, observation_count=1))
    store.save_code_rule(rule("Sure", confidence=0.9, observation_count=5))
    assert store.cleanup_weak_rules(project_id="elsewhere") == 0
    assert store.cleanup_weak_rules(min_observations=3) == 1
    assert {found.name for found in store.find_code_rules()} == {"New", "Sure"}


def test_rules_with_names_alike_are_candidates_for_a_merge(store: MemoryStore) -> None:
    near = store.save_code_rule(rule("None by identity"))
    store.save_code_rule(rule("Close the file"))
    assert [found.id for found in store.find_similar_rules("none by Identity", "null_safety")] == [
        near.id
    ]
    assert store.find_similar_rules("none by identity", "security") == []


@pytest.mark.django_db
def test_rules_with_names_alike_are_found_by_an_index() -> None:
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute("SET LOCAL enable_seqscan = off")
        rows = StoredCodeRule.objects.filter(name__trigram_similar="None by identity")
        assert "idx_code_rules_name_trigrams" in rows.explain()


def test_a_file_cut_in_half_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memories.json"
    FileStore(path).add(FARE)
    half = path.read_text()[: path.stat().st_size // 2]
    path.write_text(half)
    damaged = FileStore(path)
    for attempt in (damaged.find, lambda: damaged.add(BELL)):
        with pytest.raises(StoreDamaged, match=r"memories\.json"):
            attempt()
    assert path.read_text() == half


def test_a_file_is_shared_by_two_processes(tmp_path: Path) -> None:
    one, other = FileStore(tmp_path / "m.json"), FileStore(tmp_path / "m.json")
    one.add(FARE)
    other.add(BELL)
    assert {record.id for record in one.find()} == {FARE.id, BELL.id}


def test_what_cannot_be_written_as_json_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "m.json")
    store.add(FARE)
    with pytest.raises(TypeError):
        store.save_state("task", {"strange": object()})
    assert store.load_state("task") is None
    assert json.loads((tmp_path / "m.json").read_text())["states"] == {}


def test_a_qdrant_that_is_down_is_a_clear_error() -> None:
    with pytest.raises(StoreDown, match="Qdrant"):
        EmbeddingMemoryStore(
            QdrantClient(url="http://127.0.0.1:1", timeout=1, check_compatibility=False)
        )


def test_postgres_keeps_what_was_removed_and_every_outcome(mira: Namespace) -> None:
    store = PostgresMemoryStore(mira)
    store.add(FARE)
    store.remove(FARE.id)
    assert MemoryItem.objects.get(pk=FARE.id).state == "archived"
    kept = store.save_code_rule(rule())
    for success in (True, True, False):
        store.update_code_rule_confidence(kept.id, success)
    over_time = list(
        CodeRuleOutcome.objects.filter(rule=kept.id)
        .order_by("pk")
        .values_list("confidence", flat=True)
    )
    assert over_time == pytest.approx([0.6, 0.68, 0.544])


def test_postgres_stores_do_not_see_one_another(mira: Namespace, tobin: Namespace) -> None:
    one, other = PostgresMemoryStore(mira), PostgresMemoryStore(tobin)
    one.add(FARE)
    kept = one.save_code_rule(rule())
    assert other.find() == other.search("the fare") == other.find_code_rules() == []
    with pytest.raises(Conflict):
        other.save_code_rule(kept)
