"""Fit and measure which memories were outdated by newer ones: `python -m bench.updates`.

    python -m bench.updates                    # cross-validated on our own statements
    python -m bench.updates --fit              # fit to all of them, write updates.json
    python -m bench.updates --ask FILE         # ask the questions of a file, as shipped

The statements are groups about one subject (bench/data/statement_groups*.txt): `?` a question,
`1` its first answer, `=` the same in other words, `>` what holds later, `~` another statement in
nearly the same words, `+` and `*` other traits of the subject (`*` after a change), `-` and `/`
others of its kind (`/` after a change). Scenes mix a group with lines of three others. The
folds keep the scenes of a group together.

A row of FILE has `lang`, `memories` (`id`, `at`, `text`), `question`, and the ids `current` and
`former`. Its memories are added one by one by rules, then the question is asked.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bench.labelled_sets import DATA
from bench.scratch import connect
from bench.trees import Boosting

GROUPS = {"first": DATA / "statement_groups.txt"}
"""By author; `first` are our own. The model of pairs was trained on those of others."""
FOLDS, SCENES, PARTS = 5, 3, 2
BOOSTING = Boosting(trees=400, depth=2, rate=0.3)
LEAST = 0.65
TRIED = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7)
ANSWERS, UPDATE, STILL = ("1", "="), ">", "."


@dataclass(frozen=True)
class Scene:
    """Lines of (kind, text), oldest first; `x` is of another group, `.` of a store in which nothing
    changed."""

    group: int
    author: str
    question: str
    lines: Sequence[tuple[str, str]]
    is_whole: bool = True

    @property
    def is_still(self) -> bool:
        return any(kind == STILL for kind, _text in self.lines)


@dataclass(frozen=True)
class Candidates:
    """Pairs of lines, the older first, of one scene: of the `NEWER` nearest to the question, the
    older one among the `OLDER` nearest, as in a search."""

    scene: Scene
    pairs: Sequence[tuple[int, int]]
    signs: Sequence[Mapping[str, float]]
    cosines: Sequence[float]

    def is_update(self, pair: tuple[int, int]) -> bool:
        older, newer = (self.scene.lines[line][0] for line in pair)
        return older in ANSWERS and newer == UPDATE

    def is_same(self, pair: tuple[int, int]) -> bool:
        return {self.scene.lines[line][0] for line in pair} == set(ANSWERS)


def load_groups(file: Path) -> list[dict[str, str]]:
    groups: list[dict[str, str]] = []
    language = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        kind, text = line[:1], line[2:]
        if kind == "#":
            language = text.removeprefix("lang ")
        elif kind == "?":
            groups.append({"lang": language, "?": text})
        else:
            # Of two wordings the first.
            groups[-1].setdefault(kind, text)
    return groups


def load_authors() -> list[dict[str, str]]:
    """Return the groups of all authors."""
    return [
        {**group, "author": author}
        for author, file in GROUPS.items()
        for group in load_groups(file)
    ]


def make_scenes(groups: list[dict[str, str]]) -> Iterator[Scene]:
    """Yield for each group `SCENES` whole scenes, and `PARTS` in which lines are missing, more of
    other groups stand, or nothing has changed."""
    chance = random.Random(5)
    for number, group in [*enumerate(groups)] * SCENES:
        yield make_scene(number, group, groups, chance, is_whole=True)
    for number, group in [*enumerate(groups)] * PARTS:
        yield make_scene(number, group, groups, chance, is_whole=False)


def still_scenes() -> Iterator[Scene]:
    """Yield a scene for each question of the sets of abstention: the memories nearest to it, told
    in any order. None of them outdates another: most memories of a store are like these."""
    from bench.abstention import files_of, load_pairs
    from bench.statement_pairs import UNSEEN_QUESTIONS
    from memories.search.outdated import NEWER

    chance = random.Random(6)
    for author, files in UNSEEN_QUESTIONS.items():
        questions, memories = load_pairs([files_of(*pair) for pair in files])
        for language in ("en", "ru", "ko"):
            asked = [row["text"] for row in questions if row["language"] == language]
            told = [row["text"] for row in memories if row["language"] == language]
            for number, (question, nearest) in enumerate(nearest_texts(asked, told, NEWER)):
                # As many as in other scenes: their number must tell nothing.
                found = nearest[: chance.choice([4, 6, 8, 10, 12])]
                lines = [(STILL, text) for text in chance.sample(found, len(found))]
                yield Scene(number, f"still {author}", question, lines, is_whole=False)


def nearest_texts(
    questions: Sequence[str], texts: Sequence[str], count: int
) -> Iterator[tuple[str, list[str]]]:
    from retrieval.embedders import get_embedder

    embedder = get_embedder("memory")
    asked, stored = embedder.embed_query([*questions]), embedder.embed_document([*texts])
    for question, cosines in zip(questions, np.asarray(asked) @ np.asarray(stored).T, strict=True):
        yield question, [texts[at] for at in np.argsort(-cosines)[:count]]


def make_scene(
    number: int,
    group: dict[str, str],
    groups: list[dict[str, str]],
    chance: random.Random,
    *,
    is_whole: bool,
) -> Scene:
    places = {"1": 0.0, "-": chance.choice([1, 5]), "+": chance.choice([2, 4]), ">": 3.0}
    places["="] = chance.choice([1.5, 1.5, -1])
    places |= {"*": chance.choice([2.5, 6]), "/": chance.choice([2.2, 6.5])}
    if not is_whole:
        places = {kind: at for kind, at in places.items() if kind == "1" or chance.random() < 0.6}
    lines = [
        (place, kind, group[kind]) for kind, place in places.items() if kind in group and place >= 0
    ]
    others = [
        each
        for each in groups
        if (each["lang"], each["author"]) == (group["lang"], group["author"]) and each is not group
    ]
    for other in chance.sample(others, 3 if is_whole else chance.choice([0, 1, 4, 8])):
        lines.append((chance.random() * 7, "x", other[chance.choice("1+>")]))
    ordered = [(kind, text) for _, kind, text in sorted(lines)]
    return Scene(number, group["author"], group["?"], ordered, is_whole)


def pairs_of(scenes: list[Scene]) -> list[Candidates]:
    from memories.search.outdated import NEWER, OLDER
    from memories.similarity.updates import ComparedTexts, signs_of_updates
    from retrieval.embedders import get_embedder

    embedder = get_embedder("memory")
    texts = sorted({text for scene in scenes for _, text in scene.lines})
    questions = sorted({scene.question for scene in scenes})
    stated = dict(zip(texts, embedder.embed_document(texts), strict=True))
    asked = dict(zip(questions, embedder.embed_query(questions), strict=True))
    result = []
    for scene in scenes:
        own = [text for _, text in scene.lines]
        rows = np.array([stated[text] for text in own])
        relevance = rows @ asked[scene.question]
        found = sorted(np.argsort(-relevance)[:NEWER].tolist())
        first = set(np.argsort(-relevance)[:OLDER].tolist())
        rows = rows[found]
        pairs = [pair for pair in combinations(range(len(found)), 2) if found[pair[0]] in first]
        compared = ComparedTexts(
            scene.question, [own[at] for at in found], relevance[found], rows @ rows.T, pairs
        )
        of_pairs = signs_of_updates(compared)
        signs = [*of_pairs.values()]
        lines = [(found[one], found[two]) for one, two in of_pairs]
        result.append(Candidates(scene, lines, signs, relevance.tolist()))
    return result


def fit_trees(examples: list[Candidates]) -> dict[str, Any]:
    from memories.similarity.updates import FALLING, RISING

    rows, labels = [], []
    for each in examples:
        for pair, signs in zip(each.pairs, each.signs, strict=True):
            # What says the same in other words is no example: either order is right.
            if not each.is_same(pair):
                rows.append([*signs.values()])
                names = [*signs]
                labels.append(float(each.is_update(pair)))
    order = [1 if name in RISING else -1 if name in FALLING else 0 for name in names]
    fitted = BOOSTING.fit(np.array(rows), np.array(labels), np.ones(len(labels)), order=order)
    return {"signs": names, **fitted}


def model_of(trees: dict[str, Any]) -> dict[str, Any]:
    from retrieval.embedders import get_embedder

    return {"embedder": get_embedder("memory").name, "least": LEAST, **trees}


def print_held_out(examples: list[Candidates]) -> None:
    """Print, for several probabilities, what a question finds first and what is marked, by trees
    fitted to other groups."""
    folds = [each.scene.group % FOLDS for each in examples]
    probabilities = probabilities_held_out(examples, folds)
    changing = [
        (each, of_pairs)
        for each, of_pairs in zip(examples, probabilities, strict=True)
        if not each.scene.is_still
    ]
    for least in TRIED:
        print_judged(f"from {least}", changing, least=least)
    print_still(examples, probabilities)


def print_still(examples: Sequence[Candidates], probabilities: Sequence[Sequence[float]]) -> None:
    """Print of how many questions, to stores in which nothing changed, another memory comes first
    than by relevance."""
    still = [
        (each, of_pairs)
        for each, of_pairs in zip(examples, probabilities, strict=True)
        if each.scene.is_still
    ]
    for least in TRIED:
        displaced = [judge(each, of_pairs, least=least)["displaced"] for each, of_pairs in still]
        share = np.mean(displaced)
        print(f"nothing changed, from {least}: another first {share:.3f}")


def probabilities_held_out(examples: list[Candidates], folds: Sequence[object]) -> list[Any]:
    from memories.similarity.updates import UpdateModel

    probabilities: list[Any] = [None] * len(examples)
    for fold in dict.fromkeys(folds):
        training = [each for each, own in zip(examples, folds, strict=True) if own != fold]
        model = UpdateModel.of(model_of(fit_trees(training)))
        for number, each in enumerate(examples):
            if folds[number] == fold:
                probabilities[number] = model.probabilities(each.signs) if each.pairs else []
    return probabilities


def print_judged(
    name: str, judged: Sequence[tuple[Candidates, Sequence[float]]], *, least: float
) -> None:
    counts: Counter[str] = Counter()
    partly: Counter[str] = Counter()
    for each, of_pairs in judged:
        of = counts if each.scene.is_whole else partly
        of += judge(each, of_pairs, least=least)
        of["questions"] += 1
    total = counts["questions"]
    marked = counts["marked"] / counts["former"]
    precision = counts["marked"] / max(counts["marked"] + counts["wrong"], 1)
    print(
        f"{name}: current first {counts['first'] / total:.2f} (by relevance alone "
        f"{counts['first by relevance'] / total:.2f}), former marked {marked:.2f}, "
        f"precision {precision:.2f} ({counts['wrong']} wrong in {total} questions; of scenes in "
        f"part {partly['wrong']} in {partly['questions']})"
    )


def judge(each: Candidates, probabilities: Sequence[float], *, least: float) -> Counter[str]:
    kinds = [kind for kind, _ in each.scene.lines]
    newer: dict[int, int] = {}
    order = np.argsort(-np.asarray(probabilities))
    for at in order:
        older, later = each.pairs[at]
        if probabilities[at] >= least:
            newer.setdefault(older, later)
    best = top = int(np.argmax(each.cosines))
    while top in newer:
        top = newer[top]
    former = [line for line, kind in enumerate(kinds) if kind in ANSWERS]
    marked = [line for line in former if line in newer and kinds[newer[line]] == UPDATE]
    wrong = [
        line
        for line, later in newer.items()
        if not (kinds[line] in ANSWERS and kinds[later] in (UPDATE, *ANSWERS))
    ]
    return Counter(
        {
            "first": kinds[top] == UPDATE,
            "displaced": top != best,
            "first by relevance": kinds[best] == UPDATE,
            "former": len(former),
            "marked": len(marked),
            "wrong": len(wrong),
        }
    )


def ask_file(path: Path) -> None:
    """Print how often the current memory is first, and the former ones marked, by language."""
    from memories import namespaces
    from memories.buckets.read_pipeline import ReadPipeline
    from memories.haema import Memory
    from memories.search import recall
    from worlds.models import World

    world, _ = World.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    counts: dict[str, Counter[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name = f"updates-{row['id']}-{time.time_ns()}"
        namespace = namespaces.get_or_create_namespace(world, name)
        namespace.language = row["lang"]
        namespace.save()
        memory = Memory(world="bench", namespace=name)
        for given in sorted(row["memories"], key=lambda each: each["at"]):
            memory.add([given["text"]])
        ids = {given["text"]: given["id"] for given in row["memories"]}
        found = recall.search(namespace, row["question"], limit=10).memories
        answer = ReadPipeline(namespace, abstains=False).query(row["question"])
        shown = [one.memory for one in answer.memories]
        for way, memories in (("search", found), ("query", shown)):
            for language in (row["lang"], "all"):
                count = counts.setdefault(f"{way} {language}", Counter())
                count["questions"] += 1
                count["first"] += bool(memories) and ids.get(memories[0].text) == row["current"]
                former = [one for one in memories if ids.get(one.text) in row["former"]]
                count["former shown"] += len(former)
                count["marked"] += sum(one.newer is not None for one in former)
                others = [one for one in memories if ids.get(one.text) not in row["former"]]
                count["others marked"] += sum(one.newer is not None for one in others)
    for name, count in sorted(counts.items()):
        print(name, dict(count))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--ask", type=Path)
    options = parser.parse_args()
    connect("memory37_updates_bench")
    if options.ask:
        return ask_file(options.ask)
    examples = pairs_of([*make_scenes(load_authors()), *still_scenes()])
    if options.fit:
        from memories.similarity.updates import MODEL_FILE

        data = model_of(fit_trees(examples))
        MODEL_FILE.write_text(json.dumps(data) + "\n", encoding="utf-8")
        print(f"{len(examples)} scenes, {len(data['value'])} trees in {MODEL_FILE}")
        return None
    return print_held_out(examples)


if __name__ == "__main__":
    main()
