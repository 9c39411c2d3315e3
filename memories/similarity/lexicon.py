"""Words that decide whether two sentences say the same: data in `lexicon.yaml`, in English,
Russian and Korean."""

from pathlib import Path
from typing import Any

import yaml

_WORDS: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "lexicon.yaml").read_text(encoding="utf-8")
)

NUMBER_WORDS = {
    word: number for number, words in _WORDS["numbers"].items() for word in words.split()
}
NEGATIONS, TIME_WORDS, FUNCTION_WORDS, PASSIVE = (
    frozenset(_WORDS[name].split()) for name in ("negations", "times", "function_words", "passive")
)
OPPOSITES = [tuple(pair.split("/")) for pair in _WORDS["opposites"].split()]
SYNONYMS = [frozenset(group.split()) for group in _WORDS["synonyms"]]
