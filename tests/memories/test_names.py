"""Every name of the design is where docs/agent-memory.md says, and answers when it is called."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from memories.coding_agent import (
    EpisodicMemoryManager,
    Patch,
    SemanticMemoryManager,
    WorkingMemoryManager,
)
from memories.coding_agent.stores import PostgresMemoryStore
from memories.models import Namespace

PAGE = Path(settings.BASE_DIR) / "docs" / "agent-memory.md"
ROWS = re.findall(r"^\| .+ \| `([\w.]+):([\w.]+)` \|$", PAGE.read_text(), re.MULTILINE)


class Spy:
    """Hands every call on to a manager, and remembers which names were called."""

    def __init__(self, manager: object, called: set[str]) -> None:
        self._manager, self._called = manager, called

    def __getattr__(self, name: str) -> Any:
        self._called.add(f"{type(self._manager).__name__}.{name}")
        return getattr(self._manager, name)


@pytest.mark.parametrize(("module", "name"), ROWS, ids=[name for _, name in ROWS])
def test_the_name_is_there(module: str, name: str) -> None:
    assert reduce(getattr, name.split("."), import_module(module)) is not None


@pytest.mark.django_db
def test_every_method_of_the_managers_and_every_rule_method_answers(mira: Namespace) -> None:
    called: set[str] = set()
    plain = PostgresMemoryStore(mira)
    store, working = Spy(plain, called), Spy(WorkingMemoryManager(plain), called)
    episodic, semantic = (
        Spy(EpisodicMemoryManager(plain), called),
        Spy(SemanticMemoryManager(plain), called),
    )

    working.init_task("Rename the toll bell", ["look", "rename"])
    step = working.record_step(
        "edit", {"file_path": "ferry/bell.py", "old_string": "a", "new_string": "b\nc"}
    )
    working.add_hypothesis("It is cracked")
    working.record_decision("Rename it", "Nobody knows the old name")
    working.track_file("ferry/toll.py")
    working.track_symbol("Bell")
    assert working._get_project_id() == "ferry"
    assert working._extract_plan_summary() == "look; rename"
    assert len(working._extract_pivots()) == 1
    assert working._calculate_line_changes() == (1, 0)
    assert working._generate_patch_description("ferry/bell.py", [step]).startswith(
        "edit ferry/bell.py"
    )
    episode = working.consolidate()

    other = episode.model_copy(update={"id": type(episode)(task="x").id, "task": "Ring the bell"})
    other.patches.append(Patch(file_path="a_b.py", description="docstring"))
    episodic.store(other)
    assert episodic.find_similar("toll bell")
    assert episodic.find_by_error_pattern("KeyError") == []
    assert len(episodic.find_by_project("ferry")) == 2
    assert episodic.find_by_semantic_similarity("bell")
    assert len(episodic.find_similar_batch(["bell"])) == 1
    assert episodic.match_error_patterns_batch([("KeyError", "")]) == [[]]
    assert episodic.hybrid_search("bell")
    assert episodic.invalidate_cache() > 0
    assert episodic.get_cache_stats()["size"] == 0

    bug = semantic.add_bug_pattern("KeyError", "'bell'")
    assert semantic.match_bug_pattern("KeyError", "'bell'")[0].id == bug.id
    assert semantic.add_code_pattern("Bells", "rename").occurrences == 1
    assert semantic.learn_from_episode(episode).code_pattern
    assert semantic.get_relevant_knowledge("bell").bug_patterns
    assert (
        semantic._learn_code_pattern(episode).category
        == semantic._detect_pattern_category(episode)
        == "rename"
    )
    assert semantic._analyze_patches_for_pattern(episode)
    assert "comment:docstring" in semantic._infer_coding_style_preferences(other)
    assert semantic._infer_interaction_preferences(episode) == []
    assert "comment:docstring" in semantic.user_preferences.frequently_accepted

    found = semantic.detect_code_rules_from_patch("a == None", "a is None")
    rule = semantic.reinforce_rule(found[0], True)
    assert semantic.cleanup_weak_rules([rule]) == semantic.merge_duplicate_rules([rule]) == [rule]
    semantic.save_rule_to_db(rule, store, "mill")
    assert semantic.load_rule_from_db(rule.id, store).project_id == "mill"
    assert len(semantic.load_rules_from_db(store, project_id="mill")) == 1
    assert semantic.reinforce_rule_in_db(rule.id, True, store).success_count == 2
    assert [known.id for known in semantic.sync_rules_to_db([rule], store, "mill")] == [rule.id]
    assert semantic.cleanup_weak_rules_in_db(store) == 0
    assert store.find_similar_rules(rule.name)[0].id == rule.id

    managers = {
        "WorkingMemoryManager",
        "EpisodicMemoryManager",
        "SemanticMemoryManager",
        "PostgresMemoryStore",
    }
    named = {name for _, name in ROWS if "." in name and name.split(".")[0] in managers}
    assert named <= called
