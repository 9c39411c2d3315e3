"""The ledger: one commit for every caller, whatever the memory comes from."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from memories.coding_agent import SemanticMemoryManager, WorkingMemoryManager
from memories.coding_agent.stores import MemoryRecord, PostgresMemoryStore
from memories.curation import edits, inbox, rebuild
from memories.ledger.word_counts import recount_words
from memories.models import MemoryItem, Namespace
from memories.models.namespaces import Review
from memories.states import State
from retrieval.models import WordStatistics
from tests.memories.conftest import remember


@pytest.fixture
def reviewed_store(mira: Namespace) -> PostgresMemoryStore:
    Namespace.objects.filter(pk=mira.pk).update(review=Review.ALL)
    return PostgresMemoryStore(mira)


def close_task_with_an_error(store: PostgresMemoryStore) -> None:
    working = WorkingMemoryManager(store)
    working.init_task("Parse the toll ledger")
    working.record_step("run", success=False, error_type="KeyError", error_message="'fare'")
    working.record_step("edit", {"file_path": "tolls/parse.py"})
    episode = working.consolidate(success=True, solution="Read the fare with get().")
    SemanticMemoryManager(store).learn_from_episode(episode)


@pytest.mark.django_db
def test_what_an_agent_stores_waits_for_review(reviewed_store: PostgresMemoryStore) -> None:
    record = reviewed_store.add(MemoryRecord("The toll bell is cracked."))
    assert MemoryItem.objects.get(pk=record.id).state == State.PENDING
    assert reviewed_store.find() == reviewed_store.search("toll bell") == []
    inbox.approve(reviewed_store.namespace, record.id, by="gm")
    assert [row.id for row in reviewed_store.find()] == [record.id]


@pytest.mark.django_db
def test_the_writer_of_a_pending_memory_can_still_change_it(
    reviewed_store: PostgresMemoryStore,
) -> None:
    record = reviewed_store.add(MemoryRecord("The toll bell is cracked.", payload={"kind": "note"}))
    reviewed_store.update(record.id, payload={"kind": "note", "seen": 2})
    stored_record = reviewed_store.get(record.id)
    assert stored_record is not None
    assert stored_record.payload["seen"] == 2
    assert reviewed_store.remove(record.id)
    assert MemoryItem.objects.get(pk=record.id).state == State.ARCHIVED


@pytest.mark.django_db
def test_a_closed_task_and_what_it_taught_wait_for_review(
    reviewed_store: PostgresMemoryStore,
) -> None:
    close_task_with_an_error(reviewed_store)
    states = dict(reviewed_store.namespace.memories.values_list("payload__kind", "state"))
    assert states == {"episode": State.PENDING, "bug_pattern": State.PENDING}


@pytest.mark.django_db
def test_a_pattern_that_waits_for_review_is_not_learned_twice(
    reviewed_store: PostgresMemoryStore,
) -> None:
    for _ in range(2):
        close_task_with_an_error(reviewed_store)
    (pattern,) = reviewed_store.namespace.memories.filter(payload__kind="bug_pattern")
    assert pattern.payload["occurrences"] == 2
    assert SemanticMemoryManager(reviewed_store).match_bug_pattern("KeyError", "'fare'") == []
    inbox.approve(reviewed_store.namespace, pattern.pk, by="gm")
    (match,) = SemanticMemoryManager(reviewed_store).match_bug_pattern("KeyError", "'fare'")
    assert match.occurrences == 2


@pytest.mark.django_db(transaction=True)
def test_edits_and_a_rebuild_reach_the_word_statistics(mira: Namespace) -> None:
    ids = remember(mira, *(f"Berth {number} is let to nobody." for number in range(60))).ids
    recount_words(mira)

    def memories_with(word: str) -> int:
        rows = WordStatistics.objects.filter(scope=str(mira.pk), word=word)
        return sum(rows.values_list("rows", flat=True))

    for number, pk in enumerate(ids):
        edits.edit(mira, pk, f"A lantern hangs over berth {number}.", by="gm")
    assert memories_with("lantern") >= 48, "the statistics may lag by a fifth, not by all"
    before = Namespace.objects.get(pk=mira.pk)
    rebuild.rebuild_memories(mira, everything=True)
    after = Namespace.objects.get(pk=mira.pk)
    waiting = after.words_uncounted - before.words_uncounted
    assert waiting == 60 or after.words_counted > before.words_counted


# --- nobody else writes memory rows

LEDGER_ROWS = {"MemoryItem", "Observation", "Evidence", "Succession", "StateChange"}
INSERTS = {"create", "bulk_create", "get_or_create", "update_or_create", "acreate", "abulk_create"}
RELATED = {"memories", "observations", "evidence", "changes", "successors", "predecessors"}


def inserts_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each expression that makes or inserts a row of the ledger."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = ast.unparse(node.func)
        *owner, method = function.split(".")
        makes_row = method in LEDGER_ROWS and (not owner or owner[-1] == "models")
        inserts = method in INSERTS and bool(
            LEDGER_ROWS & set(owner) or (owner and owner[-1] in RELATED)
        )
        first = ast.unparse(node.args[0]) if node.args else ""
        copies = method == "copy_rows" and first.split(".")[-1] in LEDGER_ROWS
        if makes_row or inserts or copies:
            yield node.lineno, ast.unparse(node)[:80]


def test_only_the_ledger_inserts_memory_rows() -> None:
    root = Path(settings.BASE_DIR)
    apps = (
        "memories",
        "memory_site",
        "art",
        "npcs",
        "episodes",
        "knowledge",
        "worlds",
        "retrieval",
    )
    files = [
        file
        for app in apps
        for file in (root / app).rglob("*.py")
        if "migrations" not in file.parts and file.parent != root / "memories/ledger"
    ]
    assert len(files) > 200
    assert [
        f"{file.relative_to(root)}:{line}: {call}"
        for file in files
        for line, call in inserts_in(file.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.parametrize(
    "statement",
    [
        "MemoryItem(text=text)",
        "Evidence.objects.bulk_create(rows)",
        "models.Succession.objects.update_or_create(older=one)",
        "namespace.observations.create(text=text)",
        "copy_rows(StateChange, columns, rows)",
    ],
)
def test_a_row_inserted_elsewhere_is_noticed(statement: str) -> None:
    assert list(inserts_in(statement))
