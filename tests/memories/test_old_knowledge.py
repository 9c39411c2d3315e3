"""Knowledge is found however much came after it."""

from collections.abc import Iterator

import pytest

from memories.coding_agent import EpisodicMemoryManager, SemanticMemoryManager
from memories.coding_agent.episodes import TaskEpisode, TaskError
from memories.coding_agent.stores import InMemoryStore, PostgresMemoryStore, postgres
from memories.coding_agent.stores.protocol import MemoryStore
from memories.coding_agent.stores.records import MemoryRecord
from memories.models import MemoryItem, Namespace
from memories.states import ROWS_AT_ONCE, Bucket
from retrieval.models import uuid7

pytestmark = pytest.mark.django_db
LATER = 2_001
ERROR = ("TollLedgerError", "the fare 'crossing' is missing")
TASK = "Repair the toll ledger of the weir"


def an_episode() -> TaskEpisode:
    errors = [TaskError(error_type=f"Other{place}", message="no") for place in range(5)]
    errors.append(TaskError(error_type=ERROR[0], message=ERROR[1]))
    return TaskEpisode(task=TASK, project_id="toll", errors=errors)


def later_records() -> Iterator[MemoryRecord]:
    for place in range(LATER):
        yield TaskEpisode(task=f"Sweep pier {place}", project_id="pier").as_record()
        payload = {
            "kind": "bug_pattern",
            "error_type": f"PierError{place}",
            "error_message": "",
            "cause": "",
            "solution": "",
            "occurrences": 1,
            "episodes": [],
            "failed": [],
        }
        yield MemoryRecord(f"PierError{place}", Bucket.FACT, 0.5, payload)


def add_later(store: MemoryStore, namespace: Namespace) -> None:
    """Add many newer records at once: one by one takes a minute."""
    if isinstance(store, InMemoryStore):
        with store.transaction() as contents:
            contents.records.update({record.id: record for record in later_records()})
        return
    MemoryItem.objects.bulk_create(
        [
            MemoryItem(
                pk=uuid7(),
                namespace=namespace,
                text=record.text,
                bucket=record.bucket,
                payload=record.payload,
                content_hash="later",
                language="en",
            )
            for record in later_records()
        ],
        batch_size=ROWS_AT_ONCE,
    )


@pytest.fixture(params=["in memory", "PostgreSQL"])
def store(request: pytest.FixtureRequest, mira: Namespace) -> MemoryStore:
    store = InMemoryStore() if request.param == "in memory" else PostgresMemoryStore(mira)
    EpisodicMemoryManager(store).store(an_episode())
    semantic = SemanticMemoryManager(store)
    semantic.add_bug_pattern(*ERROR, solution="Read it with get().")
    semantic.add_code_pattern("Guard the fare", "simplify")
    add_later(store, mira)
    return store


def test_old_episodes_and_patterns_are_found(store: MemoryStore) -> None:
    episodes = EpisodicMemoryManager(store)
    assert episodes.find_by_error_pattern(*ERROR)[0].episode.task == TASK
    exact = episodes.find_by_error_pattern(ERROR[0].upper(), "crossing", use_fuzzy=False)
    assert [match.episode.task for match in exact] == [TASK]
    assert [one.task for one in episodes.find_by_project("toll")] == [TASK]
    assert len(episodes.find_by_project("pier", limit=LATER)) == LATER
    assert episodes.hybrid_search("toll ledger of the weir")[0].episode.task == TASK

    semantic = SemanticMemoryManager(store)
    (bug,) = semantic.match_bug_pattern(ERROR[0], "the fare 'bridge' is missing")[:1]
    assert bug.solution == "Read it with get()."
    assert semantic.add_bug_pattern(*ERROR).occurrences == 2
    assert semantic.add_code_pattern("GUARD THE FARE", "simplify").occurrences == 2


def test_of_many_records_the_index_finds_the_same(
    mira: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    semantic = SemanticMemoryManager(PostgresMemoryStore(mira))
    episodic = EpisodicMemoryManager(PostgresMemoryStore(mira))
    semantic.add_bug_pattern("KeyError", "'fare' is missing in row 7", solution="get()")
    semantic.add_bug_pattern("TimeoutError", "the ferry did not answer", solution="wait")
    episodic.store(
        TaskEpisode(
            task="Mend the ledger",
            errors=[TaskError(error_type=f"Error{n}", message=f"row {n}") for n in range(4)],
        )
    )
    monkeypatch.setattr(postgres, "ALL_COMPARED", 0)
    (bug,) = semantic.match_bug_pattern("KeyError", "'fare' is missing in row 9")
    assert bug.solution == "get()"
    # The last error of an episode is not in its text.
    (match,) = episodic.find_by_error_pattern("Error3", "row 3")
    assert match.score == 1
    assert semantic.match_bug_pattern("OSError", "disk full") == []
