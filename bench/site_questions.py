"""Questions to the search page with and without an answer: what it says of them.

    python -m bench.site_questions

The site's own database holds the demo world and the rules with their vectors.
`site_questions.jsonl` has everyday questions that do not echo the words of their answers, and
questions about nothing in the world. Half of both chose the scales of
`memory_site.search_evidence`, the other half reports.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bench.django_apps  # noqa: F401
from memory_site.site_search import search_site
from worlds.audiences import GM
from worlds.models import World
from worlds.pages import Viewer

FOLDER = Path(__file__).parent
OWN = FOLDER / "data" / "site_questions.jsonl"
REAL = ("srd_en", "srd_ru", "srd_ko", "everyday", "lore", "numbers", "two_part", "stats")
"""Files of `bench/questions` whose questions all have an answer."""
HALVES = ("choosing", "reporting")


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each set with its questions."""
    for line in OWN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield ("everyday" if row["answers"] else "no answer"), row
    for name in REAL:
        lines = (FOLDER / "questions" / f"{name}.queries.jsonl").read_text(encoding="utf-8")
        for number, line in enumerate(lines.splitlines()):
            row = json.loads(line)
            language = row.get("language") or row["meta"]["language"]
            half = HALVES[number % 2]
            yield "others", {"question": row["text"], "language": language, "half": half}


def outcome(viewer: Viewer, question: dict[str, Any]) -> str:
    results = search_site(viewer, question["question"])
    if not results.kinds:
        return "nothing"
    return "answered" if results.is_answered else "nearest"


def main() -> None:
    viewer = Viewer(World.objects.get(slug="ferrymark"), "bench", True, GM, GM)
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for name, question in questions():
        counts[question["half"], name, question["language"], outcome(viewer, question)] += 1
    print("half, set, language: answered, nearest, nothing")
    for half, name, language in sorted({key[:3] for key in counts}):
        found = [counts[half, name, language, way] for way in ("answered", "nearest", "nothing")]
        print(f"{half}, {name}, {language}: {found}")


if __name__ == "__main__":
    main()
