"""The code of the designs' own pages runs with `memories` in their import line.

Each test is one of their blocks, typed again; what they leave out (a store, a client, the episode
at hand) is prepared before it.
"""

import ast
import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

import memories
from examples import own_clients
from memories import aio
from memories.models import Namespace
from retrieval.errors import Invalid
from tests.loopback import Loopback, answer_json
from tests.memories.fakes import Echo, Vectors
from worlds.models import World

pytestmark = pytest.mark.django_db


def test_every_name_is_there() -> None:
    for name in memories.MODULE_OF:
        assert getattr(memories, name) is not None
        assert getattr(aio, name) is not None
    with pytest.raises(AttributeError):
        _ = memories.Mammory  # type: ignore[attr-defined]


def test_the_quick_start_of_haema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from memories import Memory

    m = Memory(
        path=tmp_path / "haema_store",
        output_dimensionality=1536,
        embedding_client=Vectors(),
        llm_client=Echo(),
        merge_top_k=3,
        merge_distance_cutoff=0.25,
    )
    m.add(
        [
            "The user prefers short, practical answers.",
            "The user is building a memory on a vector store.",
        ]
    )
    print(m.get_core())
    print(m.get_latest(begin=1, count=5))
    print(m.search("what the user prefers", 3))
    assert "practical answers" in capsys.readouterr().out


def test_the_quick_start_with_its_clients_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memories import EmbeddingClient, LLMClient, Memory

    class MyEmbeddingClient(EmbeddingClient): ...

    class MyLLMClient(LLMClient): ...

    monkeypatch.chdir(tmp_path)
    for number, clients in enumerate([(..., ...), (MyEmbeddingClient(), MyLLMClient())]):
        m = Memory(
            path=f"./haema_store_{number}",
            output_dimensionality=1536,
            embedding_client=clients[0],
            llm_client=clients[1],
            merge_top_k=3,
            merge_distance_cutoff=0.25,
        )
        m.add(["The user prefers short, practical answers."])
        assert m.search("what the user prefers", n=3) == m.get_latest(begin=1, count=5)


def test_a_client_that_lacks_a_method_says_which(tmp_path: Path) -> None:
    from memories import EmbeddingClient, Memory

    class QueriesOnly(EmbeddingClient):
        embed_query = Vectors().embed_query

    with pytest.raises(NotImplementedError, match="QueriesOnly has no embed_document"):
        Memory(tmp_path, 8, QueriesOnly()).add(["Mira rows."])


def test_the_answers_of_haema_are_models() -> None:
    from memories import MemoryReconstructionResponse

    answer = MemoryReconstructionResponse(memories=["Mira rows."], coverage="complete")
    assert answer.coverage == "complete"
    with pytest.raises(ValueError, match="coverage"):
        MemoryReconstructionResponse(memories=[], coverage="some")  # type: ignore[arg-type]


def test_the_three_axes() -> None:
    from memories import WeightedFusion, score
    from memories.buckets.scoring import Axes

    w_sim, w_rec, w_imp = 0.5, 0.3, 0.2
    similarity, recency, importance = 0.9, 0.5, 0.25
    by_hand = w_sim * similarity + w_rec * recency + w_imp * importance
    assert score(Axes(similarity, recency, importance)) == pytest.approx(by_hand)
    weights = WeightedFusion().weights
    assert (weights.similarity, weights.recency, weights.importance) == (w_sim, w_rec, w_imp)


@pytest.fixture
def working() -> Any:
    from memories import WorkingMemoryManager

    working = WorkingMemoryManager()
    working.init_task("Mend the ledger", ["reproduce", "mend"])
    working.record_step("run", error_type="KeyError", error_message="'fare'")
    working.add_hypothesis("A row without a fare.")
    working.record_decision("Read it with get()", "Rows may be short.")
    working.track_file("ferry/ledger.py")
    working.track_symbol("read_fare")
    return working


def test_working_memory_as_it_is_listed(working: Any) -> None:
    edit = {"file_path": "ferry/ledger.py", "old_string": "a\nb", "new_string": "a\nb\nc"}
    working.record_step("edit", edit)
    names = ("_get_project_id", "_extract_plan_summary", "_extract_pivots")
    for name in (*names, "_calculate_line_changes"):
        assert getattr(working, name)() is not None
    assert working._generate_patch_description("ferry/ledger.py", working.task.edits)
    assert isinstance(working.consolidate(success=True), memories.Episode)


