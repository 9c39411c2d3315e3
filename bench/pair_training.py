"""Train the model of `retrieval.statement_pairs`: `python -m bench.pair_training --write FILE`.

    python -m bench.pair_training --write adapter.npz [--start FILE] [--epochs 2] [--rate 5e-4]
        [--whole pair_groups_en_5 … --share 0.2] [--mean-with FILE]

To go on from an adapter, `--whole` names the files that are new (by the beginnings of their names),
and `--share` how much of the others is repeated. The mean of an adapter and of what was trained
from it forgets less of what the first knew.

It needs `jax` and `optax` (requirements-training.txt), and some 40 minutes on two cores. Weights
of multilingual-e5-small stay as they are; what is trained are thin matrices beside those of its
upper layers (LoRA, Hu et al. 2021), its biases and norms there, and a head that reads the state of
the first token and the mean of all. Each pair has one task (`bench.statement_pairs.Task`) and
trains the scores of that task alone. Of the pairs that `bench.statement_pairs` names as unseen the
quality is printed.
"""

import argparse
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import django
import jax
import jax.numpy as jnp
import numpy as np
import optax

from bench.labelled_sets import DATA
from bench.statement_pairs import (
    FOLLOWS,
    LabelledPair,
    Task,
    pairs_of_abstention,
    pairs_of_duplicates,
    pairs_of_statements,
    training_sets,
)

FIRST_TRAINED = 4
"""Layers before this one stay as they are."""
RANK = 24
BATCH, MOST_TOKENS = 32, 128
WIDTHS = (24, 32, 40, 48, 64, 96, 128)
"""Batches are padded to one of these, so that few shapes are compiled."""
SCORES = 6
"""Follows, neither, excluded; same; answers; outdated."""
DROPPED = 0.1
MATRICES = {
    "q": "hidden",
    "k": "hidden",
    "v": "hidden",
    "ao": "hidden",
    "fi": "hidden",
    "fo": "inner",
}
NORMS = ("aln", "oln")
FIRST_SCORE = {Task.RELATION: 0, Task.SAME: 3, Task.ANSWERS: 4, Task.OUTDATED: 5}

Tree = Any
"""Nested dicts of arrays."""


@dataclass(frozen=True)
class Encoder:
    """The frozen weights by their names in the file, and the tokenizer."""

    weights: Mapping[str, jax.Array]
    file: Any
    tokenizer: Any

    @classmethod
    def load(cls) -> "Encoder":
        from retrieval.embedders.e5 import WeightFile, e5_files
        from retrieval.embedders.sentence_encoder import open_tokenizer

        path, tokenizer_path = e5_files()
        file = WeightFile(path)
        shape = file.shape
        names = [name for name, entry in file.entries.items() if name != "emb.word"]
        weights = {}
        for name in names:
            is_matrix = name.endswith(".w") and name.split(".")[-2] in MATRICES
            if is_matrix:
                width = getattr(shape, MATRICES[name.split(".")[-2]])
                weights[name] = jnp.asarray(file.matrix(name, width).T)
            else:
                weights[name] = jnp.asarray(file.floats(name))
        return cls(weights, file, open_tokenizer(tokenizer_path))

    def tokens(self, pair: LabelledPair) -> list[int]:
        ids: list[int] = self.tokenizer.encode(pair.one, pair.other).ids
        return ids if len(ids) <= MOST_TOKENS else [*ids[: MOST_TOKENS - 1], ids[-1]]

    def batches(
        self, pairs: Sequence[LabelledPair], chance: random.Random | None = None
    ) -> Iterator[tuple[list[int], dict[str, jax.Array]]]:
        """Yield the numbers of some pairs and their arrays; in random order with `chance`."""
        tokens = [self.tokens(pair) for pair in pairs]
        order = [*range(len(pairs))]
        if chance:
            chance.shuffle(order)
        groups = []
        for start in range(0, len(order), BATCH * 40):
            near = sorted(order[start : start + BATCH * 40], key=lambda at: len(tokens[at]))
            groups += [near[at : at + BATCH] for at in range(0, len(near), BATCH)]
        if chance:
            chance.shuffle(groups)
        for numbers in groups:
            yield (
                numbers,
                self._arrays([tokens[at] for at in numbers], [pairs[at] for at in numbers]),
            )

    def _arrays(
        self, tokens: Sequence[list[int]], pairs: Sequence[LabelledPair]
    ) -> dict[str, jax.Array]:
        longest = max(map(len, tokens))
        width = next(width for width in WIDTHS if width >= longest)
        ids, mask = np.ones((BATCH, width), np.int64), np.zeros((BATCH, width), np.float32)
        mask[:, 0] = 1
        for row, own in enumerate(tokens):
            ids[row, : len(own)], mask[row, : len(own)] = own, 1
        shape = self.file.shape
        words = self.file.rows("emb.word", ids.reshape(-1)).reshape(BATCH, width, shape.hidden)
        columns = np.zeros((3, BATCH), np.int32)
        columns[:, : len(pairs)] = [
            [pair.task.value for pair in pairs],
            [pair.label for pair in pairs],
            [1] * len(pairs),
        ]
        task, label, counts = columns
        return {
            "words": jnp.asarray(words),
            "mask": jnp.asarray(mask),
            "task": jnp.asarray(task),
            "label": jnp.asarray(label),
            "counts": jnp.asarray(counts, jnp.float32),
        }


