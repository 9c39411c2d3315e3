"""Cues: weighted regular expressions for buckets and intents, from `cues.yaml`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CUES_FILE = Path(__file__).parent / "cues.yaml"
LEAST_EVIDENCE = 1.0
"""Cues of less weight in all, such as that a text begins with *the*, break ties and are no
evidence."""
# The topic of a text shows at its beginning, and every cue costs time on every character.
MAX_CHARACTERS = 2000


@dataclass(frozen=True)
class Cue:
    """A pattern and its weight. Unless it is case-sensitive, it matches lowercase text."""

    weight: float
    pattern: re.Pattern[str]
    case_sensitive: bool

    @property
    def is_catch_all(self) -> bool:
        """Whether it matches any text: it breaks ties, and is no evidence."""
        return self.pattern.pattern == "."

    @classmethod
    def parse(cls, line: str) -> "Cue":
        """Parse "weight regex"; a regex with `[A-Z]` in it is case-sensitive."""
        weight, pattern = line.split(" ", 1)
        case_sensitive = "[A-Z]" in pattern
        regex = re.compile(pattern if case_sensitive else lowercase_pattern(pattern))
        return cls(float(weight), regex, case_sensitive)


@dataclass(frozen=True)
class LabelScores:
    """The label with most weight. `margin` is its lead over the next, as a share of both (0–1);
    0 if nothing but a catch-all cue and less than `LEAST_EVIDENCE` speaks for it."""

    label: str
    margin: float
    weights: Mapping[str, float]


def rank_labels(weights: Mapping[str, float]) -> LabelScores:
    """Return the label with most weight, the first among equals."""
    first, second, *_ = sorted(weights.values(), reverse=True)
    label = next(label for label, weight in weights.items() if weight == first)
    return LabelScores(label, (first - second) / (first + second) if first else 0.0, weights)


@dataclass(frozen=True)
class Cues:
    """Labels with their cues."""

    by_label: Mapping[str, tuple[Cue, ...]]

    def classify(self, text: str) -> LabelScores:
        text = text[:MAX_CHARACTERS]
        # Lowercasing once and matching case-sensitively is three times as fast as re.IGNORECASE.
        lower = text.lower()
        weights = dict.fromkeys(self.by_label, 0.0)
        evidence = dict(weights)
        for label, cues in self.by_label.items():
            for cue in cues:
                if cue.pattern.search(text if cue.case_sensitive else lower):
                    weights[label] += cue.weight
                    if not cue.is_catch_all:
                        evidence[label] += cue.weight
        scores = rank_labels(weights)
        has_evidence = evidence[scores.label] >= LEAST_EVIDENCE
        return scores if has_evidence else replace(scores, margin=0.0)

    def with_cues(self, more: Mapping[str, Iterable[str]]) -> "Cues":
        """Return these cues and `more`: lines of "weight regex" by label; labels may be new."""
        extra = {label: tuple(map(Cue.parse, lines)) for label, lines in more.items()}
        labels = dict.fromkeys([*self.by_label, *extra])
        return Cues(
            {label: (*self.by_label.get(label, ()), *extra.get(label, ())) for label in labels}
        )


@cache
def load_cues(table: str) -> Cues:
    """Load the cues of `table`: "buckets" or "intents"."""
    data: dict[str, Any] = yaml.safe_load(CUES_FILE.read_text(encoding="utf-8"))[table]
    return Cues(
        {
            label: tuple(Cue.parse(line) for lines in languages.values() for line in lines)
            for label, languages in data.items()
        }
    )


def lowercase_pattern(pattern: str) -> str:
    r"""Lowercase a pattern, except its escapes: `\W` and `\S` must keep their meaning."""
    return re.sub(
        r"\\.|[^\\]+", lambda part: part[0] if part[0][0] == "\\" else part[0].lower(), pattern
    )
