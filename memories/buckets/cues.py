"""Words and endings that speak for a bucket or an intent: data in `cues.yaml`, in three languages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from memories.buckets import scripts

SHIPPED = Path(__file__).parent / "cues.yaml"
LONGEST = 2000
"""Characters looked at: what a text is about stands in its beginning."""


@dataclass(frozen=True)
class Cue:
    """`cased`: capitals matter. Else the pattern is in small letters and so is what it is matched with: three times as
    fast as a pattern that ignores case."""

    weight: float
    pattern: re.Pattern[str]
    cased: bool
    needs: str = ""
    """The script (`scripts.SCRIPTS`) without a letter of which the pattern cannot match; empty: none."""


@dataclass(frozen=True)
class Verdict:
    """The label with most weight. `sureness` is its lead over the next, as a share of both, from 0 to 1."""

    label: str
    sureness: float
    weights: Mapping[str, float]


def verdict(weights: Mapping[str, float]) -> Verdict:
    """Return the label with most weight, the first of equals."""
    first, second, *_ = sorted(weights.values(), reverse=True)
    label = next(label for label, weight in weights.items() if weight == first)
    return Verdict(label, (first - second) / (first + second) if first else 0.0, weights)


@dataclass(frozen=True)
class Cues:
    """Labels with their cues."""

    by_label: Mapping[str, tuple[Cue, ...]]

    def weigh(self, text: str) -> dict[str, float]:
        seen = text[:LONGEST]
        small, present = seen.lower(), scripts.of(seen)
        return {
            label: sum(
                cue.weight
                for cue in cues
                if cue.needs in present and cue.pattern.search(seen if cue.cased else small)
            )
            for label, cues in self.by_label.items()
        }

    def judge(self, text: str) -> Verdict:
        return verdict(self.weigh(text))

    def extended(self, more: Mapping[str, Iterable[str]]) -> "Cues":
        """Return these cues and `more`: lines of "weight regex" by label; new labels are welcome."""
        added = {label: tuple(map(_cue, lines)) for label, lines in more.items()}
        labels = [*self.by_label, *(label for label in added if label not in self.by_label)]
        return Cues(
            {label: (*self.by_label.get(label, ()), *added.get(label, ())) for label in labels}
        )


@cache
def shipped(table: str) -> Cues:
    """The cues of `table`: "buckets" or "intents"."""
    return read(SHIPPED, table)


def read(path: Path, table: str) -> Cues:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))[table]
    return Cues({label: tuple(_cues(languages.values())) for label, languages in data.items()})


def _cues(lists: Iterable[list[str]]) -> Iterable[Cue]:
    return [_cue(line) for lines in lists for line in lines]


def _cue(line: str) -> Cue:
    weight, pattern = line.split(" ", 1)
    cased = "[A-Z]" in pattern
    found = re.compile(pattern if cased else in_small_letters(pattern))
    return Cue(float(weight), found, cased, scripts.needed(found.pattern))


def in_small_letters(pattern: str) -> str:
    r"""The pattern for a text in small letters; what is escaped (\W, \S) stays."""
    return re.sub(
        r"\\.|[^\\]+", lambda found: found[0] if found[0][0] == "\\" else found[0].lower(), pattern
    )
