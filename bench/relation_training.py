"""Train the model that finds names and their relations (`retrieval/named_relations/adapter.npz`):
`python -m bench.relation_training --write FILE [--start FILE] [--epochs 8] [--quality-only]`.

It needs `jax` and `optax` (requirements-training.txt). What is trained is described in
`bench.adapter_training`, the data in `bench.relation_examples`. One head tags the tokens of a text,
one tells the relation of two marked names from the states of their marks and of the first token. A
tenth of the passages is not trained on; of it the quality is printed.
"""

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import bench.django_apps  # noqa: F401
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
from bench.relation_examples import (
    PROPOSALS,
    LabelledText,
    RelationExample,
    filled_phrases,
    read_passages,
    read_proposals,
    relation_examples,
)
from retrieval.named_relations.inventory import CLASSES, NAME_KINDS, TAGS

UNTAGGED = -1
TAG_SHARE = 3
"""How many times a passage is tagged in an epoch in which its pairs are read once."""
PHRASES_TAGGED = 800
LEAST_PROBABLE = (0.5, 0.7, 0.85, 0.95)

Item = LabelledText | RelationExample


def texts_to_train(chance: random.Random) -> tuple[list[LabelledText], list[LabelledText]]:
    """Return the passages that are trained on, and those that are not."""
    files = sorted(DATA.glob("relation_passages_*.txt"))
    passages = [text for path in files for text in read_passages(path)]
    labelled = [text for name, half in PROPOSALS for text in read_proposals(DATA / name, half)]
    chance.shuffle(passages)
    tenth = len(passages) // 10
    return [*passages[tenth:], *labelled], passages[:tenth]


def inputs_of(encoder: Encoder, item: Item) -> dict[str, Any] | None:
    """Return tokens and labels of an example; None if it is too long."""
    is_pair = isinstance(item, RelationExample)
    text = item.marked.text if isinstance(item, RelationExample) else item.text
    encoding = encoder.tokenizer.encode(text)
    ids, offsets = list(encoding.ids), list(encoding.offsets)
    if len(ids) > MOST_TOKENS:
        return None
    tags = np.full(len(ids), UNTAGGED, np.int32)
    marks = np.zeros((2, len(ids)), np.float32)
    if isinstance(item, RelationExample):
        for row, places in enumerate((item.marked.firsts, item.marked.seconds)):
            for at, (start, end) in enumerate(offsets):
                marks[row, at] = any(start <= place < end for place in places)
        if not marks.any(axis=1).all():
            return None
        marks /= marks.sum(axis=1, keepdims=True)
    else:
        tags = np.array([*tags_of(item, offsets)], np.int32)
    label = item.label if isinstance(item, RelationExample) else 0
    return {"ids": ids, "tags": tags, "marks": marks, "label": label, "is_pair": float(is_pair)}


