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
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import django
import jax
import jax.numpy as jnp
import numpy as np

from bench.adapter_training import (
    BATCH,
    MOST_TOKENS,
    Encoder,
    Tree,
    drop_keys,
    dropped,
    first_adapter,
    grouped_by_length,
    hidden_states,
    load_adapter,
    train,
    write_adapter,
)
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

SCORES = 6
"""Follows, neither, excluded; same; answers; outdated."""
FIRST_SCORE = {Task.RELATION: 0, Task.SAME: 3, Task.ANSWERS: 4, Task.OUTDATED: 5}


def tokens_of(encoder: Encoder, pair: LabelledPair) -> list[int]:
    ids: list[int] = encoder.tokenizer.encode(pair.one, pair.other).ids
    return ids if len(ids) <= MOST_TOKENS else [*ids[: MOST_TOKENS - 1], ids[-1]]


def batches(
    encoder: Encoder, pairs: Sequence[LabelledPair], chance: random.Random | None = None
) -> Iterator[tuple[list[int], dict[str, jax.Array]]]:
    """Yield the numbers of some pairs and their arrays; in random order with `chance`."""
    tokens = [tokens_of(encoder, pair) for pair in pairs]
    for numbers in grouped_by_length([*map(len, tokens)], chance):
        columns = np.zeros((3, BATCH), np.int32)
        columns[:, : len(numbers)] = [
            [pairs[at].task.value for at in numbers],
            [pairs[at].label for at in numbers],
            [1] * len(numbers),
        ]
        task, label, counts = columns
        yield (
            numbers,
            {
                **encoder.state_inputs([tokens[at] for at in numbers]),
                "task": jnp.asarray(task),
                "label": jnp.asarray(label),
                "counts": jnp.asarray(counts, jnp.float32),
            },
        )


def scores_of(
    adapter: Tree, batch: Mapping[str, jax.Array], *, encoder: Encoder, key: jax.Array | None = None
) -> jax.Array:
    """Return the logits, shape (pairs, scores). With `key` some states are dropped (training)."""
    keys = drop_keys(encoder, key)
    states = hidden_states(adapter, batch, encoder=encoder, keys=keys)
    mask = batch["mask"]
    mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    pooled = dropped(jnp.concatenate([states[:, 0], mean], -1), keys[-1])
    return pooled @ adapter["head"] + adapter["head_bias"]


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
        for numbers, batch in batches(encoder, pairs):
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
    heads = {"head": (2 * encoder.file.shape.hidden, SCORES)}
    adapter = load_adapter(options.start) if options.start else first_adapter(encoder, heads)
    pairs = chosen_pairs(options.whole, options.share)
    print(f"{len(pairs)} pairs")
    chance = random.Random(3)

    def loss(adapter: Tree, batch: Mapping[str, jax.Array], key: jax.Array) -> jax.Array:
        return loss_of(scores_of(adapter, batch, encoder=encoder, key=key), batch)

    adapter = train(
        adapter,
        loss,
        ((batch for _numbers, batch in batches(encoder, pairs, chance)) for _ in count()),
        steps=int(len(pairs) / BATCH * options.epochs),
        rate=options.rate,
    )
    if options.mean_with:
        adapter = mean_of(adapter, load_adapter(options.mean_with))
    write_adapter(adapter, options.write)
    print_quality(encoder, adapter)


if __name__ == "__main__":
    main()