def first_adapter(encoder: Encoder, seed: int = 0) -> Tree:
    """Return an adapter that changes nothing but by its head."""
    shape, key = encoder.file.shape, jax.random.PRNGKey(seed)
    adapter: Tree = {}
    for layer in range(FIRST_TRAINED, shape.layers):
        for name in MATRICES:
            inputs, outputs = encoder.weights[f"l{layer}.{name}.w"].shape
            key, own = jax.random.split(key)
            down = jax.random.normal(own, (inputs, RANK)) / np.sqrt(inputs)
            adapter[f"l{layer}.{name}.w.down"] = down
            adapter[f"l{layer}.{name}.w.up"] = jnp.zeros((RANK, outputs))
            adapter[f"l{layer}.{name}.b"] = jnp.zeros(outputs)
        for name in NORMS:
            adapter[f"l{layer}.{name}.w"] = jnp.zeros(shape.hidden)
            adapter[f"l{layer}.{name}.b"] = jnp.zeros(shape.hidden)
    adapter["head"] = 0.02 * jax.random.normal(key, (2 * shape.hidden, SCORES))
    adapter["head_bias"] = jnp.zeros(SCORES)
    return adapter


def load_adapter(path: Path) -> Tree:
    with np.load(path) as file:
        return {name: jnp.asarray(file[name], jnp.float32) for name in file.files}


def write_adapter(adapter: Tree, path: Path) -> None:
    halves: dict[str, Any] = {
        name: np.asarray(values, np.float16) for name, values in adapter.items()
    }
    np.savez_compressed(path, **halves)


def normalize(states: jax.Array, weight: jax.Array, bias: jax.Array, epsilon: float) -> jax.Array:
    mean = states.mean(-1, keepdims=True)
    variance = ((states - mean) ** 2).mean(-1, keepdims=True)
    return (states - mean) * jax.lax.rsqrt(variance + epsilon) * weight + bias


