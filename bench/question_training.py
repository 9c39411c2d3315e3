"""Train the model of questions to memories (`memories/search/question_reader.py`):
`python -m bench.question_training [--write FILE] [--hold-out NAME …]`.

It needs `jax` and `optax` (requirements-training.txt). Weights of multilingual-e5-small stay as they
are; what is trained are thin matrices beside those of its upper layers (`bench.adapter_training`)
and a head that says by how much the vector of a question is moved. The vectors of memories are those
of the embedder and stay too. The loss is the cross entropy of the memories that answer among all
memories in the language of the question, and the squared length of the move.

Questions are those of `bench.abstention`, `question_pairs_*.jsonl`, `pair_groups_*.txt` and
`statement_groups_f.txt`. Of authors that are held out, and of own words and short memories, to
which nothing is fitted, the figures are printed with vectors alone.
"""

import argparse
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import django
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from bench.adapter_training import (
    BATCH,
    Encoder,
    Tree,
    drop_keys,
    first_adapter,
    grouped_by_length,
    hidden_states,
    load_adapter,
    train,
    write_adapter,
)
from bench.labelled_sets import DATA, load_rows, own_memory_sets
from bench.metrics import measures_of
from bench.statement_pairs import marked_groups

Floats = NDArray[np.floating[Any]]
LANGUAGES = ("en", "ru", "ko")
MEASURED = ("ru", "ko")
SHARPNESS = 20.0
"""Of the softmax over cosines."""
DIMS = 896
PAIRS = "question_pairs_*.jsonl"


@dataclass
class Asked:
    """Questions in one language by one author, the memories that they are asked of, and for each
    question which memories answer it and which may (neither right nor wrong)."""

    author: str
    language: str
    questions: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    answers: list[list[int]] = field(default_factory=list)
    may_answer: list[list[int]] = field(default_factory=list)

    def add(self, question: str, answers: Sequence[int], may: Sequence[int] = ()) -> None:
        self.questions.append(question)
        self.answers.append([*answers])
        self.may_answer.append([*may])

    def memory(self, text: str) -> int:
        if text not in self.memories:
            self.memories.append(text)
        return self.memories.index(text)


def asked_sets() -> list[Asked]:
    from bench.abstention import SETS, files_of, load_pairs

    sets = []
    for name, files in SETS.items():
        questions, memories = load_pairs([files_of(*pair) for pair in files])
        sets += [of_abstention(name, language, questions, memories) for language in LANGUAGES]
    sets += [of_pairs(path) for path in sorted(DATA.glob(PAIRS))]
    sets += [of_groups(path) for path in sorted(DATA.glob("pair_groups_*.txt"))]
    sets += of_statements(DATA / "statement_groups_f.txt")
    return [each for each in sets if each.questions]


def of_abstention(name: str, language: str, questions: Any, memories: Any) -> Asked:
    own = [row for row in memories if row["language"] == language]
    numbers = {row["id"]: number for number, row in enumerate(own)}
    found = Asked(name, language, memories=[row["text"] for row in own])
    for row in questions:
        if row["language"] == language and row["answerable"]:
            found.add(row["text"], [numbers[id_] for id_ in row["relevant_ids"]])
    return found


def of_pairs(path: Path) -> Asked:
    rows = load_rows(path)
    found = Asked(path.stem, path.stem.split("_")[2], memories=[row["memory"] for row in rows])
    for number, row in enumerate(rows):
        found.add(row["question"], [number])
    return found


def of_groups(path: Path) -> Asked:
    found = Asked(path.stem, path.stem.split("_")[2])
    for group in marked_groups(path, "1"):
        by_mark = {mark: [*map(found.memory, texts)] for mark, texts in group.items() if mark != "x"}
        questions = group.get("q", [])
        for question in questions:
            may = [number for mark in "^>!~" for number in by_mark.get(mark, [])]
            found.add(question, [*by_mark["1"], *by_mark.get("=", [])], may)
    return found


def of_statements(path: Path) -> list[Asked]:
    from retrieval.text import guess_language

    sets = {language: Asked("statements_f", language) for language in LANGUAGES}
    for group in marked_groups(path, "?"):
        found = sets[guess_language(group["?"][0])]
        by_mark = {mark: [*map(found.memory, texts)] for mark, texts in group.items() if mark != "?"}
        for question in group["?"]:
            answers = [number for mark in "1=>" for number in by_mark.get(mark, [])]
            found.add(question, answers, by_mark.get("~", []))
    return [*sets.values()]


def own_sets() -> list[Asked]:
    sets = []
    for dataset in own_memory_sets():
        for language in LANGUAGES:
            asked = [each for each in dataset.questions if each.meta["lang"] == language]
            for scope in dict.fromkeys(each.scope for each in asked):
                documents = [each for each in dataset.documents if each.scope == scope]
                numbers = {each.id: number for number, each in enumerate(documents)}
                found = Asked(
                    f"{dataset.name} {scope}", language, memories=[each.text for each in documents]
                )
                for each in asked:
                    if each.scope == scope:
                        found.add(each.text, [numbers[id_] for id_ in each.relevant])
                sets.append(found)
    return sets