def tags_of(text: LabelledText, offsets: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Yield the tag of each token. A token belongs to the name in which it begins."""
    begun: set[int] = set()
    for start, end in offsets:
        if start == end:
            yield UNTAGGED
            continue
        # A token may begin with the space before it.
        place = start + (text.text[start:end][:1] == " ")
        number = next(
            (n for n, each in enumerate(text.mentions) if each.start <= place < each.end), None
        )
        if number is None:
            yield 0
        else:
            kind = NAME_KINDS.index(text.mentions[number].kind)
            yield 1 + 2 * kind + (number in begun)
            begun.add(number)


def batches(
    encoder: Encoder, rows: Sequence[dict[str, Any]], chance: random.Random | None = None
) -> Iterator[tuple[list[int], dict[str, jax.Array]]]:
    for numbers in grouped_by_length([len(row["ids"]) for row in rows], chance):
        own = [rows[number] for number in numbers]
        batch = encoder.state_inputs([row["ids"] for row in own])
        width = batch["mask"].shape[1]
        tags = np.full((BATCH, width), UNTAGGED, np.int32)
        marks = np.zeros((BATCH, 2, width), np.float32)
        label, is_pair = np.zeros(BATCH, np.int32), np.zeros(BATCH, np.float32)
        for at, row in enumerate(own):
            count = len(row["ids"])
            tags[at, :count], marks[at, :, :count] = row["tags"], row["marks"]
            label[at], is_pair[at] = row["label"], row["is_pair"]
        yield (
            numbers,
            {
                **batch,
                "tags": jnp.asarray(tags),
                "marks": jnp.asarray(marks),
                "label": jnp.asarray(label),
                "is_pair": jnp.asarray(is_pair),
            },
        )


def logits_of(
    adapter: Tree, batch: Mapping[str, jax.Array], *, encoder: Encoder, key: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """Return the logits of tags, shape (examples, tokens, tags), and of relations, (examples,
    classes)."""
    keys = drop_keys(encoder, key)
    states = hidden_states(adapter, batch, encoder=encoder, keys=keys)
    states = dropped(states, keys[-1])
    tags = states @ adapter["taghead"] + adapter["taghead_bias"]
    names = jnp.einsum("bmt,bth->bmh", batch["marks"], states).reshape(len(states), -1)
    joined = jnp.concatenate([names, states[:, 0]], -1)
    return tags, joined @ adapter["relationhead"] + adapter["relationhead_bias"]


def loss_of(
    adapter: Tree, batch: Mapping[str, jax.Array], key: jax.Array, *, encoder: Encoder
) -> jax.Array:
    tag_logits, relation_logits = logits_of(adapter, batch, encoder=encoder, key=key)
    known = batch["tags"] != UNTAGGED
    tag_shares = jax.nn.log_softmax(tag_logits)
    tag_losses = -jnp.take_along_axis(tag_shares, jnp.maximum(batch["tags"], 0)[..., None], -1)
    tag_loss = (tag_losses[..., 0] * known).sum() / jnp.maximum(known.sum(), 1)
    shares = jax.nn.log_softmax(relation_logits)
    losses = -jnp.take_along_axis(shares, batch["label"][:, None], 1)[:, 0]
    is_pair = batch["is_pair"]
    return tag_loss + (losses * is_pair).sum() / jnp.maximum(is_pair.sum(), 1)


def print_quality(encoder: Encoder, adapter: Tree, texts: Sequence[LabelledText]) -> None:
    infer = jax.jit(partial(logits_of, encoder=encoder))
    rows = [row for item in texts if (row := inputs_of(encoder, item))]
    right = found = wanted = 0
    for numbers, batch in batches(encoder, rows):
        guesses = np.asarray(infer(adapter, batch)[0]).argmax(-1)
        for at, number in enumerate(numbers):
            own = rows[number]["tags"]
            guess = guesses[at, : len(own)] * (own != UNTAGGED)
            right += int(((guess == own) & (own > 0)).sum())
            found, wanted = found + int((guess > 0).sum()), wanted + int((own > 0).sum())
    print(f"tokens of names: precision {right / max(1, found):.3f}, recall {right / wanted:.3f}")
    pairs = [row for item in relation_examples(texts) if (row := inputs_of(encoder, item))]
    shares = np.zeros((len(pairs), len(CLASSES)))
    for numbers, batch in batches(encoder, pairs):
        logits = infer(adapter, batch)[1]
        shares[numbers] = np.asarray(jax.nn.softmax(logits))[: len(numbers)]
    labels = np.array([row["label"] for row in pairs])
    best = 1 + shares[:, 1:].argmax(-1)
    for least in LEAST_PROBABLE:
        said = shares[np.arange(len(best)), best] >= least
        hits = int((said & (best == labels)).sum())
        print(
            f"relations from {least}: precision {hits / max(1, said.sum()):.3f} of {said.sum()}, "
            f"recall {hits / max(1, (labels > 0).sum()):.3f} of {(labels > 0).sum()}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="an adapter to go on from")
    parser.add_argument("--epochs", type=float, default=8.0)
    parser.add_argument("--rate", type=float, default=7e-4)
    parser.add_argument("--phrases", type=float, default=0.5, help="share of them in an epoch")
    options = parser.parse_args()
    encoder = Encoder.load()
    hidden = encoder.file.shape.hidden
    adapter = first_adapter(
        encoder, {"taghead": (hidden, len(TAGS)), "relationhead": (3 * hidden, len(CLASSES))}
    )
    if options.start:
        start = load_adapter(options.start)
        adapter = {name: start.get(name, values) for name, values in adapter.items()}
    chance = random.Random(5)
    texts, unseen = texts_to_train(chance)
    pairs = [row for item in relation_examples(texts) if (row := inputs_of(encoder, item))]
    tagged = [row for item in texts if (row := inputs_of(encoder, item))]

    def epoch() -> list[dict[str, Any]]:
        filled = [text for _language, text in filled_phrases(chance)]
        filled = chance.sample(filled, int(len(filled) * options.phrases))
        rows = [inputs_of(encoder, each) for each in relation_examples(filled)]
        rows += [inputs_of(encoder, each) for each in filled[:PHRASES_TAGGED]]
        return [*pairs, *(tagged * TAG_SHARE), *(row for row in rows if row)]

    def epochs() -> Iterator[Iterator[dict[str, jax.Array]]]:
        while True:
            yield (batch for _numbers, batch in batches(encoder, epoch(), chance))

    size = len(epoch())
    print(f"{len(texts)} texts, {len(pairs)} pairs, {size} examples an epoch", flush=True)
    adapter = train(
        adapter,
        partial(loss_of, encoder=encoder),
        epochs(),
        steps=int(size / BATCH * options.epochs),
        rate=options.rate,
        head_rate=3.0,
    )
    write_adapter(adapter, options.write)
    print_quality(encoder, adapter, unseen)


if __name__ == "__main__":
    main()
