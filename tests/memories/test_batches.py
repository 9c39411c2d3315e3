"""A batch of events: the same outcome as adding them one by one, all or nothing, and no race
lost.
"""

import random
import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from django.db import DatabaseError, connection

from bench.labelled_sets import DATA, load_rows
from memories import namespaces
from memories.ingest import add, rule_add
from memories.ledger import commit
from memories.ledger.plan import Particulars
from memories.models import Evidence, MemoryItem, Namespace, Observation, StateChange, Succession
from memories.models.namespaces import Review
from memories.states import Bucket, State
from memories.vectors import ClientSource, SiteSource, Vectors, VectorSource
from retrieval.embedders import HashingEmbedder
from worlds.models import World


class NarrowClient:
    """A client of the caller's own, whose questions lie a little beside its documents."""

    def embed_query(self, texts: Sequence[str], output_dimensionality: int) -> Vectors:
        return self.embed_document(texts, output_dimensionality) + np.float32(0.001)

    def embed_document(self, texts: Sequence[str], output_dimensionality: int) -> Vectors:
        return HashingEmbedder().embed_document(list(texts))[:, :output_dimensionality]


class DownSource(SiteSource):
    def of_documents(self, texts: list[str]) -> Vectors | None:
        return None


def mixed_texts(seed: int, count: int = 120) -> list[str]:
    """Exact repeats, other spellings, paraphrases, contradictions and news, in any order."""
    dice = random.Random(seed)
    pairs = dice.sample(load_rows(DATA / "pairs.jsonl"), count // 4)
    texts = [text for pair in pairs for text in (pair["a"], pair["b"])]
    texts += [dice.choice(texts) for _ in range(count // 4)] + [
        dice.choice(texts).upper() for _ in range(count // 4)
    ]
    dice.shuffle(texts)
    return texts


def particulars_at(position: int) -> Particulars:
    return Particulars(
        source=f"ledger {position}",
        bucket=list(Bucket)[position % 5],
        importance=position % 10 / 10,
    )


def stored_state(namespace: Namespace) -> list[object]:
    """All that is stored of a memory, without its ids: by the order in which memories came."""
    items = list(namespace.memories.order_by("timestamp_ms").defer("embedding"))
    place = {item.pk: number for number, item in enumerate(items)}
    seen = {
        pk: number
        for number, pk in enumerate(
            namespace.observations.order_by("pk").values_list("pk", flat=True)
        )
    }
    return [
        (
            item.text,
            item.state,
            item.bucket,
            item.importance,
            item.source,
            item.made_by,
            item.rev,
            item.embedded_rev,
            item.embedding_model,
            item.word_count,
            str(item.search_vector),
            list(
                StateChange.objects.filter(memory=item)
                .order_by("at", "pk")
                .values_list("state", "reason")
            ),
            sorted(
                seen[pk]
                for pk in Evidence.objects.filter(memory=item).values_list("observation", flat=True)
            ),
            sorted(
                (place[older], kind, reason, in_effect)
                for older, kind, reason, in_effect in Succession.objects.filter(
                    newer=item
                ).values_list("older", "kind", "reason", "in_effect")
            ),
        )
        for item in items
    ]


def add_one_by_one(namespace: Namespace, texts: list[str], vectors: VectorSource) -> None:
    models = add.Models(vectors)
    for position, text in enumerate(texts):
        add.add(namespace, [text], models=models, about=particulars_at(position))


def add_as_batch(
    namespace: Namespace, texts: list[str], vectors: VectorSource
) -> list[add.BatchOutcome]:
    return add.add_batch(
        namespace, texts, [particulars_at(place) for place in range(len(texts))], vectors=vectors
    )


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_leaves_what_adding_one_by_one_leaves(
    mira: Namespace, tobin: Namespace, seed: int
) -> None:
    texts = mixed_texts(seed)
    add_one_by_one(mira, texts, SiteSource())
    outcomes = add_as_batch(tobin, texts, SiteSource())
    assert stored_state(tobin) == stored_state(mira)
    states = set(tobin.memories.values_list("state", flat=True))
    assert {State.ACTIVE, State.SUPERSEDED} <= states, "the sample merges nothing: it shows nothing"
    assert Succession.objects.filter(newer__namespace=tobin, kind="formerly").exists()
    assert sum(one.is_new for one in outcomes) == tobin.memories.count() < len(texts)


@pytest.mark.django_db
def test_a_batch_on_a_memory_that_knows_things_already(mira: Namespace, tobin: Namespace) -> None:
    texts = mixed_texts(11)
    for namespace in (mira, tobin):
        add_one_by_one(namespace, texts[:60], SiteSource())
    add_one_by_one(mira, texts[60:], SiteSource())
    add_as_batch(tobin, texts[60:], SiteSource())
    assert [row[:7] for row in stored_state(tobin)] == [
        (*row[:4], again[4], *row[5:7])
        for row, again in zip(stored_state(mira), stored_state(tobin), strict=True)
    ]
    assert [row[8:] for row in stored_state(tobin)] == [row[8:] for row in stored_state(mira)]


@pytest.mark.django_db
def test_memories_that_wait_for_approval_replace_nothing(mira: Namespace, tobin: Namespace) -> None:
    texts = mixed_texts(5)
    for namespace in (mira, tobin):
        add_one_by_one(namespace, texts[:40], SiteSource())
        Namespace.objects.filter(pk=namespace.pk).update(review=Review.ALL)
    add_one_by_one(mira, texts, SiteSource())
    add_as_batch(tobin, texts, SiteSource())
    assert stored_state(tobin) == stored_state(mira)
    assert tobin.memories.pending().exists()


@pytest.mark.django_db
def test_a_client_of_any_width_is_served_the_same(world: World) -> None:
    source = ClientSource(NarrowClient(), 192)
    alone, together = (
        Namespace.objects.create(world=world, name=name, dims=192)
        for name in ("narrow alone", "narrow together")
    )
    add_one_by_one(alone, mixed_texts(7), source)
    add_as_batch(together, mixed_texts(7), source)
    assert stored_state(together) == stored_state(alone)
    assert (
        together.memories.filter(client_vector__isnull=False).count() == together.memories.count()
    )


@pytest.mark.django_db
def test_without_vectors_the_very_same_words_are_still_one_memory(mira: Namespace) -> None:
    outcomes = add_as_batch(
        mira,
        ["The toll bell is cracked.", "the toll BELL is cracked!", "The oar is new."],
        DownSource(),
    )
    assert [one.is_new for one in outcomes] == [True, False, True]
    assert list(mira.memories.values_list("embedding_model", flat=True).distinct()) == [""]


@pytest.mark.django_db
def test_known_memories_beyond_the_first_are_asked_for_when_many_are_replaced(
    mira: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        "Mira likes eel soup, salted.",
        "Mira likes salted eel soup.",
        "Salted eel soup is what Mira likes.",
    ]
    depths: list[int] = []
    read_nearest: Callable[..., object] = rule_add.nearest_memories
    monkeypatch.setattr(
        rule_add,
        "nearest_memories",
        lambda *all, k, **more: depths.append(k) or read_nearest(*all, k=k, **more),
    )
    monkeypatch.setattr(rule_add, "SPARE", 0)
    add_one_by_one(
        mira,
        [f"The {word} lies in the harbour of Ferrymark." for word in ("oar", "bell", "net", "eel")],
        SiteSource(),
    )
    add_one_by_one(mira, texts[:1], SiteSource())
    depths.clear()
    add_as_batch(mira, texts[1:], SiteSource())
    assert depths == [5, 20]
    assert mira.memories.active().filter(text__startswith="Salted").count() == 1


@pytest.mark.django_db(transaction=True)
def test_all_of_a_batch_is_written_or_nothing(
    mira: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise DatabaseError("the server went away")

    monkeypatch.setattr(commit, "write_links", broken)
    with pytest.raises(DatabaseError):
        add_as_batch(mira, mixed_texts(3), SiteSource())
    assert not Observation.objects.filter(namespace=mira).exists()
    assert not MemoryItem.objects.filter(namespace=mira).exists()


@pytest.mark.django_db(transaction=True)
def test_batches_of_several_writers_lose_nothing_and_replace_nothing_twice(world: World) -> None:
    namespace = namespaces.get_or_create_namespace(world, "crowded")
    errors: list[BaseException] = []

    def write(seed: int) -> None:
        try:
            add_as_batch(namespace, mixed_texts(seed, count=60), SiteSource())
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    writers = [threading.Thread(target=write, args=(21 + number % 2,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not errors
    assert namespace.observations.count() == sum(
        len(mixed_texts(21 + number % 2, count=60)) for number in range(4)
    )
    assert not Observation.objects.filter(namespace=namespace, memories=None).exists()
    ends = Succession.objects.filter(older__namespace=namespace, kind="merged", in_effect=True)
    assert ends.count() == len(set(ends.values_list("older", flat=True)))
    assert not ends.filter(older__state=State.ACTIVE).exists()