def test_pivots_and_lines_by_the_code_of_the_design(working: Any) -> None:
    from memories import Pivot

    self, pivots, lines_added, lines_removed = working, [], 0, 0
    error_steps, step_num = [1, 8], 2
    for i in range(len(error_steps) - 1):
        if error_steps[i + 1] - error_steps[i] > 5:
            pivots.append(
                Pivot(
                    step_number=step_num,
                    description="Strategy change after errors",
                    reason="Recovered from error sequence",
                )
            )
    for decision in self.decisions:
        pivots.append(
            Pivot(
                step_number=decision.context_snapshot["current_step"],
                description=f"Decision: {decision.description[:50]}",
                reason=decision.rationale[:100],
            )
        )
    for step in self.steps_completed:
        tool_input = step.tool_input
        if step.tool_name in ("edit", "write", "search_replace"):
            old_lines = tool_input.get("old_string", "").count("\n") + 1
            new_lines = tool_input.get("new_string", "").count("\n") + 1
            if new_lines > old_lines:
                lines_added += new_lines - old_lines
            else:
                lines_removed += old_lines - new_lines
    assert [pivot.description for pivot in pivots][1] == "Decision: Read it with get()"
    assert (lines_added, lines_removed) == (0, 0)


def episode_of(working: Any) -> Any:
    return working.consolidate(success=False, solution="Read the fare with get().")


def test_episodic_memory_as_it_is_listed(working: Any) -> None:
    from memories import EpisodicMemoryManager

    memory = EpisodicMemoryManager(cache_size=100, cache_ttl_seconds=300)
    episode = episode_of(working)
    query = query_text = "ledger fare"
    error_type, error_message, patterns = "KeyError", "'fare'", [("KeyError", "'fare'")]
    memory.store(episode)
    assert memory.find_similar(query)[0].episode == episode
    assert memory.find_by_error_pattern(error_type, error_message, use_fuzzy=True)
    assert memory.find_by_project(episode.project_id) == [episode]
    memory.find_by_semantic_similarity(query_text, top_k=10)
    assert len(memory.find_similar_batch([query], max_concurrency=5)) == 1
    assert memory.match_error_patterns_batch(patterns)[0]
    by_words = memory.hybrid_search(query_text, weights={"semantic": 0, "fuzzy": 0, "keyword": 1})
    assert by_words[0].score == by_words[0].parts["keyword"]
    assert memory.hybrid_search(query_text, weights={...}) == memory.hybrid_search(query_text)
    assert memory.invalidate_cache(pattern=None) > 0
    assert memory.get_cache_stats()["max_size"] == 100
    assert memory.similarity_cache is not memory.embedding_cache
    with pytest.raises(Invalid):
        memory.hybrid_search(query_text, weights={"meaning": 1})
    with pytest.raises(Invalid):
        memory.hybrid_search(query_text, weights={"semantic", "fuzzy"})


def test_a_hybrid_search_is_awaited(working: Any) -> None:
    from memories.aio import EpisodicMemoryManager

    async def search() -> Any:
        memory = EpisodicMemoryManager(cache_size=100, cache_ttl_seconds=300)
        await memory.store(episode_of(working))
        results = await memory.hybrid_search(
            query_text="ledger fare",
            error_type="KeyError",
            semantic_weight=0.4,
            fuzzy_weight=0.3,
            keyword_weight=0.3,
        )
        return results, memory.similarity_cache

    results, cache = asyncio.run(search())
    assert results[0].episode.task == "Mend the ledger"
    assert cache


def test_semantic_memory_as_it_is_listed(working: Any) -> None:
    from memories import InMemoryStore, SemanticMemoryManager

    memory, db_store, episode = SemanticMemoryManager(), InMemoryStore(), episode_of(working)
    memory.add_bug_pattern("KeyError", "'fare'", cause="short rows", solution="get()")
    assert memory.match_bug_pattern("KeyError", "'fare'")
    memory.add_code_pattern("guard", "simplify")
    memory.learn_from_episode(episode)
    assert memory.get_relevant_knowledge("fare").bug_patterns
    for name in ("_learn_code_pattern", "_analyze_patches_for_pattern", "_detect_pattern_category"):
        getattr(memory, name)(episode)
    memory._infer_coding_style_preferences(episode)
    memory._infer_interaction_preferences(episode)
    before, after, success, project_id = "x = d['a']", "x = d.get('a', 0)", True, "ferry"
    rules = memory.detect_code_rules_from_patch(before, after)
    rule = memory.reinforce_rule(rules[0], success)
    assert memory.cleanup_weak_rules(rules) is not None
    assert len(memory.merge_duplicate_rules([*rules, *rules])) == len(rules)
    stored = memory.save_rule_to_db(rule, db_store, project_id)
    rule_id = getattr(stored, "id", stored)
    assert memory.load_rule_from_db(rule_id, db_store) is not None
    assert memory.load_rules_from_db(db_store, project_id=project_id)
    assert memory.reinforce_rule_in_db(rule_id, success, db_store) is not None
    memory.sync_rules_to_db(rules, db_store)
    memory.cleanup_weak_rules_in_db(db_store)


