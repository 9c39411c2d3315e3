"""An agent's own work: working memory, episodes, patterns, rules. On a store in memory where no
database is needed.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from memories.code_rules import (
    CodeRule,
    cleanup_weak_rules,
    detect_code_rules_from_patch,
    merge_duplicate_rules,
    reinforce_rule,
)
from memories.code_rules.match import PatternTooSlow, matches
from memories.code_rules.rule import RuleCategory
from memories.coding_agent import (
    EpisodicMemoryManager,
    Patch,
    SemanticMemoryManager,
    TaskEpisode,
    WorkingMemoryManager,
)
from memories.coding_agent.episodes import TaskError, ToolUse
from memories.coding_agent.episodic import ErrorPattern
from memories.coding_agent.patterns import PatternCategory, category_of
from memories.coding_agent.stores import FileStore, InMemoryStore, MemoryStore, PostgresMemoryStore
from memories.models import CodeRuleOutcome, Namespace
from retrieval.errors import Conflict, Invalid

pytestmark = pytest.mark.django_db


@pytest.fixture
def store() -> MemoryStore:
    return InMemoryStore()


@pytest.fixture
def working(store: MemoryStore) -> WorkingMemoryManager:
    return WorkingMemoryManager(store)


# --- Working memory ---


def test_a_crash_loses_no_step(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    first = WorkingMemoryManager(FileStore(path))
    first.init_task("Find the leak", ["measure", "fix"])
    first.record_step("read", {"file_path": "ferry/cache.py"})
    first.add_hypothesis("The cache never evicts.", 0.7)
    again = WorkingMemoryManager(FileStore(path))
    task = again.resume()
    assert task is not None
    assert [step.tool_name for step in task.steps_completed] == ["read"]
    assert again.record_step("run").number == 2
    assert again.consolidate().hypotheses == ["The cache never evicts."]
    assert again.resume() is None


def test_a_task_under_way_is_not_overwritten_by_accident(working: WorkingMemoryManager) -> None:
    working.init_task("First")
    with pytest.raises(Conflict, match=r"\(task_note\).*\(task_close\)"):
        working.init_task("Second")
    assert working.init_task("Second", replace=True).description == "Second"


def test_without_a_task_nothing_is_recorded(working: WorkingMemoryManager) -> None:
    with pytest.raises(Conflict, match="task_begin"):
        working.record_step("read")


@pytest.mark.parametrize(("gap", "pivots"), [(5, 0), (6, 1)])
def test_a_recovery_is_a_pivot_when_errors_lie_more_than_five_steps_apart(
    working: WorkingMemoryManager, gap: int, pivots: int
) -> None:
    working.init_task("Fix it")
    working.record_step("run", error_type="KeyError")
    for _ in range(gap - 1):
        working.record_step("edit")
    working.record_step("run", error_type="KeyError")
    found = working.consolidate().pivots
    assert len(found) == pivots
    assert [pivot.description for pivot in found] == ["Strategy change after errors"] * pivots
    assert [pivot.step_number for pivot in found] == [2] * pivots


def test_each_decision_is_a_pivot_with_texts_cut_to_length(working: WorkingMemoryManager) -> None:
    working.init_task("Fix it")
    working.record_step("read")
    working.record_decision("d" * 80, "r" * 200)
    (pivot,) = working.consolidate().pivots
    assert (pivot.step_number, pivot.description, pivot.reason) == (
        1,
        "Decision: " + "d" * 50,
        "r" * 100,
    )


def test_line_changes_are_counted_from_the_edits(working: WorkingMemoryManager) -> None:
    working.init_task("Fix it")
    working.record_step(
        "edit", {"file_path": "ferry/a.py", "old_string": "a", "new_string": "a\nb\nc"}
    )
    working.record_step(
        "search_replace", {"file_path": "ferry/b.py", "old_string": "a\nb", "new_string": "a"}
    )
    working.record_step("read", {"old_string": "a", "new_string": "a\nb"})
    working.record_step("write", {"old_string": "", "new_string": "x\ny"}, success=False)
    episode = working.consolidate()
    assert (episode.lines_added, episode.lines_removed) == (2, 1)
    assert [
        (patch.file_path, patch.lines_added, patch.lines_removed) for patch in episode.patches
    ] == [("ferry/a.py", 2, 0), ("ferry/b.py", 0, 1)]


@pytest.mark.parametrize(
    ("files", "project"),
    [
        (["ferry/a.py", "ferry/b.py", "mill/c.py"], "ferry"),
        (["/home/src/mill/a.py"], "mill"),
        (["a.py"], "global"),
    ],
)
def test_the_project_is_where_most_files_are(
    working: WorkingMemoryManager, files: list[str], project: str
) -> None:
    working.init_task("Fix it")
    for path in files:
        working.track_file(path)
    working.track_symbol("Ferry.cross")
    episode = working.consolidate()
    assert episode.project_id == project
    assert (episode.files_involved, episode.symbols) == (files, ["Ferry.cross"])


def test_consolidating_again_after_a_crash_stores_one_episode(store: MemoryStore) -> None:
    working = WorkingMemoryManager(store)
    working.init_task("Fix it")
    left = store.load_state("working:working")
    first = working.consolidate(outcome="done")
    store.save_state(
        "working:working", left or {}
    )  # as if the process had died before it could clear its desk
    again = WorkingMemoryManager(store).consolidate(outcome="another word")
    assert (again.id, again.outcome) == (first.id, "done")
    assert len(store.find(kind="episode")) == 1


# --- Episodes ---


def episode(task: str, error: str = "", message: str = "", **more: object) -> TaskEpisode:
    errors = [TaskError(error_type=error, message=message)] if error else []
    return TaskEpisode(task=task, errors=errors, **more)  # type: ignore[arg-type]


@pytest.fixture
def manager(store: MemoryStore) -> EpisodicMemoryManager:
    manager = EpisodicMemoryManager(store)
    manager.store(
        episode(
            "Database timeout in the ferry ledger",
            "ConnectionError",
            "timed out after 30 s",
            project_id="ferry",
        )
    )
    manager.store(
        episode("Broken map tiles", "KeyError", "'tile' missing in map 7", project_id="atlas")
    )
    manager.store(episode("Write the toll documentation", project_id="ferry"))
    return manager


def test_an_error_is_found_although_its_message_differs(manager: EpisodicMemoryManager) -> None:
    (found,) = manager.find_by_error_pattern("KeyError", "'tile' missing in map 12")
    assert found.episode.task == "Broken map tiles"
    assert (
        manager.find_by_error_pattern("KeyError", "'tile' missing in map 12", use_fuzzy=False) == []
    )
    assert len(manager.find_by_error_pattern("KeyError", "'tile' missing", use_fuzzy=False)) == 1
    assert manager.find_by_error_pattern("ZeroDivisionError", "division by zero") == []


def test_a_projects_episodes_are_listed_latest_first(manager: EpisodicMemoryManager) -> None:
    tasks = [found.task for found in manager.find_by_project("ferry")]
    assert tasks == ["Write the toll documentation", "Database timeout in the ferry ledger"]


def test_hybrid_search_weighs_its_three_parts(manager: EpisodicMemoryManager) -> None:
    first, *_ = manager.hybrid_search("database timeout", error_type="ConnectionError")
    assert first.episode.task.startswith("Database timeout")
    expected = (
        0.4 * first.parts["semantic"] + 0.3 * first.parts["fuzzy"] + 0.3 * first.parts["keyword"]
    )
    assert first.score == pytest.approx(expected)
    only = manager.hybrid_search(
        "database timeout", semantic_weight=0, fuzzy_weight=0, keyword_weight=1
    )
    assert [match.score for match in only] == [1.0]
    with pytest.raises(Invalid, match="weights"):
        manager.hybrid_search("x", semantic_weight=-1)


def test_batches_answer_in_the_order_of_the_questions(manager: EpisodicMemoryManager) -> None:
    found = manager.find_similar_batch(
        ["map tiles", "database timeout"], max_concurrency=2, top_k=1
    )
    assert [matches[0].episode.task[:6] for matches in found] == ["Broken", "Databa"]
    found = manager.match_error_patterns_batch(
        [ErrorPattern("KeyError", "'tile' missing"), ("Nothing", "at all")]
    )
    assert [len(matches) for matches in found] == [1, 0]


def test_the_cache_answers_until_somebody_writes(
    store: MemoryStore, manager: EpisodicMemoryManager
) -> None:
    manager.find_by_semantic_similarity("toll")
    manager.find_by_semantic_similarity("toll")
    assert (manager.get_cache_stats()["hits"], manager.get_cache_stats()["misses"]) == (1, 1)
    EpisodicMemoryManager(store).store(
        episode("The toll bell")
    )  # another manager, as another process would
    assert "The toll bell" in [
        match.episode.task for match in manager.find_by_semantic_similarity("toll")
    ]
    assert manager.get_cache_stats()["misses"] == 2
    manager.find_similar("toll")
    assert manager.invalidate_cache("hybrid:") == 1
    assert manager.get_cache_stats()["size"] == 1


def test_a_cache_holds_so_many_and_no_longer_than_it_should(store: MemoryStore) -> None:
    manager = EpisodicMemoryManager(store, cache_size=2, cache_ttl_seconds=0)
    for word in "abc":
        manager.find_similar(word)
    manager.find_similar("a")
    assert manager.get_cache_stats()["hits"] == 0
    assert EpisodicMemoryManager(store).get_cache_stats()["max_size"] == 100
    assert EpisodicMemoryManager(store).get_cache_stats()["ttl_seconds"] == 300


# --- What is learned ---


@pytest.mark.parametrize(
    ("words", "added", "removed", "category"),
    [
        ("Extract the parser", 0, 0, "extract_method"),
        ("refactor out parsing", 0, 0, "extract_method"),
        ("", 21, 10, "extract_method"),
        ("Rename the field", 0, 0, "rename"),
        ("", 10, 10, "rename"),
        ("Simplify it", 0, 0, "simplify"),
        ("", 3, 10, "simplify"),
        ("add type hints", 0, 0, "type_hints"),
        ("a magic number", 0, 0, "extract_constant"),
        ("extract a constant", 0, 0, "extract_constant"),
        ("Move it", 0, 0, "restructure"),
        ("reorganize files", 0, 0, "restructure"),
        ("remove it", 0, 0, None),
        ("", 0, 0, None),
    ],
)
def test_a_change_is_of_one_kind(
    words: str, added: int, removed: int, category: str | None
) -> None:
    assert category_of(words, lines_added=added, lines_removed=removed) == (
        PatternCategory(category) if category else None
    )


def test_a_bug_seen_again_is_counted_and_not_kept_twice(store: MemoryStore) -> None:
    semantic = SemanticMemoryManager(store)
    semantic.add_bug_pattern("KeyError", "'user' in middleware", solution="refresh the session")
    again = semantic.add_bug_pattern("KeyError", "'user' in middleware")
    assert (again.occurrences, again.solution) == (2, "refresh the session")
    assert len(store.find(kind="bug_pattern")) == 1
    assert semantic.match_bug_pattern("KeyError", "'user' in the middleware layer")[0].solution
    assert semantic.match_bug_pattern("OSError", "disk full") == []


def test_an_episode_teaches_once(store: MemoryStore) -> None:
    semantic = SemanticMemoryManager(store)
    patch = Patch(
        file_path="ferry/my_map.py",
        description="docstring; type hint",
        lines_added=5,
        before="if x == None:\n    y",
        after="if x is None:\n    y",
    )
    done = episode(
        "Rename the tiles",
        "KeyError",
        "'tile'",
        patches=[patch],
        steps_count=11,
        tools_used=[ToolUse(tool_name="code_search")] * 3,
        solution="add the tile",
        files_involved=[f"{n}.py" for n in range(6)],
    )
    learned = semantic.learn_from_episode(done)
    assert [bug.solution for bug in learned.bug_patterns] == ["add the tile"]
    assert learned.code_pattern is not None
    assert learned.code_pattern.category == PatternCategory.TYPE_HINTS
    assert "None by identity" in [rule.name for rule in learned.code_rules]
    assert learned.preferences == [
        "naming:snake_case",
        "comment:docstring",
        "style:type_hints",
        "tool:code_search",
        "interaction:incremental",
        "organization:multi_file",
    ]
    assert semantic.learn_from_episode(done) == type(learned)()
    assert semantic.user_preferences.frequently_accepted == list(learned.preferences)


def test_many_observed_preferences_stay_counted(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.coding_agent.preferences.MAX_OBSERVATIONS", 3)
    for observation in ("old", "old", "new", "newer", "newest", "old"):
        SemanticMemoryManager(store).save_preferences([observation])
    observed = SemanticMemoryManager(store).user_preferences
    assert observed.frequently_accepted == ["newer", "newest", "old"]
    assert observed.counts() == {"old": 3, "new": 1, "newer": 1, "newest": 1}


def test_a_failed_episode_teaches_no_solution(store: MemoryStore) -> None:
    learned = SemanticMemoryManager(store).learn_from_episode(
        episode("Try", "KeyError", "'tile'", success=False)
    )
    assert [bug.solution for bug in learned.bug_patterns] == [""]
    assert learned.code_pattern is None


# --- Code rules ---


def test_rules_are_seen_in_a_change() -> None:
    before = (
        "def f(x=[]):\n    try:\n        return eval(x)\n    except:\n        return x == None\n"
    )
    after = (
        "def f(x=None):\n    try:\n        return literal_eval(x)\n"
        "    except ValueError:\n        return x is None\n"
    )
    names = {rule.name: rule.category for rule in detect_code_rules_from_patch(before, after)}
    assert names["no eval"] == RuleCategory.SECURITY
    assert names["no bare except"] == RuleCategory.ERROR_HANDLING
    assert names["None by identity"] == RuleCategory.NULL_SAFETY
    assert "no mutable default" in names
    assert detect_code_rules_from_patch(after, after) == []


def test_a_patch_that_does_not_parse_is_compared_by_lines() -> None:
    found = detect_code_rules_from_patch("def (((\n  x = 1", "def (((\n  x = cfg.get('x')")
    assert [rule.name for rule in found] == ["safe lookup"]


def test_a_regular_expression_that_explodes_is_stopped() -> None:
    bomb = CodeRule(
        "bomb", RuleCategory.READABILITY, before_pattern=r"(a|aa)+$", pattern_type="regex"
    )  # type: ignore[arg-type]
    with pytest.raises(PatternTooSlow):
        matches(bomb, "a" * 5000 + "b")
    with pytest.raises(Invalid, match="regular expression"):
        matches(
            CodeRule("x", RuleCategory.READABILITY, before_pattern="(", pattern_type="regex"), "x"
        )  # type: ignore[arg-type]


def test_a_tree_matches_whatever_the_names_are() -> None:
    shape = CodeRule("x", RuleCategory.NULL_SAFETY, before_pattern="_x == None", pattern_type="ast")  # type: ignore[arg-type]
    assert matches(shape, "if self.bell  ==  None: ring()")
    assert not matches(shape, "if bell is None: ring()")
    assert not matches(shape, "this does not parse (")
    assert matches(CodeRule("x", RuleCategory.NULL_SAFETY, before_pattern="== None"), "a == None")


def test_confidence_is_an_average_that_forgets() -> None:
    rule = CodeRule("x", RuleCategory.SECURITY, confidence=0.5)
    for expected in (0.6, 0.68, 0.744, 0.7952, 0.83616):
        rule = reinforce_rule(rule, True)
        assert rule.confidence == pytest.approx(expected)
    assert rule.is_trusted
    assert reinforce_rule(rule, False).confidence == pytest.approx(0.83616 * 0.8)


def test_rules_below_their_threshold_go() -> None:
    rules = [
        CodeRule("a", RuleCategory.SECURITY, confidence=0.29),
        CodeRule("b", RuleCategory.SECURITY, confidence=0.3),
    ]
    assert [rule.name for rule in cleanup_weak_rules(rules)] == ["b"]


def test_duplicates_become_one_with_both_counts() -> None:
    one = CodeRule("a", RuleCategory.SECURITY, "eval(x)", "y", confidence=0.9, observation_count=3)
    other = CodeRule(
        "b", RuleCategory.SECURITY, " eval(x) ", "y", confidence=0.5, languages=("rust",)
    )
    (merged,) = merge_duplicate_rules(
        [
            one,
            other,
        ]
    )
    assert (merged.name, merged.observation_count, merged.languages) == ("a", 4, ("python", "rust"))
    assert merged.confidence == pytest.approx(0.8)


# --- The whole way ---


def test_an_agent_debugs_and_is_asked_later(mira: Namespace) -> None:
    store = PostgresMemoryStore(mira)
    working = WorkingMemoryManager(store)
    working.init_task("The toll ledger crashes at night", ["reproduce", "find the cause", "fix it"])
    working.record_step(
        "run",
        error_type="AttributeError",
        error_message="'NoneType' object has no attribute 'fare'",
    )
    working.add_hypothesis("A ferry without a toll row")
    working.record_decision("Ask for nothing before use", "Rows are made lazily")
    change = {
        "file_path": "ferry/ledger.py",
        "old_string": "if row == None:\n    x",
        "new_string": "if row is None:\n    x",
    }
    working.record_step("edit", change)
    done = working.consolidate(outcome="Green again", solution="Check the row for None")
    learned = SemanticMemoryManager(store).learn_from_episode(done)

    later = EpisodicMemoryManager(PostgresMemoryStore(mira))
    (found,) = later.find_by_error_pattern(
        "AttributeError", "'NoneType' object has no attribute 'name'"
    )
    assert found.episode.solution == "Check the row for None"
    knowledge = SemanticMemoryManager(store).get_relevant_knowledge("AttributeError NoneType fare")
    assert knowledge.bug_patterns[0].cause == "A ferry without a toll row"
    rule = next(rule for rule in learned.code_rules if rule.name == "None by identity")
    store.update_code_rule_confidence(rule.id, True)
    history = (
        CodeRuleOutcome.objects.filter(rule=rule.id)
        .order_by("pk")
        .values_list("confidence", flat=True)
    )
    assert list(history) == pytest.approx([0.6, 0.68])


@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_killed_while_it_closes_a_task_leaves_no_episode_unlearned(
    mira: Namespace,
) -> None:
    command = [sys.executable, "-m", "tests.memories.closing"]
    names = [str(connection.settings_dict["NAME"]), str(mira.world_id), mira.name]
    environment = {**os.environ, "EMBEDDER": "hashing"}
    ran = subprocess.run(
        [*command, *names], capture_output=True, text=True, env=environment, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert int(ran.stdout.split()[-1]) > 5
    store = PostgresMemoryStore(mira)
    episodes = {str(one.id) for one in store.find(kind="episode")}
    assert episodes
    assert set(store.load_state("learned")["episodes"]) == episodes


def test_a_failed_task_teaches_what_did_not_help(store: MemoryStore) -> None:
    working, knowledge = WorkingMemoryManager(store), SemanticMemoryManager(store)
    working.init_task("Mend the toll ledger")
    working.record_step("run", {}, output="x", error_type="KeyError", error_message="'fare'")
    episode = working.consolidate(success=False, outcome="Reading the file twice")
    knowledge.learn_from_episode(episode)
    (bug,) = knowledge.match_bug_pattern("KeyError", "'fare'")
    assert (bug.solution, bug.failed) == ("", ("Reading the file twice",))
    knowledge.add_bug_pattern("KeyError", "'fare'", solution="Read it with get().")
    (bug,) = knowledge.match_bug_pattern("KeyError", "'fare'")
    assert (bug.solution, bug.failed) == ("Read it with get().", ("Reading the file twice",))
