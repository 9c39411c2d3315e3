"""What an agent knows in general: bug patterns, code patterns, code rules, preferences of its user."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rapidfuzz import fuzz

from memories.code_rules import detect, rule
from memories.code_rules.rule import EMA_ALPHA, CodeRule
from memories.coding_agent import patterns, preferences
from memories.coding_agent.episodes import Patch, TaskEpisode
from memories.coding_agent.patterns import PatternCategory
from memories.coding_agent.preferences import UserPreferences
from memories.coding_agent.stores.protocol import MemoryRecord, MemoryStore
from memories.states import Bucket
from retrieval.errors import Invalid, NotFound

BUG, CODE, PREFERENCES = "bug_pattern", "code_pattern", "user_preferences"
MATCHES_FROM = 0.6
SAME_FROM = 0.9
MOST_EPISODES = 50


@dataclass(frozen=True)
class BugPattern:
    """An error, why it comes and what helps; `episodes` are where it was met."""

    id: UUID
    error_type: str
    error_message: str
    cause: str = ""
    solution: str = ""
    occurrences: int = 1
    episodes: tuple[str, ...] = ()
    score: float = 1.0


@dataclass(frozen=True)
class CodePattern:
    id: UUID
    name: str
    category: PatternCategory
    description: str = ""
    occurrences: int = 1
    episodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class EpisodeLessons:
    """What one episode taught."""

    bug_patterns: Sequence[BugPattern] = ()
    code_pattern: CodePattern | None = None
    code_rules: Sequence[CodeRule] = ()
    preferences: Sequence[str] = ()


@dataclass(frozen=True)
class RelevantKnowledge:
    """What is known that bears on a question."""

    bug_patterns: Sequence[BugPattern]
    code_patterns: Sequence[CodePattern]
    insights: Sequence[MemoryRecord]
    code_rules: Sequence[CodeRule]
    preferences: dict[str, int]


class SemanticMemoryManager:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    @property
    def user_preferences(self) -> UserPreferences:
        held = self._store.load_state(PREFERENCES) or {}
        return UserPreferences(list(held.get("frequently_accepted", [])))

    def add_bug_pattern(
        self,
        error_type: str,
        error_message: str = "",
        *,
        cause: str = "",
        solution: str = "",
        episode: str = "",
    ) -> BugPattern:
        """Keep it, or count one more sighting of a pattern that is the same."""
        if not error_type.strip():
            raise Invalid("A bug pattern needs the type of its error.")
        # A pattern that waits for approval is known too: it must not be learned twice.
        rows = self._store.find(bucket=Bucket.FACT, kind=BUG, with_pending=True)
        if known := next(iter(_alike(rows, error_type, error_message, SAME_FROM)), None):
            return self._seen_again(known, cause=cause, solution=solution, episode=episode)
        parts = [
            f"{error_type}: {error_message}".rstrip(": "),
            cause and f"Cause: {cause}",
            solution and f"Solution: {solution}",
        ]
        payload = {
            "kind": BUG,
            "error_type": error_type,
            "error_message": error_message,
            "cause": cause,
            "solution": solution,
            "occurrences": 1,
            "episodes": [episode] if episode else [],
        }
        record = MemoryRecord("\n".join(part for part in parts if part), Bucket.FACT, 0.6, payload)
        return _bug(self._store.add(record))

    def match_bug_pattern(
        self, error_type: str, error_message: str = "", *, least: float = MATCHES_FROM
    ) -> list[BugPattern]:
        """Known patterns like this error, most alike first."""
        rows = self._store.find(bucket=Bucket.FACT, kind=BUG)
        return _alike(rows, error_type, error_message, least)

    def add_code_pattern(
        self,
        name: str,
        category: PatternCategory | str,
        *,
        description: str = "",
        episode: str = "",
    ) -> CodePattern:
        """Keep it, or count one more sighting of the one with this name and category."""
        kind = PatternCategory(category)
        for row in self._store.find(bucket=Bucket.SEMANTIC, kind=CODE, with_pending=True):
            if (
                row.payload["category"] == kind
                and row.payload["name"].casefold() == name.casefold()
            ):
                return _code(self._store.update(row.id, payload=_counted(row.payload, episode)))
        payload = {
            "kind": CODE,
            "name": name,
            "category": kind.value,
            "description": description,
            "occurrences": 1,
            "episodes": [episode] if episode else [],
        }
        text = f"{name} ({kind.value.replace('_', ' ')}). {description}".strip()
        return _code(self._store.add(MemoryRecord(text, Bucket.SEMANTIC, 0.5, payload)))

    def learn_from_episode(self, episode: TaskEpisode) -> EpisodeLessons:
        """Take patterns, rules and preferences out of one episode. Learning from the same one twice changes nothing."""
        learned_from = self._store.load_state("learned") or {"episodes": []}
        if str(episode.id) in learned_from["episodes"]:
            return EpisodeLessons()
        seen = [
            *self._infer_coding_style_preferences(episode),
            *self._infer_interaction_preferences(episode),
        ]
        learned = EpisodeLessons(
            bug_patterns=self._learn_bugs(episode),
            code_pattern=self._learn_code_pattern(episode),
            code_rules=self._learn_rules(episode),
            preferences=seen,
        )
        kept = [*learned_from["episodes"], str(episode.id)][-10_000:]
        self._store.save_state("learned", {"episodes": kept})
        return learned

    def get_relevant_knowledge(
        self, query: str, *, project_id: str | None = None, limit: int = 5
    ) -> RelevantKnowledge:
        """What bears on `query`: patterns and insights by meaning, rules sure enough to apply, strong preferences."""
        bugs = self._store.search(query, buckets=[Bucket.FACT], kind=BUG, limit=limit)
        codes = self._store.search(query, buckets=[Bucket.SEMANTIC], kind=CODE, limit=limit)
        rest = self._store.search(query, buckets=[Bucket.SEMANTIC], limit=limit * 2)
        rules = self._store.find_code_rules(project_id=project_id)
        return RelevantKnowledge(
            bug_patterns=[_bug(hit.record, hit.similarity) for hit in bugs],
            code_patterns=[_code(hit.record) for hit in codes],
            insights=[hit.record for hit in rest if hit.record.kind != CODE][:limit],
            code_rules=[one for one in rules if one.is_applicable][:limit],
            preferences=self.user_preferences.strongest(),
        )

    # Code rules

    def detect_code_rules_from_patch(self, before: str, after: str) -> list[CodeRule]:
        return detect.detect_code_rules_from_patch(before, after)

    def reinforce_rule(self, known: CodeRule, success: bool) -> CodeRule:
        return rule.reinforce_rule(known, success)

    def cleanup_weak_rules(self, rules: Iterable[CodeRule]) -> list[CodeRule]:
        return rule.cleanup_weak_rules(rules)

    def merge_duplicate_rules(self, rules: Iterable[CodeRule]) -> list[CodeRule]:
        return rule.merge_duplicate_rules(rules)

    def save_rule_to_db(
        self, one: CodeRule, db_store: MemoryStore, project_id: str | None = None
    ) -> CodeRule:
        return db_store.save_code_rule(one, project_id)

    def load_rule_from_db(self, rule_id: UUID, db_store: MemoryStore) -> CodeRule | None:
        return db_store.get_code_rule(rule_id)

    def load_rules_from_db(self, db_store: MemoryStore, **filters: Any) -> list[CodeRule]:
        return db_store.find_code_rules(**filters)

    def reinforce_rule_in_db(
        self, rule_id: UUID, success: bool, db_store: MemoryStore, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        return db_store.update_code_rule_confidence(rule_id, success, ema_alpha)

    def sync_rules_to_db(
        self, rules: Iterable[CodeRule], db_store: MemoryStore, project_id: str | None = None
    ) -> list[CodeRule]:
        """Merge duplicates, store what is new, and return what stands: a rule that is known stays as it is."""
        return [
            self._synced(one, db_store, project_id) for one in rule.merge_duplicate_rules(rules)
        ]

    def cleanup_weak_rules_in_db(
        self, db_store: MemoryStore, project_id: str | None = None, min_observations: int = 3
    ) -> int:
        return db_store.cleanup_weak_rules(project_id, min_observations)

    # What an episode teaches

    def _learn_code_pattern(self, episode: TaskEpisode) -> CodePattern | None:
        """From an episode that changed code and succeeded."""
        category = (
            self._detect_pattern_category(episode) if episode.patches and episode.success else None
        )
        if category is None:
            return None
        description = self._analyze_patches_for_pattern(episode)
        return self.add_code_pattern(
            episode.task[:120], category, description=description, episode=str(episode.id)
        )

    def _analyze_patches_for_pattern(self, episode: TaskEpisode) -> str:
        """What the patches do, in one line each."""
        return "; ".join(_patch_line(patch) for patch in episode.patches[:5])

    def _detect_pattern_category(self, episode: TaskEpisode) -> PatternCategory | None:
        return patterns.detect(episode)

    def _infer_coding_style_preferences(self, episode: TaskEpisode) -> list[str]:
        return self._noted(preferences.coding_style(episode))

    def _infer_interaction_preferences(self, episode: TaskEpisode) -> list[str]:
        return self._noted(preferences.interaction(episode))

    def _noted(self, seen: list[str]) -> list[str]:
        if seen:
            held = self.user_preferences
            held.note(seen)
            self._store.save_state(PREFERENCES, {"frequently_accepted": held.frequently_accepted})
        return seen

    def _learn_bugs(self, episode: TaskEpisode) -> list[BugPattern]:
        """An error that the episode overcame is a pattern with a solution."""
        if not episode.success:
            return []
        solution = episode.solution or episode.outcome
        cause = episode.hypotheses[-1] if episode.hypotheses else ""
        return [
            self.add_bug_pattern(
                seen.error_type,
                seen.message,
                cause=cause,
                solution=solution,
                episode=str(episode.id),
            )
            for seen in {(one.error_type, one.message): one for one in episode.errors}.values()
        ]

    def _learn_rules(self, episode: TaskEpisode) -> list[CodeRule]:
        found = [
            one
            for patch in episode.patches
            if patch.before or patch.after
            for one in self.detect_code_rules_from_patch(patch.before, patch.after)
        ]
        kept = [
            self._synced(one, self._store, episode.project_id)
            for one in rule.merge_duplicate_rules(found)
        ]
        return [self._store.update_code_rule_confidence(one.id, episode.success) for one in kept]

    def _synced(
        self, one: CodeRule, db_store: MemoryStore, project_id: str | None = None
    ) -> CodeRule:
        project = project_id or one.project_id
        for known in db_store.find_similar_rules(one.name, one.category):
            if known.id == one.id or (known.project_id == project and known.name == one.name):
                return known if known.id != one.id else db_store.save_code_rule(one, project)
        return db_store.save_code_rule(one, project)

    def _seen_again(
        self, known: BugPattern, *, cause: str, solution: str, episode: str
    ) -> BugPattern:
        row = self._store.get(known.id)
        if row is None:
            raise NotFound("There is no such bug pattern.")
        payload = _counted(row.payload, episode)
        payload["cause"], payload["solution"] = (
            cause or payload["cause"],
            solution or payload["solution"],
        )
        return _bug(self._store.update(row.id, payload=payload))


def _counted(payload: Any, episode: str) -> dict[str, Any]:
    episodes = [
        *payload["episodes"],
        *([episode] if episode and episode not in payload["episodes"] else []),
    ]
    return {
        **payload,
        "occurrences": payload["occurrences"] + 1,
        "episodes": episodes[-MOST_EPISODES:],
    }


def _alike(
    rows: Iterable[MemoryRecord], error_type: str, message: str, least: float
) -> list[BugPattern]:
    scored = [(row, _likeness(row.payload, error_type, message)) for row in rows]
    best = sorted(scored, key=lambda pair: -pair[1])
    return [_bug(row, score) for row, score in best if score >= least]


def _likeness(payload: Any, error_type: str, message: str) -> float:
    of_type = fuzz.ratio(payload["error_type"].casefold(), error_type.casefold()) / 100
    known = payload["error_message"]
    if not message or not known:
        return of_type if not message and not known else 0.8 * of_type
    return 0.4 * of_type + 0.6 * fuzz.token_sort_ratio(known.casefold(), message.casefold()) / 100


def _bug(row: MemoryRecord, score: float = 1.0) -> BugPattern:
    held = row.payload
    return BugPattern(
        row.id,
        held["error_type"],
        held["error_message"],
        held["cause"],
        held["solution"],
        held["occurrences"],
        tuple(held["episodes"]),
        score,
    )


def _code(row: MemoryRecord) -> CodePattern:
    held = row.payload
    return CodePattern(
        row.id,
        held["name"],
        PatternCategory(held["category"]),
        held["description"],
        held["occurrences"],
        tuple(held["episodes"]),
    )


def _patch_line(patch: Patch) -> str:
    return f"{patch.description or patch.file_path} (+{patch.lines_added} −{patch.lines_removed})"
