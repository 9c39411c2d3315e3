"""Questions to the search page with and without an answer: what it says of them.

    python -m bench.site_questions [--fit] [--world BOOK=WORLD …]

The site's own database holds the demo world and the rules with their vectors.
`site_questions.jsonl` has everyday questions that do not echo the words of their answers, and
questions about nothing in the world. `site_questions_of_books.jsonl` has more of both, also for
books that are not in the repository: a world that plays by such a book is named with `--world`
(`--world cairn=my-cairn-world --world ironsworn=iron`).

`--fit` fits the weights of `memory_site.search_evidence` to the half of `site_questions.jsonl` for
choosing and to the other file, except questions that name what they find. The other half reports.
"""

import json
import math
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import bench.django_apps  # noqa: F401
from memory_site import search_evidence
from memory_site.search_evidence import CYRILLIC, HANGUL, LATIN, FoundText
from memory_site.site_search import search_site
from worlds.audiences import GM
from worlds.models import World
from worlds.pages import Viewer

FOLDER = Path(__file__).parent
OWN = FOLDER / "data" / "site_questions.jsonl"
OF_BOOKS = FOLDER / "data" / "site_questions_of_books.jsonl"
REAL = ("srd_en", "srd_ru", "srd_ko", "everyday", "lore", "numbers", "two_part", "stats")
"""Files of `bench/questions` whose questions all have an answer."""
HALVES = ("choosing", "reporting")
DEMO = "demo"
RIDGE = 0.3


def questions(worlds: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each set with its questions; `worlds` are the slugs by book."""
    for row in rows_of(OWN):
        name = "everyday" if row["answers"] else "no answer"
        yield name, {**row, "world": worlds[DEMO]}
    for row in rows_of(OF_BOOKS):
        if slug := worlds.get(row["book"]):
            name = f"{row['book']}, " + ("everyday" if row["answers"] else "no answer")
            yield name, {**row, "world": slug, "half": "choosing"}
    for name in REAL:
        for number, row in enumerate(rows_of(FOLDER / "questions" / f"{name}.queries.jsonl")):
            language = row.get("language") or row["meta"]["language"]
            half = HALVES[number % 2]
            asked = {"question": row["text"], "language": language, "half": half}
            yield "others", {**asked, "world": worlds[DEMO]}


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def viewer_of(slug: str) -> Viewer:
    return Viewer(World.objects.get(slug=slug), "bench", True, GM, GM)


def outcome(question: dict[str, Any]) -> str:
    results = search_site(viewer_of(question["world"]), question["question"])
    if not results.kinds:
        return "nothing"
    return "answered" if results.is_answered else "nearest"


def report(worlds: Mapping[str, str]) -> None:
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for name, question in questions(worlds):
        counts[question["half"], name, question["language"], outcome(question)] += 1
    print("half, set, language: answered, nearest, nothing")
    for half, name, language in sorted({key[:3] for key in counts}):
        found = [counts[half, name, language, way] for way in ("answered", "nearest", "nothing")]
        print(f"{half}, {name}, {language}: {found}")


def fit(worlds: Mapping[str, str]) -> None:
    """Print the weights in the order of `EvidenceWeights`: constants and cosines by script, words,
    reading, size."""
    signs: list[list[float]] = []
    labels: list[float] = []

    def note(question: str, found: Sequence[FoundText], passages: int) -> bool:
        if found:
            signs.append(signs_of(question, found, passages))
        return True

    with patch("memory_site.site_search.has_evidence", note):
        for name, question in questions(worlds):
            if question["half"] == "choosing" and name != "others":
                search_site(viewer_of(question["world"]), question["question"])
                labels += [float(bool(question["answers"]))] * (len(signs) - len(labels))
    weights = logistic_weights(np.array(signs), np.array(labels))
    print(len(labels), "questions:", [round(float(each), 2) for each in weights])


def signs_of(question: str, found: Sequence[FoundText], passages: int) -> list[float]:
    script = search_evidence.script_of(question)
    cosine = max(each.cosine for each in found)
    least, most = search_evidence.SIZES
    texts = (each.text for each in found if each.is_first)
    return [
        *(float(script == each) for each in (LATIN, CYRILLIC, HANGUL)),
        cosine * (script == LATIN),
        cosine * (script != LATIN),
        math.log1p(max(each.words for each in found)),
        search_evidence.read_answers(question, texts),
        math.log10(min(max(passages, least), most) / 1_000),
    ]


def logistic_weights(signs: Any, labels: Any, steps: int = 200) -> Any:
    """Newton's method for a logistic regression with the ridge `RIDGE`."""
    weights = np.zeros(signs.shape[1])
    for _step in range(steps):
        chances = 1 / (1 + np.exp(-signs @ weights))
        gradient = signs.T @ (chances - labels) + RIDGE * weights
        curvature = (signs.T * (chances * (1 - chances))) @ signs
        weights -= np.linalg.solve(curvature + RIDGE * np.eye(len(weights)), gradient)
    return weights


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--world", action="append", default=[], metavar="BOOK=WORLD")
    options = parser.parse_args()
    worlds = {DEMO: "ferrymark", **dict(each.split("=", 1) for each in options.world)}
    (fit if options.fit else report)(worlds)


if __name__ == "__main__":
    main()
