"""A rule learned from changes of code, with its confidence. Pure values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypedDict
from uuid import UUID

from rapidfuzz import fuzz

from retrieval.errors import Invalid
from retrieval.models import uuid7

EMA_ALPHA, MIN_CONFIDENCE, PROMOTED_AT = 0.2, 0.3, 0.8
# Least rapidfuzz ratio (0–100) of two names.
SAME_NAME_AT = 85
GLOBAL = "global"


class RuleCategory(StrEnum):
    NULL_SAFETY = "null_safety"
    ERROR_HANDLING = "error_handling"
    READABILITY = "readability"
    PERFORMANCE = "performance"
    SECURITY = "security"


class RuleFilters(TypedDict, total=False):
    """Conditions of a search for rules; None for any."""

    project_id: str | None
    category: str | None
    language: str | None
    min_confidence: float
    limit: int


class PatternType(StrEnum):
    LITERAL = "literal"
    REGEX = "regex"
    AST = "ast"


@dataclass(frozen=True)
class CodeRule:
    """`before_pattern` becomes `after_pattern`. A rule is applied from `min_confidence_threshold`
    on and trusted from `promotion_threshold` on."""

    name: str
    category: RuleCategory
    before_pattern: str = ""
    after_pattern: str = ""
    description: str = ""
    pattern_type: PatternType = PatternType.LITERAL
    languages: Sequence[str] = ("python",)
    confidence: float = 0.5
    observation_count: int = 1
    success_count: int = 0
    failure_count: int = 0
    min_confidence_threshold: float = MIN_CONFIDENCE
    promotion_threshold: float = PROMOTED_AT
    project_id: str = GLOBAL
    id: UUID = field(default_factory=uuid7)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise Invalid("A code rule needs a name.")
        if not 0 <= self.confidence <= 1:
            raise Invalid(f"confidence is a number from 0 to 1, not {self.confidence!r}.")
        # Values from JSON and the database arrive as plain strings and lists.
        object.__setattr__(self, "category", RuleCategory(self.category))
        object.__setattr__(self, "pattern_type", PatternType(self.pattern_type))
        object.__setattr__(self, "languages", tuple(self.languages))

    @property
    def is_applicable(self) -> bool:
        return self.confidence >= self.min_confidence_threshold

    @property
    def is_trusted(self) -> bool:
        return self.confidence >= self.promotion_threshold

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {
            "id": str(self.id),
            "languages": list(self.languages),
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "CodeRule":
        moments = {
            name: datetime.fromisoformat(data[name]) for name in ("created_at", "updated_at")
        }
        return cls(**{**data, "id": UUID(data["id"]), **moments})


def reinforce_rule(rule: CodeRule, success: bool, *, ema_alpha: float = EMA_ALPHA) -> CodeRule:
    """Move the confidence: α · outcome + (1 − α) · confidence (exponential moving average)."""
    if not 0 < ema_alpha <= 1:
        raise Invalid(f"ema_alpha lies above 0 and up to 1, not {ema_alpha!r}.")
    return replace(
        rule,
        confidence=ema_alpha * float(success) + (1 - ema_alpha) * rule.confidence,
        observation_count=rule.observation_count + 1,
        success_count=rule.success_count + bool(success),
        failure_count=rule.failure_count + (not success),
        updated_at=datetime.now(UTC),
    )


def is_weak(rule: CodeRule, *, min_observations: int = 1) -> bool:
    return (
        rule.confidence < rule.min_confidence_threshold
        and rule.observation_count >= min_observations
    )


def cleanup_weak_rules(rules: Iterable[CodeRule]) -> list[CodeRule]:
    """Return the rules that are not below their threshold."""
    return [rule for rule in rules if not is_weak(rule)]


def merge_duplicate_rules(rules: Iterable[CodeRule]) -> list[CodeRule]:
    """Merge rules of one project, category and type that make the same change, whitespace aside.
    The rule observed most often keeps its name and id."""
    by_key: dict[tuple[str, ...], CodeRule] = {}
    for rule in sorted(rules, key=lambda rule: -rule.observation_count):
        key = (
            rule.project_id,
            rule.category,
            rule.pattern_type,
            " ".join(rule.before_pattern.split()),
            " ".join(rule.after_pattern.split()),
        )
        by_key[key] = _merge_rules(by_key[key], rule) if key in by_key else rule
    return list(by_key.values())


def _merge_rules(one: CodeRule, other: CodeRule) -> CodeRule:
    """Add the counts up; the confidence is the mean weighted by observations."""
    observations = one.observation_count + other.observation_count
    confidence_sum = sum(rule.confidence * rule.observation_count for rule in (one, other))
    return replace(
        one,
        confidence=confidence_sum / observations if observations else one.confidence,
        observation_count=observations,
        success_count=one.success_count + other.success_count,
        failure_count=one.failure_count + other.failure_count,
        languages=tuple(dict.fromkeys([*one.languages, *other.languages])),
        created_at=min(one.created_at, other.created_at),
        updated_at=max(one.updated_at, other.updated_at),
    )


def filter_rules(
    rules: Iterable[CodeRule],
    *,
    project_id: str | None = None,
    category: str | None = None,
    language: str | None = None,
    min_confidence: float = 0.0,
    limit: int = 1000,
) -> list[CodeRule]:
    """Return the rules that meet all conditions, most confident first."""
    fitting = [
        rule
        for rule in rules
        if project_id in (None, rule.project_id)
        and category in (None, rule.category)
        and (language is None or language in rule.languages)
        and rule.confidence >= min_confidence
    ]
    return sorted(fitting, key=lambda rule: (-rule.confidence, str(rule.id)))[:limit]


def similar_by_name(rules: Iterable[CodeRule], name: str) -> list[CodeRule]:
    """Return the rules whose names resemble `name`, the most similar first."""
    scores = [
        (fuzz.token_sort_ratio(rule.name.casefold(), name.casefold()), rule) for rule in rules
    ]
    best_first = sorted(scores, key=lambda pair: -pair[0])
    return [rule for score, rule in best_first if score >= SAME_NAME_AT]