class Vectors:
    """Vectors of texts, of the parts of USE and e5, English texts read as those in other scripts
    are; kept in a file between runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[tuple[str, str], Floats] = {}
        if path.exists():
            with np.load(path, allow_pickle=True) as file:
                keys = [(str(op), str(text)) for op, text in file["keys"]]
                self._known = dict(zip(keys, file["rows"], strict=True))

    def of(self, texts: Sequence[str], *, op: str) -> Floats:
        from retrieval.embedders.local import OTHER_SHARES, embed_e5, embed_use

        new = [text for text in dict.fromkeys(texts) if (op, text) not in self._known]
        for start in range(0, len(new), 64):
            part = new[start : start + 64]
            not_latin = np.zeros(len(part), dtype=bool)
            rows = np.hstack(
                [
                    embed_use(part, not_latin) * np.sqrt(OTHER_SHARES[op]["use"]),
                    embed_e5(part, not_latin, op=op) * np.sqrt(OTHER_SHARES[op]["e5"]),
                ]
            )
            self._known.update(zip(((op, text) for text in part), rows, strict=True))
        return np.array([self._known[op, text] for text in texts], np.float32)

    def save(self) -> None:
        np.savez(
            self._path,
            keys=np.array([*self._known], dtype=object),
            rows=np.array([*self._known.values()]),
        )


@dataclass(frozen=True)
class Examples:
    """Questions as tokens, their vectors, the vectors of all memories of each language, and by
    question which of these answer it (rows that sum to 1) and which count as wrong (0 or 1)."""

    language: str
    tokens: list[list[int]]
    vectors: Floats
    memories: Floats
    answers: Floats
    counts: Floats


def examples_of(
    sets: Sequence[Asked], language: str, encoder: Encoder, vectors: Vectors
) -> Examples:
    chosen = [each for each in sets if each.language == language]
    width = sum(len(each.memories) for each in chosen)
    rows, counts, start = [], [], 0
    for each in chosen:
        for answers, may in zip(each.answers, each.may_answer, strict=True):
            row, own_counts = np.zeros(width, np.float32), np.ones(width, np.float32)
            row[[start + number for number in answers]] = 1 / len(answers)
            own_counts[[start + number for number in may]] = 0
            rows.append(row)
            counts.append(own_counts)
        start += len(each.memories)
    questions = [question for each in chosen for question in each.questions]
    return Examples(
        language,
        [tokens_of(encoder, question) for question in questions],
        vectors.of(questions, op="query"),
        np.vstack([vectors.of(each.memories, op="document") for each in chosen]),
        np.array(rows),
        np.array(counts),
    )


def padded_to_all(sets: Sequence[Examples]) -> list[Examples]:
    """Return the examples, each beside the memories of all languages (one shape is compiled); those
    of other languages do not count."""
    memories = np.vstack([each.memories for each in sets])
    found, start = [], 0
    for each in sets:
        answers, counts = (
            np.zeros((len(each.tokens), len(memories)), np.float32) for _which in range(2)
        )
        own = slice(start, start + len(each.memories))
        answers[:, own], counts[:, own] = each.answers, each.counts
        found.append(
            Examples(each.language, each.tokens, each.vectors, memories, answers, counts)
        )
        start += len(each.memories)
    return found


def tokens_of(encoder: Encoder, question: str) -> list[int]:
    return encoder.tokenizer.encode("query: " + question).ids[:128]


def moved(
    adapter: Tree, batch: Mapping[str, jax.Array], encoder: Encoder, keys: Any
) -> tuple[jax.Array, jax.Array]:
    """Return the vectors of questions, moved and of length 1, and the moves."""
    states = hidden_states(adapter, batch, encoder=encoder, keys=keys)
    mask = batch["mask"][:, :, None]
    mean = (states * mask).sum(1) / mask.sum(1)
    move = mean @ adapter["head"] + adapter["head_bias"]
    rows = batch["vectors"] + move
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True), move


def loss_of(
    adapter: Tree,
    batch: Mapping[str, jax.Array],
    key: jax.Array,
    *,
    encoder: Encoder,
    memories: jax.Array,
    pull: float,
) -> jax.Array:
    rows, move = moved(adapter, batch, encoder, drop_keys(encoder, key))
    scores = SHARPNESS * rows @ memories.T
    scores = scores - 1e9 * (1 - batch["counts"])
    # All answers of a question are one event: whichever comes first is right.
    right = jax.nn.logsumexp(jnp.where(batch["answers"] > 0, scores, -1e9), axis=1)
    lost = jax.nn.logsumexp(scores, axis=1) - right
    weights = batch["counts_row"]
    loss = lost + pull * (move**2).sum(1)
    return (loss * weights).sum() / weights.sum()


def batches(
    encoder: Encoder, sets: Sequence[Examples], chance: random.Random | None
) -> Iterator[dict[str, jax.Array]]:
    every = [
        (examples, numbers)
        for examples in sets
        for numbers in grouped_by_length([*map(len, examples.tokens)], chance)
    ]
    if chance:
        chance.shuffle(every)
    for examples, numbers in every:
        yield batch_of(encoder, examples, numbers)


def batch_of(
    encoder: Encoder, examples: Examples, numbers: Sequence[int]
) -> dict[str, jax.Array]:
    padded = [*numbers, *[numbers[0]] * (BATCH - len(numbers))]
    inputs = encoder.state_inputs([examples.tokens[at] for at in numbers])
    return inputs | {
        "vectors": jnp.asarray(examples.vectors[padded]),
        "answers": jnp.asarray(examples.answers[padded]),
        "counts": jnp.asarray(examples.counts[padded]),
        "counts_row": jnp.asarray([1.0] * len(numbers) + [0.0] * (BATCH - len(numbers))),
    }


def read_all(adapter: Tree, encoder: Encoder, examples: Examples) -> Floats:
    keys = drop_keys(encoder, None)
    read = jax.jit(lambda batch: moved(adapter, batch, encoder, keys)[0])
    rows = np.zeros_like(examples.vectors)
    for numbers in grouped_by_length([*map(len, examples.tokens)], None):
        batch = batch_of(encoder, examples, numbers)
        rows[numbers] = np.asarray(
            read({key: batch[key] for key in ("words", "mask", "vectors")})
        )[: len(numbers)]
    return rows


def print_figures(
    adapter: Tree, encoder: Encoder, sets: Sequence[Asked], vectors: Vectors
) -> None:
    """Print how often an answer is first, and nDCG@10, before and after; in the scope of a set."""
    names = dict.fromkeys((each.author.split(" ")[0], each.language) for each in sets)
    for name, language in names:
        rows = []
        for each in sets:
            if (each.author.split(" ")[0], each.language) == (name, language):
                examples = examples_of([each], language, encoder, vectors)
                after = read_all(adapter, encoder, examples)
                rows += [
                    (*one, *other)
                    for one, other in zip(
                        measure(examples, examples.vectors), measure(examples, after), strict=True
                    )
                ]
        first, gain, first_after, gain_after = np.mean(rows, axis=0)
        print(
            f"{name} {language} ({len(rows)}): {first:.3f} ({gain:.3f}) → "
            f"{first_after:.3f} ({gain_after:.3f})",
            flush=True,
        )


def measure(examples: Examples, questions: Floats) -> list[tuple[float, float]]:
    """Return for each question whether its answer is first, and its nDCG@10."""
    scores = questions @ examples.memories.T - 9 * (1 - examples.counts)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    rows = []
    for best, answers in zip(order, examples.answers, strict=True):
        relevant = frozenset(map(str, np.flatnonzero(answers)))
        gain = measures_of([str(place) for place in best], relevant)["nDCG@10"]
        rows.append((float(answers[best[0]] > 0), gain))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--hold-out", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--head-rate", type=float, default=1.0)
    parser.add_argument("--pull", type=float, default=1.0)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    django.setup()
    encoder, vectors = Encoder.load(), Vectors(Path("var/bench/question_vectors.npz"))
    sets = asked_sets()
    held = [each for each in sets if each.author in options.hold_out]
    used = [each for each in sets if each.author not in options.hold_out]
    examples = [examples_of(used, language, encoder, vectors) for language in LANGUAGES]
    vectors.save()
    print({each.language: (len(each.tokens), len(each.memories)) for each in examples}, flush=True)
    examples = padded_to_all(examples)
    memories = jnp.asarray(examples[0].memories)
    if options.start:
        adapter = load_adapter(options.start)
    else:
        adapter = first_adapter(encoder, {"head": (encoder.file.shape.hidden, DIMS)})
        adapter["head"] *= 0.05
    chance = random.Random(3)
    steps = options.epochs * sum(1 for _ in batches_count(examples))
    adapter = train(
        adapter,
        partial(loss_of, encoder=encoder, memories=memories, pull=options.pull),
        (batches(encoder, examples, chance) for _epoch in range(options.epochs)),
        steps=steps,
        rate=options.rate,
        head_rate=options.head_rate,
    )
    if options.write:
        write_adapter(adapter, options.write)
    print_figures(adapter, encoder, held, vectors)
    print_figures(adapter, encoder, own_sets(), vectors)


def batches_count(sets: Sequence[Examples]) -> Iterator[int]:
    for examples in sets:
        for numbers in grouped_by_length([*map(len, examples.tokens)], None):
            yield len(numbers)


if __name__ == "__main__":
    main()