def test_preferences_by_the_code_of_the_design(working: Any) -> None:
    from memories import Episode, SemanticMemoryManager

    def _infer_coding_style_preferences(self: Any, episode: Episode) -> None:
        for patch in episode.patches:
            if "snake_case" in patch.description or "_" in patch.file_path:
                self.user_preferences.frequently_accepted.append("naming:snake_case")

    def _infer_interaction_preferences(self: Any, episode: Episode) -> None:
        tool_names = [tool.tool_name for tool in episode.tools_used]
        search_tools = [t for t in tool_names if "search" in t.lower()]
        if search_tools:
            most_used = max(set(search_tools), key=search_tools.count)
            self.user_preferences.frequently_accepted.append(f"tool:{most_used}")
        if episode.steps_count > 10 or len(episode.files_involved) > 5:
            self.user_preferences.frequently_accepted.append("organization:multi_file")

    working.record_step("grep_search")
    manager, episode = SemanticMemoryManager(), episode_of(working)
    _infer_coding_style_preferences(manager, episode)
    _infer_interaction_preferences(manager, episode)
    assert manager.user_preferences.frequently_accepted == ["tool:grep_search"]
    episode = working_episode_of_an_edit()
    _infer_coding_style_preferences(manager, episode)
    assert manager.user_preferences.counts() == {"tool:grep_search": 1, "naming:snake_case": 1}


def working_episode_of_an_edit() -> Any:
    from memories import WorkingMemoryManager

    working = WorkingMemoryManager()
    working.init_task("Rename the bell")
    working.record_step("edit", {"file_path": "toll_bell.py", "new_string": "x"})
    return working.consolidate()


def test_the_confidence_of_a_rule() -> None:
    from memories import SemanticMemoryManager

    (rule, *_others) = SemanticMemoryManager().detect_code_rules_from_patch(
        "x = d['a']", "x = d.get('a', 0)"
    )
    alpha, outcome, confidence = 0.2, 1.0, rule.confidence
    confidence = alpha * outcome + (1 - alpha) * confidence
    reinforced = SemanticMemoryManager().reinforce_rule(rule, success=True)
    assert reinforced.confidence == pytest.approx(confidence)
    assert (rule.min_confidence_threshold, rule.promotion_threshold) == (0.3, 0.8)


def test_the_functions_of_memgpt(mira: Namespace) -> None:
    from memories import (
        archival_memory_insert,
        archival_memory_search,
        conversation_search,
        core_memory_append,
        core_memory_replace,
        use_memory,
    )

    with pytest.raises(Invalid):
        core_memory_append("USER", "Prefers short answers.")
    use_memory(mira)
    section, content, old, new = "USER", "Prefers short answers.", "short", "very short"
    query = "What does the user prefer?"
    assert "Prefers short answers." in core_memory_append(section, content)
    assert "very short answers" in core_memory_replace(section, old, new)
    assert archival_memory_insert("The user prefers eel soup.")
    assert archival_memory_search(query) == ["The user prefers eel soup."]
    for price in ("nine", "ten"):
        archival_memory_insert(f"The toll costs {price} silver.")
    assert archival_memory_search("What is the toll?") == ["The toll costs ten silver."]
    assert conversation_search(query) == []
    signatures = {
        core_memory_append: ["section", "content"],
        core_memory_replace: ["section", "old", "new"],
        archival_memory_insert: ["content"],
    }
    for function, names in signatures.items():
        assert list(inspect.signature(function).parameters) == names


@pytest.mark.django_db(transaction=True)
def test_the_functions_of_memgpt_are_awaited(mira: Namespace) -> None:
    from memories.aio import archival_memory_insert, archival_memory_search, use_memory

    async def insert_and_search() -> Any:
        use_memory(mira)
        await archival_memory_insert("The user prefers eel soup.")
        return await archival_memory_search("What does the user prefer?")

    assert asyncio.run(insert_and_search()) == ["The user prefers eel soup."]


def test_memory_opens_the_namespace_of_a_game_world(world: World, mira: Namespace) -> None:
    from memories import Memory

    memory = Memory(world=world.slug, namespace=mira.name)
    memory.add(["Mira Voss owns four ferries."])
    assert memory.search("ferries", 1) == ["Mira Voss owns four ferries."]
    assert mira.memories.count() == 1
    assert "SOUL" in memory.get_core()
    with pytest.raises(ValueError, match="either"):
        Memory("folder", namespace="both")
    with pytest.raises(ValueError, match="file"):
        memory.export_core()


def test_the_package_imports_nothing_by_itself() -> None:
    """Django imports it before its models are there."""
    tree = ast.parse(Path(memories.__file__ or "").read_text(encoding="utf-8"))
    imported = [
        node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module
    ]
    assert not [name for name in imported if name.startswith(("memories", "django"))]


def test_the_example_of_own_clients_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    own_clients.main(str(tmp_path / "store"))
    assert capsys.readouterr().out == "The ferry leaves at dawn.\n"


def test_the_example_s_model_is_asked_for_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, openai_server: Loopback
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", openai_server.url)
    memory = own_clients.open_memory(str(tmp_path / "store"))
    openai_server.chat.then(
        answer_json({"memories": ["The ferry leaves at dawn."], "coverage": "complete"}),
        answer_json({"should_update": False, "core_markdown": None}),
    )
    memory.add(["The ferry leaves at dawn."])
    assert memory.get_latest(1, 5) == ["The ferry leaves at dawn."]
    assert len(openai_server.chat.requests) == 2