def scores_of(
    adapter: Tree, batch: Mapping[str, jax.Array], *, encoder: Encoder, key: jax.Array | None = None
) -> jax.Array:
    """Return the logits, shape (pairs, scores). With `key` some states are dropped (training)."""
    shape, weights = encoder.file.shape, encoder.weights
    count, width, hidden = batch["words"].shape
    keys = [None] * (2 * shape.layers + 1) if key is None else jax.random.split(key, 25)

    def tensor(name: str) -> jax.Array:
        return weights[name] + adapter.get(name, 0.0)

    def linear(inputs: jax.Array, name: str) -> jax.Array:
        weight = weights[f"{name}.w"]
        if f"{name}.w.down" in adapter:
            weight = weight + adapter[f"{name}.w.down"] @ adapter[f"{name}.w.up"]
        return inputs @ weight + tensor(f"{name}.b")

    def heads(inputs: jax.Array) -> jax.Array:
        split = inputs.reshape(count, width, shape.heads, hidden // shape.heads)
        return split.transpose(0, 2, 1, 3)

    def norm(inputs: jax.Array, name: str) -> jax.Array:
        return normalize(inputs, tensor(f"{name}.w"), tensor(f"{name}.b"), shape.epsilon)

    positions = weights["emb.pos"].reshape(-1, hidden)[:width]
    states = norm(batch["words"] + positions + weights["emb.type"][:hidden], "emb.ln")
    hidden_from = (1 - batch["mask"])[:, None, None, :] * -1e9
    for layer in range(shape.layers):
        if layer == FIRST_TRAINED:
            states = jax.lax.stop_gradient(states)
        query, key_, value = (heads(linear(states, f"l{layer}.{name}")) for name in "qkv")
        fit = query @ key_.transpose(0, 1, 3, 2) / np.sqrt(hidden // shape.heads) + hidden_from
        mixed = (jax.nn.softmax(fit, -1) @ value).transpose(0, 2, 1, 3).reshape(states.shape)
        attended = dropped(linear(mixed, f"l{layer}.ao"), keys[2 * layer])
        states = norm(states + attended, f"l{layer}.aln")
        wide = jax.nn.gelu(linear(states, f"l{layer}.fi"), approximate=True)
        narrow = dropped(linear(wide, f"l{layer}.fo"), keys[2 * layer + 1])
        states = norm(states + narrow, f"l{layer}.oln")
    mask = batch["mask"]
    mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    pooled = dropped(jnp.concatenate([states[:, 0], mean], -1), keys[2 * shape.layers])
    return pooled @ adapter["head"] + adapter["head_bias"]


def dropped(states: jax.Array, key: jax.Array | None) -> jax.Array:
    if key is None:
        return states
    return states * jax.random.bernoulli(key, 1 - DROPPED, states.shape) / (1 - DROPPED)


def loss_of(logits: jax.Array, batch: Mapping[str, jax.Array]) -> jax.Array:
    """Return the mean logistic loss; of a relation that is only known not to follow, that of not
    following."""
    task, label = batch["task"], batch["label"]
    relation = jax.nn.log_softmax(logits[:, :3])
    known = -jnp.take_along_axis(relation, jnp.minimum(label, 2)[:, None], 1)[:, 0]
    not_following = -jnp.log(1 - jnp.exp(relation[:, FOLLOWS]) + 1e-6)
    losses = jnp.where(label == 3, not_following, known)
    for other in (Task.SAME, Task.ANSWERS, Task.OUTDATED):
        logit = logits[:, FIRST_SCORE[other]]
        losses = jnp.where(task == other.value, jax.nn.softplus(logit) - logit * label, losses)
    return (losses * batch["counts"]).sum() / batch["counts"].sum()


def train(
    encoder: Encoder, adapter: Tree, pairs: Sequence[LabelledPair], *, epochs: float, rate: float
) -> Tree:
    steps = int(len(pairs) / BATCH * epochs)
    warm_up = min(100, steps // 10)
    schedule = optax.warmup_cosine_decay_schedule(0, rate, warm_up, steps, rate / 50)
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01)
    )

    @jax.jit  # type: ignore[untyped-decorator]
    def step(adapter: Tree, state: Tree, batch: Tree, key: jax.Array) -> tuple[Tree, Tree, Any]:
        def loss(adapter: Tree) -> jax.Array:
            return loss_of(scores_of(adapter, batch, encoder=encoder, key=key), batch)

        value, gradient = jax.value_and_grad(loss)(adapter)
        change, state = optimizer.update(gradient, state, adapter)
        return optax.apply_updates(adapter, change), state, value

    state, key = optimizer.init(adapter), jax.random.PRNGKey(7)
    chance, begun, done, total = random.Random(3), time.monotonic(), 0, 0.0
    while done < steps:
        for _numbers, batch in encoder.batches(pairs, chance):
            key, own = jax.random.split(key)
            adapter, state, loss = step(adapter, state, batch, own)
            done, total = done + 1, total + float(loss)
            if done % 100 == 0:
                seconds = time.monotonic() - begun
                print(
                    f"step {done} of {steps}: loss {total / 100:.3f}, {seconds:.0f} s", flush=True
                )
                total = 0.0
            if done >= steps:
                break
    return adapter


def print_quality(encoder: Encoder, adapter: Tree) -> None:
    """Print, for sets that were not trained on, how often a pair with the label has a higher score
    than one without it (the area under the curve)."""
    infer = jax.jit(partial(scores_of, encoder=encoder))
    unseen = {
        "statement_groups.txt": pairs_of_statements,
        "duplicate_groups_e.txt": pairs_of_duplicates,
        "abstention_e.jsonl": pairs_of_abstention,
    }
    for name, read in unseen.items():
        pairs = [*dict.fromkeys(read(DATA / name))]
        pairs = random.Random(3).sample(pairs, min(2500, len(pairs)))
        logits = np.zeros((len(pairs), SCORES))
        for numbers, batch in encoder.batches(pairs):
            logits[numbers] = np.asarray(infer(adapter, batch))[: len(numbers)]
        for task in Task:
            own = np.array([pair.task is task for pair in pairs])
            labels = np.array([pair.label == (task is not Task.RELATION) for pair in pairs])
            score = logits[:, FIRST_SCORE[task]]
            if task is Task.RELATION:
                score = score - np.logaddexp(logits[:, 1], logits[:, 2])
            if 0 < labels[own].sum() < own.sum():
                area = area_under_curve(score[own], labels[own])
                print(f"{name}: {task.name.lower()}: area {area:.3f} ({own.sum()})")


def chosen_pairs(whole: Sequence[str], share: float) -> list[LabelledPair]:
    """Return all pairs of the files `whole`, and a share of those of the others."""
    chance, chosen = random.Random(11), []
    for name, pairs in training_sets().items():
        is_whole = share >= 1 or name.startswith(tuple(whole))
        chosen += pairs if is_whole else chance.sample(pairs, int(len(pairs) * share))
    return chosen


def mean_of(one: Tree, other: Tree) -> Tree:
    return {name: (values + other[name]) / 2 for name, values in one.items()}


def area_under_curve(scores: Any, labels: Any) -> float:
    return float(np.mean(scores[labels][:, None] > scores[~labels][None, :]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="an adapter to go on from")
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--whole", nargs="*", default=[], help="beginnings of names of files")
    parser.add_argument("--share", type=float, default=1.0, help="of the other files' pairs")
    parser.add_argument("--mean-with", type=Path, help="an adapter to take the mean with")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
    django.setup()
    encoder = Encoder.load()
    adapter = load_adapter(options.start) if options.start else first_adapter(encoder)
    pairs = chosen_pairs(options.whole, options.share)
    print(f"{len(pairs)} pairs")
    adapter = train(encoder, adapter, pairs, epochs=options.epochs, rate=options.rate)
    if options.mean_with:
        adapter = mean_of(adapter, load_adapter(options.mean_with))
    write_adapter(adapter, options.write)
    print_quality(encoder, adapter)


if __name__ == "__main__":
    main()
