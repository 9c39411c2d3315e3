"""General knowledge of an agent: bug patterns, code patterns, code rules, user preferences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, Unpack
from uuid import UUID

from rapidfuzz import fuzz

from memories.code_rules import detect, rule
from memories.code_rules.rule import EMA_ALPHA, CodeRule, RuleFilters
from memories.coding_agent import patterns, preferences
from memories.coding_agent.episodes import TaskEpisode
from memories.coding_agent.patterns import PatternCategory
from memories.coding_agent.preferences import Observations, UserPreferences
from memories.coding_agent.stores.in_memory import InMemoryStore
from memories.coding_agent.stores.protocol import MemoryStore
from memories.coding_agent.stores.records import MemoryRecord
from memories.states import Bucket
from retrieval.errors import Invalid, NotFound

BUG, CODE = "bug_pattern", "code_pattern"
# Names of states in the store.
PREFERENCES, LEARNED = "user_preferences", "learned"
# Similarity (0–1) from which an error matches a pattern, and from which both are the same bug.
MATCHES_FROM, SAME_FROM = 0.6, 0.9
MAX_EPISODES_OF_PATTERN, MAX_LEARNED_EPISODES, MAX_FAILURES = 50, 10_000, 10


@dataclass(frozen=True)
class BugPattern:
    """An error, its cause and its solution; `episodes` are those in which it occurred."""

    id: UUID
    error_type: str
    error_message: str
    cause: str = ""
    solution: str = ""
    occurrences: int = 1
    episodes: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    """What was tried and did not help."""
    score: float = 1.0

    @classmethod
    def from_record(cls, record: MemoryRecord, score: float = 1.0) -> Self:
        return cls(id=record.id, score=score, **_payload_fields(cls, record.payload))


@dataclass(frozen=True)
class CodePattern:
    id: UUID
    name: str
    category: PatternCategory
    description: str = ""
    occurrences: int = 1
    episodes: tuple[str, ...] = ()

    @classmethod
    def from_record(cls, record: MemoryRecord) -> Self:
        values = _payload_fields(cls, record.payload)
        return cls(id=record.id, **values | {"category": PatternCategory(values["category"])})


@dataclass(frozen=True)
class EpisodeLessons:
    """What was learned from one episode."""

    bug_patterns: Sequence[BugPattern] = ()
    code_pattern: CodePattern | None = None
    code_rules: Sequence[CodeRule] = ()
    preferences: Sequence[str] = ()


@dataclass(frozen=True)
class RelevantKnowledge:
    """What is known that bears on a query."""

    bug_patterns: Sequence[BugPattern]
    code_patterns: Sequence[CodePattern]
    insights: Sequence[MemoryRecord]
    code_rules: Sequence[CodeRule]
    preferences: dict[str, int]


class SemanticMemoryManager:
    def __init__(self, store: MemoryStore | None = None) -> None:
        self._store: MemoryStore = InMemoryStore() if store is None else store

    @property
    def user_preferences(self) -> UserPreferences:
        """The observed preferences; what is appended to `frequently_accepted` is stored."""
        state = self._store.load_state(PREFERENCES) or {}

        def save(observed: Observations) -> None:
            self._store.save_state(
                PREFERENCES,
                {"frequently_accepted": observed.data, "earlier": dict(observed.earlier)},
            )

        observed = state.get("frequently_accepted", ())
        return UserPreferences(Observations(observed, save, earlier=state.get("earlier", {})))

    def add_bug_pattern(
        self,
        error_type: str,
        error_message: str = "",
        *,
        cause: str = "",
        solution: str = "",
        failed: str = "",
        episode: str = "",
    ) -> BugPattern:
        """Store the pattern, or count one more occurrence of the same one. `failed`: what was tried
        and did not help."""
        if not error_type.strip():
            raise Invalid("A bug pattern needs the type of its error.")
        # Patterns that wait for approval are included: none must be learned twice.
        error = f"{error_type}: {error_message}".rstrip(": ")
        rows = self._store.find_like(error, bucket=Bucket.FACT, kind=BUG, with_pending=True)
        if bugs := similar_bugs(rows, error_type, error_message, least=SAME_FROM):
            record = self._store.get(bugs[0].id)
            if record is None:
                raise NotFound("There is no such bug pattern.")
            payload = count_occurrence(record.payload, episode)
            payload["cause"] = cause or payload["cause"]
            payload["solution"] = solution or payload["solution"]
            payload["failed"] = add_failure(payload, failed)
            return BugPattern.from_record(self._store.update(record.id, payload=payload))
        lines = [
            error,
            f"Cause: {cause}" if cause else "",
            f"Solution: {solution}" if solution else "",
            f"Did not help: {failed}" if failed else "",
        ]
        payload = {
            "kind": BUG,
            "error_type": error_type,
            "error_message": error_message,
            "cause": cause,
            "solution": solution,
            "failed": add_failure({}, failed),
            "occurrences": 1,
            "episodes": [episode] if episode else [],
        }
        record = MemoryRecord("\n".join(filter(None, lines)), Bucket.FACT, 0.6, payload)
        return BugPattern.from_record(self._store.add(record))

    def match_bug_pattern(
        self, error_type: str, error_message: str = "", *, least: float = MATCHES_FROM
    ) -> list[BugPattern]:
        """Return the known patterns similar to this error, most similar first."""
        error = f"{error_type}: {error_message}".rstrip(": ")
        rows = self._store.find_like(error, bucket=Bucket.FACT, kind=BUG)
        return similar_bugs(rows, error_type, error_message, least=least)

    def add_code_pattern(
        self,
        name: str,
        category: PatternCategory | str,
        *,
        description: str = "",
        episode: str = "",
    ) -> CodePattern:
        """Store the pattern, or count one more occurrence of the same name and category."""
        category = PatternCategory(category)
        rows = self._store.find_like(name, bucket=Bucket.SEMANTIC, kind=CODE, with_pending=True)
        for row in rows:
            is_same_name = row.payload["name"].casefold() == name.casefold()
            if is_same_name and row.payload["category"] == category:
                payload = count_occurrence(row.payload, episode)
                return CodePattern.from_record(self._store.update(row.id, payload=payload))
        payload = {
            "kind": CODE,
            "name": name,
            "category": category.value,
            "description": description,
            "occurrences": 1,
            "episodes": [episode] if episode else [],
        }
        text = f"{name} ({category.value.replace('_', ' ')}). {description}".strip()
        record = MemoryRecord(text, Bucket.SEMANTIC, 0.5, payload)
        return CodePattern.from_record(self._store.add(record))

    def learn_from_episode(self, episode: TaskEpisode) -> EpisodeLessons:
        """Learn patterns, rules and preferences from an episode. A second call changes nothing."""
        learned_ids = (self._store.load_state(LEARNED) or {"episodes": []})["episodes"]
        if str(episode.id) in learned_ids:
            return EpisodeLessons()
        lessons = EpisodeLessons(
            preferences=[
                *self._infer_coding_style_preferences(episode),
                *self._infer_interaction_preferences(episode),
            ],
            bug_patterns=self._learn_bug_patterns(episode),
            code_pattern=self._learn_code_pattern(episode),
            code_rules=self._learn_code_rules(episode),
        )
        learned_ids = [*learned_ids, str(episode.id)][-MAX_LEARNED_EPISODES:]
        self._store.save_state(LEARNED, {"episodes": learned_ids})
        return lessons

    def get_relevant_knowledge(
        self, query: str, *, project_id: str | None = None, limit: int = 5
    ) -> RelevantKnowledge:
        """Return patterns and insights similar to `query`, applicable rules, and preferences."""
        bugs = self._store.search(query, buckets=[Bucket.FACT], kind=BUG, limit=limit)
        codes = self._store.search(query, buckets=[Bucket.SEMANTIC], kind=CODE, limit=limit)
        # Insights share their bucket with code patterns, which are taken out below.
        rest = self._store.search(query, buckets=[Bucket.SEMANTIC], limit=limit * 2)
        rules = self._store.find_code_rules(project_id=project_id)
        return RelevantKnowledge(
            bug_patterns=[BugPattern.from_record(hit.record, hit.similarity) for hit in bugs],
            code_patterns=[CodePattern.from_record(hit.record) for hit in codes],
            insights=[hit.record for hit in rest if hit.record.kind != CODE][:limit],
            code_rules=[one for one in rules if one.is_applicable][:limit],
            preferences=self.user_preferences.counts(),
        )

    # Code rules: the design wants these as methods of the manager.

    def detect_code_rules_from_patch(self, before: str, after: str) -> list[CodeRule]:
        return detect.detect_code_rules_from_patch(before, after)

    def reinforce_rule(self, one: CodeRule, success: bool) -> CodeRule:
        return rule.reinforce_rule(one, success)

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

    def load_rules_from_db(
        self, db_store: MemoryStore, **filters: Unpack[RuleFilters]
    ) -> list[CodeRule]:
        return db_store.find_code_rules(**filters)

    def reinforce_rule_in_db(
        self, rule_id: UUID, success: bool, db_store: MemoryStore, ema_alpha: float = EMA_ALPHA
    ) -> CodeRule:
        return db_store.update_code_rule_confidence(rule_id, success, ema_alpha)

    def sync_rules_to_db(
        self, rules: Iterable[CodeRule], db_store: MemoryStore, project_id: str | None = None
    ) -> list[CodeRule]:
        """Merge duplicates, store the new rules, and return the stored ones. A stored rule of the
        same name and project is not changed."""
        rules_in_store = []
        for one in rule.merge_duplicate_rules(rules):
            project = project_id or one.project_id
            for stored in db_store.find_similar_rules(one.name, one.category):
                if stored.id == one.id or (stored.project_id, stored.name) == (project, one.name):
                    break
            else:
                stored = one
            # The caller's version of a rule replaces the stored one with its id.
            is_to_save = stored.id == one.id
            rules_in_store.append(db_store.save_code_rule(one, project) if is_to_save else stored)
        return rules_in_store

    def cleanup_weak_rules_in_db(
        self, db_store: MemoryStore, project_id: str | None = None, min_observations: int = 3
    ) -> int:
        return db_store.cleanup_weak_rules(project_id, min_observations)

    # What an episode teaches

    def _learn_bug_patterns(self, episode: TaskEpisode) -> list[BugPattern]:
        """Add the errors of an episode: with what solved them, or with what did not."""
        errors = dict.fromkeys((error.error_type, error.message) for error in episode.errors)
        tried = episode.solution or episode.outcome
        cause = episode.hypotheses[-1] if episode.hypotheses and episode.success else ""
        return [
            self.add_bug_pattern(
                error_type,
                message,
                cause=cause,
                solution=tried if episode.success else "",
                failed="" if episode.success else tried,
                episode=str(episode.id),
            )
            for error_type, message in errors
        ]

    def _learn_code_rules(self, episode: TaskEpisode) -> list[CodeRule]:
        """Store the rules of the episode's patches and reinforce them by its success."""
        rules = [
            one
            for patch in episode.patches
            if patch.before or patch.after
            for one in self.detect_code_rules_from_patch(patch.before, patch.after)
        ]
        rules = self.sync_rules_to_db(rules, self._store, episode.project_id)
        return [self._store.update_code_rule_confidence(one.id, episode.success) for one in rules]

    def _learn_code_pattern(self, episode: TaskEpisode) -> CodePattern | None:
        """Add the code pattern of an episode that changed code and succeeded."""
        if not episode.patches or not episode.success:
            return None
        category = self._detect_pattern_category(episode)
        if category is None:
            return None
        description = self._analyze_patches_for_pattern(episode)
        return self.add_code_pattern(
            episode.task[:120], category, description=description, episode=str(episode.id)
        )

    def _analyze_patches_for_pattern(self, episode: TaskEpisode) -> str:
        """Summarize the first five patches."""
        return "; ".join(
            f"{patch.description or patch.file_path} (+{patch.lines_added} −{patch.lines_removed})"
            for patch in episode.patches[:5]
        )

    def _detect_pattern_category(self, episode: TaskEpisode) -> PatternCategory | None:
        return patterns.detect(episode)

    def _infer_coding_style_preferences(self, episode: TaskEpisode) -> list[str]:
        return self.save_preferences(preferences.coding_style(episode))

    def _infer_interaction_preferences(self, episode: TaskEpisode) -> list[str]:
        return self.save_preferences(preferences.interaction(episode))

    def save_preferences(self, observations: list[str]) -> list[str]:
        if observations:
            self.user_preferences.frequently_accepted.extend(observations)
        return observations


