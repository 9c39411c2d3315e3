"""Train small changes of multilingual-e5-small (`retrieval.embedders.adapted_e5`).

Weights of the model stay as they are; what is trained are thin matrices beside those of its upper
layers (LoRA, Hu et al. 2021), its biases and norms there, and the heads of a task.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

FIRST_TRAINED = 4
"""Layers before this one stay as they are."""
RANK = 24
BATCH, MOST_TOKENS = 32, 128
WIDTHS = (24, 32, 40, 48, 64, 96, 128)
"""Batches are padded to one of these, so that few shapes are compiled."""
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

Tree = Any
"""Nested dicts of arrays."""
Loss = Callable[[Tree, Mapping[str, jax.Array], jax.Array], jax.Array]
"""Of an adapter, a batch, and a key for what is dropped."""


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

    def state_inputs(self, tokens: Sequence[list[int]]) -> dict[str, jax.Array]:
        """Return the arrays that `hidden_states` reads, padded to one of WIDTHS."""
        longest = max(map(len, tokens))
        width = next(width for width in WIDTHS if width >= longest)
        ids, mask = np.ones((BATCH, width), np.int64), np.zeros((BATCH, width), np.float32)
        mask[:, 0] = 1
        for row, own in enumerate(tokens):
            ids[row, : len(own)], mask[row, : len(own)] = own, 1
        shape = self.file.shape
        words = self.file.rows("emb.word", ids.reshape(-1)).reshape(BATCH, width, shape.hidden)
        return {"words": jnp.asarray(words), "mask": jnp.asarray(mask)}


def grouped_by_length(lengths: Sequence[int], chance: random.Random | None) -> list[list[int]]:
    """Return the numbers of examples in batches of similar length, in random order with
    `chance`."""
    order = [*range(len(lengths))]
    if chance:
        chance.shuffle(order)
    groups = []
    for start in range(0, len(order), BATCH * 40):
        near = sorted(order[start : start + BATCH * 40], key=lambda at: lengths[at])
        groups += [near[at : at + BATCH] for at in range(0, len(near), BATCH)]
    if chance:
        chance.shuffle(groups)
    return groups


def first_adapter(encoder: Encoder, heads: Mapping[str, tuple[int, int]], seed: int = 0) -> Tree:
    """Return an adapter that changes nothing but by its heads, of the given shapes; the bias of
    each is `NAME_bias`."""
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
    for name, size in heads.items():
        key, own = jax.random.split(key)
        adapter[name] = 0.02 * jax.random.normal(own, size)
        adapter[f"{name}_bias"] = jnp.zeros(size[1])
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


def hidden_states(
    adapter: Tree,
    batch: Mapping[str, jax.Array],
    *,
    encoder: Encoder,
    keys: Sequence[jax.Array | None],
) -> jax.Array:
    """Return the states, shape (examples, tokens, hidden). Where a key is given some of them are
    dropped (training); `drop_keys` makes the keys."""
    shape, weights = encoder.file.shape, encoder.weights
    count, width, hidden = batch["words"].shape

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
    return states


def drop_keys(encoder: Encoder, key: jax.Array | None) -> Sequence[jax.Array | None]:
    """Return two keys a layer and one for the head; none where nothing is dropped."""
    count = 2 * encoder.file.shape.layers + 1
    return [None] * count if key is None else jax.random.split(key, count)


def dropped(states: jax.Array, key: jax.Array | None) -> jax.Array:
    if key is None:
        return states
    return states * jax.random.bernoulli(key, 1 - DROPPED, states.shape) / (1 - DROPPED)


def train(
    adapter: Tree,
    loss_of: Loss,
    epochs: Iterable[Iterable[Mapping[str, jax.Array]]],
    *,
    steps: int,
    rate: float,
    head_rate: float = 1.0,
) -> Tree:
    """Return the adapter after `steps` batches of the epochs. `head_rate`: how many times as fast
    the heads are trained."""
    warm_up = min(100, steps // 10)
    schedule = optax.warmup_cosine_decay_schedule(0, rate, warm_up, steps, rate / 50)
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01)
    )
    faster = {name: head_rate if name.split("_")[0].endswith("head") else 1.0 for name in adapter}

    @jax.jit  # type: ignore[untyped-decorator]
    def step(adapter: Tree, state: Tree, batch: Tree, key: jax.Array) -> tuple[Tree, Tree, Any]:
        value, gradient = jax.value_and_grad(loss_of)(adapter, batch, key)
        change, state = optimizer.update(gradient, state, adapter)
        change = {name: values * faster[name] for name, values in change.items()}
        return optax.apply_updates(adapter, change), state, value

    state, key = optimizer.init(adapter), jax.random.PRNGKey(7)
    begun, total = time.monotonic(), 0.0
    for done, batch in enumerate(_limited(epochs, steps), 1):
        key, own = jax.random.split(key)
        adapter, state, loss = step(adapter, state, batch, own)
        total += float(loss)
        if done % 100 == 0:
            seconds = time.monotonic() - begun
            print(f"step {done} of {steps}: loss {total / 100:.3f}, {seconds:.0f} s", flush=True)
            total = 0.0
    return adapter


def _limited(
    epochs: Iterable[Iterable[Mapping[str, jax.Array]]], steps: int
) -> Iterator[Mapping[str, jax.Array]]:
    batches = (batch for epoch in epochs for batch in epoch)
    for _number, batch in zip(range(steps), batches, strict=False):
        yield batch
