"""Whether a newer memory took the place of an older one, as far as a question goes: "Where is the
smith?", "He works behind the temple", "He hammers down at the ford since the temple threw him out".

Texts that share no words need more than a comparison of words. A model reads the question with each
memory and the memories in pairs (`memories.similarity.pairs`); gradient-boosted trees over what it
makes of them and over the cosines of their vectors give a probability. They are fitted by
`bench.updates` to statements in three languages that the model of pairs was not trained on, for one
embedder, and stored as plain numbers.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from memories.similarity.pairs import logit, read_together
from memories.similarity.trees import BoostedTrees
from retrieval.embedders import Vectors

MODEL_FILE = Path(__file__).parent / "updates.json"
LEAST_COSINE, LEAST_ANSWER, LEAST_OUTDATED = 0.15, -5.2, -6.0
"""Of the updates in bench/data one in a hundred is below each of these, of other pairs a third to a
half: the cosine of both memories, the log odds that the newer one answers, and those that it
outdates the older one. What is below is not read further."""

RISING = frozenset(
    [
        *("outdated", "older_answers", "newer_answers", "older_share", "newer_share"),
        *("cosine", "older_relevance"),
    ]
)
FALLING = frozenset(["outdates_newer"])
"""More of these signs never makes an update less probable, or more: trees would find in them what
is rare in the statements that they are fitted to."""

TextPair = tuple[int, int]
"""The positions of an older and a newer text."""


@dataclass(frozen=True)
class ComparedTexts:
    """A question and the memories found for it, with the cosines of the vectors of each with the
    question, (texts,), and with one another, (texts, texts). `pairs`: what may be an older memory
    and its update, as far as times and subjects tell."""

    question: str
    texts: Sequence[str]
    relevance: Vectors
    between: Vectors
    pairs: Sequence[TextPair]

    @cached_property
    def near_pairs(self) -> list[TextPair]:
        return [pair for pair in self.pairs if self.between[pair] >= LEAST_COSINE]

    @cached_property
    def answers(self) -> dict[int, float]:
        """How far each text of a near pair answers the question, as log odds, by its position."""
        positions = sorted({position for pair in self.near_pairs for position in pair})
        return {at: logit(read_together(self.question, self.texts[at]).answers) for at in positions}


def signs_of_updates(compared: ComparedTexts) -> dict[TextPair, dict[str, float]]:
    """Return the signs that the trees read, by name, of each pair for which anything speaks."""
    return {
        (older, newer): signs_of_update(compared, older, newer)
        for older, newer in compared.near_pairs
        if compared.answers[newer] >= LEAST_ANSWER
        and logit(read_together(compared.texts[older], compared.texts[newer]).outdated)
        >= LEAST_OUTDATED
    }


def signs_of_update(compared: ComparedTexts, older: int, newer: int) -> dict[str, float]:
    forward = read_together(compared.texts[older], compared.texts[newer])
    backward = read_together(compared.texts[newer], compared.texts[older])
    answers, best = compared.answers, max(compared.answers.values())
    highest = max(float(compared.relevance.max()), 1e-9)
    return {
        "outdated": logit(forward.outdated),
        "outdates_newer": logit(backward.outdated),
        "older_answers": answers[older],
        "newer_answers": answers[newer],
        "older_share": answers[older] - best,
        "newer_share": answers[newer] - best,
        "cosine": float(compared.between[older, newer]),
        "older_relevance": float(compared.relevance[older]) / highest,
    }


@dataclass(frozen=True)
class UpdateModel:
    """The trees with the names of their signs in order, the embedder that they were fitted for, and
    the probability from which a memory is shown as possibly outdated."""

    embedder: str
    least: float
    signs: tuple[str, ...]
    trees: BoostedTrees

    @classmethod
    def of(cls, data: dict[str, Any]) -> "UpdateModel":
        return cls(data["embedder"], data["least"], tuple(data["signs"]), BoostedTrees.of(data))

    def probabilities(self, signs: Iterable[Mapping[str, float]]) -> NDArray[Any]:
        """Return the probability of an update for the signs of each pair, 0 to 1."""
        return self.trees.probabilities([[each[name] for name in self.signs] for each in signs])


@cache
def update_model() -> UpdateModel:
    return UpdateModel.of(json.loads(MODEL_FILE.read_text(encoding="utf-8")))