def count_occurrence(payload: Mapping[str, Any], episode: str) -> dict[str, Any]:
    """Return the payload of a pattern with one more occurrence, in `episode` if it is named."""
    episodes = list(payload["episodes"])
    if episode and episode not in episodes:
        episodes.append(episode)
    return {
        **payload,
        "occurrences": payload["occurrences"] + 1,
        "episodes": episodes[-MAX_EPISODES_OF_PATTERN:],
    }


def add_failure(payload: Mapping[str, Any], failed: str) -> list[str]:
    known = [one for one in payload.get("failed", ()) if one != failed]
    return [*known, failed][-MAX_FAILURES:] if failed else known


def similar_bugs(
    rows: Iterable[MemoryRecord], error_type: str, message: str, *, least: float
) -> list[BugPattern]:
    """Return the patterns with at least that similarity to an error, most similar first."""
    bugs = [
        BugPattern.from_record(row, bug_similarity(row.payload, error_type, message))
        for row in rows
    ]
    return sorted((bug for bug in bugs if bug.score >= least), key=lambda bug: -bug.score)


def bug_similarity(payload: Mapping[str, Any], error_type: str, message: str) -> float:
    """Return 0.4 · similarity of types + 0.6 · similarity of messages, from 0 to 1."""
    by_type = fuzz.ratio(payload["error_type"].casefold(), error_type.casefold()) / 100
    own_message = payload["error_message"]
    if not message or not own_message:
        # One message says less than two equal ones, and two missing ones say nothing.
        return by_type if not message and not own_message else 0.8 * by_type
    by_message = fuzz.token_sort_ratio(own_message.casefold(), message.casefold()) / 100
    return 0.4 * by_type + 0.6 * by_message


def _payload_fields(cls: type[Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    names = [one.name for one in fields(cls) if one.name in payload]
    lists = {name: tuple(payload.get(name, ())) for name in ("episodes", "failed") if name in names}
    return {name: payload[name] for name in names} | lists
