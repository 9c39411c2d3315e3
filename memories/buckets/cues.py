"""Words and endings that speak for a bucket or an intent: data in `cues.yaml`, in three languages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memories.buckets import scripts

CUES_FILE = Path(__file__).parent / "cues.yaml"
MAX_CHARACTERS = 2000
"""Characters looked at: what a text is about stands in its beginning."""


@dataclass(frozen=True)
class Cue:
    """`cased`: capitals matter. Else the pattern is in small letters and so is what it is matched with: three times as
    fast as a pattern that ignores case."""

    weight: float
    pattern: re.Pattern[str]
    case_sensitive: bool
    script: str = ""
    """The script (`scripts.SCRIPTS`) without a letter of which the pattern cannot match; empty: none."""


@dataclass(frozen=True)
class LabelScores:
    """The label with most weight. `sureness` is its lead over the next, as a share of both, from 0 to 1."""

    label: str
    margin: float
    weights: Mapping[str, float]


def rank_labels(weights: Mapping[str, float]) -> LabelScores:
    """Return the label with most weight, the first of equals."""
    first, second, *_ = sorted(weights.values(), reverse=True)
    label = next(label for label, weight in weights.items() if weight == first)
    return LabelScores(label, (first - second) / (first + second) if first else 0.0, weights)


@dataclass(frozen=True)
class Cues:
    """Labels with their cues."""

    by_label: Mapping[str, tuple[Cue, ...]]

    def weigh(self, text: str) -> dict[str, float]:
        seen = text[:MAX_CHARACTERS]
        small, present = seen.lower(), scripts.scripts_in(seen)
        return {
            label: sum(
                cue.weight
                for cue in cues
                if cue.script in present
                and cue.pattern.search(seen if cue.case_sensitive else small)
            )
            for label, cues in self.by_label.items()
        }

    def classify(self, text: str) -> LabelScores:
        return rank_labels(self.weigh(text))

    def with_cues(self, more: Mapping[str, Iterable[str]]) -> "Cues":
        """Return these cues and `more`: lines of "weight regex" by label; new labels are welcome."""
        added = {label: tuple(map(_cue, lines)) for label, lines in more.items()}
        labels = [*self.by_label, *(label for label in added if label not in self.by_label)]
        return Cues(
            {label: (*self.by_label.get(label, ()), *added.get(label, ())) for label in labels}
        )


@cache
def load_cues(table: str) -> Cues:
    """The cues of `table`: "buckets" or "intents"."""
    return read_cues(CUES_FILE, table)


def read_cues(path: Path, table: str) -> Cues:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))[table]
    return Cues({label: tuple(_cues(languages.values())) for label, languages in data.items()})


def _cues(lists: Iterable[list[str]]) -> Iterable[Cue]:
    return [_cue(line) for lines in lists for line in lines]


def _cue(line: str) -> Cue:
    weight, pattern = line.split(" ", 1)
    cased = "[A-Z]" in pattern
    found = re.compile(pattern if cased else lowercase_pattern(pattern))
    return Cue(float(weight), found, cased, scripts.required_script(found.pattern))


def lowercase_pattern(pattern: str) -> str:
    r"""The pattern for a text in small letters; what is escaped (\W, \S) stays."""
    return re.sub(
        r"\\.|[^\\]+", lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), pattern
    )
