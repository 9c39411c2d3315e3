"""Agent memory without a language model: sorting, intents, abstention. Prints the numbers of the reporting half.

python -m bench.agent_memory            # with the embedder of the settings
python -m bench.agent_memory --fit      # fit the abstention threshold to the tuning half, print the line for it
"""

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.labelled import DATA, rows
from memories import standalone
from memories.buckets.abstaining import Seen, Signs, Threshold, signs, threshold_for
from memories.buckets.cues import shipped
from retrieval.embedders import get_embedder

CANDIDATES = 100


@dataclass(frozen=True)
class Judged:
    """One question with its signs, whether it has an answer, and whether that stands among the first three."""

    signs: Signs
    answerable: bool
    found: bool
    half: str
    language: str


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    right = Counter(wanted for wanted, got in pairs if wanted == got)
    wanted, got = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return sum(2 * right[label] / (wanted[label] + got[label]) for label in wanted) / len(wanted)


def sorting(file: str, label: str, table: str) -> None:
    judge: Callable[[str], str] = lambda text: shipped(table).judge(text).label  # noqa: E731
    for half in ("tuning", "reporting"):
        pairs = [(row[label].lower(), judge(row["text"])) for row in rows(DATA / file, half=half)]
        accuracy = sum(wanted == got for wanted, got in pairs) / len(pairs)
        print(f"{table:<10} {half:<10} macro F1 {macro_f1(pairs):.3f}  accuracy {accuracy:.3f}  ({len(pairs)})")


def judged() -> list[Judged]:
    """Ask every question of everything that is remembered."""
    embedder = get_embedder("memory")
    memories = rows(DATA / "abstention_memories.jsonl")
    questions = rows(DATA / "abstention_questions.jsonl")
    stored = np.asarray(embedder.embed_document([memory["text"] for memory in memories]))
    asked = np.asarray(embedder.embed_query([question["text"] for question in questions]))
    return [_judged(question, memories, cosines) for question, cosines in zip(questions, asked @ stored.T, strict=True)]


def _judged(question: dict[str, Any], memories: list[dict[str, Any]], cosines: Any) -> Judged:
    order = np.argsort(-cosines)[:CANDIDATES]
    seen = [Seen(memories[place]["text"], float(cosines[place])) for place in order]
    first = {memories[place]["id"] for place in order[:3]}
    return Judged(
        signs(question["text"], seen), question["answerable"], bool(first & set(question["relevant_ids"])),
        question["half"], question["language"],
    )  # fmt: skip


def fit(questions: list[Judged]) -> Threshold:
    """Logistic weights of the signs; then the least support that serves the tuning half best."""
    from sklearn.linear_model import LogisticRegression

    tuning = [one for one in questions if one.half == "tuning"]
    table = np.array([[one.signs.cosine, one.signs.coverage, one.signs.lead] for one in tuning])
    model = LogisticRegression(C=30.0).fit(table, [one.answerable for one in tuning])
    cosine, coverage, lead = (round(float(value), 3) for value in model.coef_[0])
    drawn = Threshold(cosine, coverage, lead, round(float(model.intercept_[0]), 3), 0.0)
    return Threshold(cosine, coverage, lead, drawn.bias, _best_least(drawn, tuning))


def _best_least(drawn: Threshold, tuning: list[Judged]) -> float:
    """Where the share answered rightly exceeds the share recalled falsely by most."""

    def advantage(least: float) -> float:
        yes = [drawn.support(one.signs) >= least for one in tuning if one.answerable]
        no = [drawn.support(one.signs) >= least for one in tuning if not one.answerable]
        return sum(yes) / len(yes) - sum(no) / len(no)

    return max((round(step * 0.01, 2) for step in range(1, 100)), key=advantage)


def abstention(questions: list[Judged], threshold: Threshold) -> None:
    for half in ("tuning", "reporting"):
        for language in ("en", "ru", "ko", ""):
            some = [one for one in questions if one.half == half and (not language or one.language == language)]
            _print_rates(f"{half} {language or 'all'}", some, threshold)


def _print_rates(name: str, questions: list[Judged], threshold: Threshold) -> None:
    answered = [threshold.support(one.signs) >= threshold.least for one in questions]
    pairs = list(zip(questions, answered, strict=True))
    yes = [said for one, said in pairs if one.answerable]
    no = [said for one, said in pairs if not one.answerable]
    found = [one.found for one in questions if one.answerable]
    print(
        f"abstention {name:<14} answered {sum(yes) / len(yes):.3f}  false recall {sum(no) / len(no):.3f}  "
        f"answer among first three {sum(found) / len(found):.3f}  ({len(questions)})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    standalone.ensure_tables()
    sorting("events.jsonl", "bucket", "buckets")
    sorting("intents.jsonl", "intent", "intents")
    name = get_embedder("memory").name
    questions = judged()
    threshold = fit(questions) if options.fit else threshold_for(name)
    print(f'"{name}": {vars(threshold)}')
    abstention(questions, threshold)


if __name__ == "__main__":
    main()
