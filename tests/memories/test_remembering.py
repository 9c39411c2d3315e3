"""Remembering without a language model: what is the same, nearly the same, and contradicting;
provenance; time.
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from memories import namespaces
from memories.curation import duplicates, edits, lifecycle
from memories.ingest import add
from memories.ledger.plan import Particulars
from memories.models import Evidence, MemoryItem, Namespace, Observation, Succession
from memories.search import recall
from memories.states import LinkKind, Maker, State
from memories.vectors import SiteSource, Vectors
from retrieval.errors import Conflict, NotFound
from tests.memories.conftest import remember

pytestmark = pytest.mark.django_db


class DownSource(SiteSource):
    def of_documents(self, texts: list[str]) -> Vectors | None:
        return None


def test_the_same_again_only_confirms(mira: Namespace) -> None:
    first = remember(mira, "Tobin keeps the toll bell.")
    again = remember(mira, "tobin keeps the TOLL bell!")
    assert again.ids == []
    assert again.confirmed == first.ids
    assert Evidence.objects.filter(memory=first.ids[0]).count() == 2
    assert mira.observations.count() == 2


def test_the_same_words_of_another_speaker_are_another_memory(mira: Namespace) -> None:
    words = "I have never learned to swim."
    first = remember(mira, words, speaker="Mira Voss")
    other = remember(mira, words, speaker="Tobin")
    again = remember(mira, "i have never learned to swim", speaker="Mira Voss")
    assert len(other.ids) == 1
    assert not other.confirmed
    assert not other.superseded
    assert again.ids == []
    assert again.confirmed == first.ids
    speakers = MemoryItem.objects.of(mira).active().values_list("speaker", flat=True)
    assert sorted(speakers) == ["Mira Voss", "Tobin"]
    # Nor does the search for duplicates among stored memories take them for one.
    assert duplicates.merge_duplicates(mira) == []


def test_nearly_the_same_words_of_two_speakers_stay_in_use(mira: Namespace) -> None:
    remember(mira, "I like the salted eel soup.", speaker="Mira Voss")
    assert remember(mira, "I like salted eel soup.", speaker="Tobin").superseded == []
    assert len(remember(mira, "I like salted eel soup.", speaker="Mira Voss").superseded) == 1


@pytest.mark.parametrize("vectors", [SiteSource(), DownSource()])
def test_one_batch_tells_speakers_apart(mira: Namespace, vectors: SiteSource) -> None:
    speakers = ["Mira Voss", "Tobin", "Mira Voss"]
    outcomes = add.add_batch(
        mira,
        ["I pay in eels."] * 3,
        [Particulars(speaker=speaker) for speaker in speakers],
        vectors=vectors,
    )
    assert [outcome.is_new for outcome in outcomes] == [True, True, False]
    assert outcomes[2].memory == outcomes[0].memory


def test_another_number_is_a_contradiction_and_both_stay(mira: Namespace) -> None:
    (old,) = remember(mira, "Mira Voss owns three ferries at the lower landing.").ids
    result = remember(mira, "Mira Voss owns four ferries at the lower landing.")
    assert result.formerly == [old]
    assert result.superseded == []
    memories = recall.search(mira, "How many ferries does Mira own?").memories
    assert [memory.formerly for memory in memories] == [False, True]
    assert memories[1].now == result.ids[0]


def test_nearly_the_same_takes_the_place_and_can_be_undone(mira: Namespace) -> None:
    (old,) = remember(mira, "Mira Voss likes the salted eel soup.").ids
    result = remember(mira, "Mira Voss likes salted eel soup.")
    assert result.superseded == [old]
    assert Evidence.objects.filter(memory=result.ids[0]).count() == 2
    lifecycle.restore(mira, old)
    assert set(MemoryItem.objects.of(mira).active().values_list("pk", flat=True)) == {
        old,
        *result.ids,
    }
    assert not Succession.objects.get(older=old, kind=LinkKind.MERGED).in_effect


def test_what_is_in_use_already_is_not_restored(mira: Namespace) -> None:
    (first,) = remember(mira, "The vault opens at noon.").ids
    lifecycle.archive(mira, first)
    (again,) = remember(mira, "The vault opens at noon.").ids
    with pytest.raises(Conflict, match=str(again)):
        lifecycle.restore(mira, first)
    assert [memory.id for memory in recall.latest(mira)] == [again]


def test_a_restored_value_holds_again_instead_of_its_correction(mira: Namespace) -> None:
    (pantry,) = remember(mira, "The spare key hangs in the pantry.").ids
    cellar = edits.edit(mira, pantry, "The spare key hangs in the cellar.", by="gm").pk
    lifecycle.restore(mira, pantry)
    found = recall.search(mira, "Where does the spare key hang?").memories
    assert [(memory.id, memory.now) for memory in found] == [(pantry, None), (cellar, pantry)]


def test_a_restored_value_contradicts_what_was_written_meanwhile(mira: Namespace) -> None:
    (three,) = remember(mira, "Mira Voss owns three ferries at the lower landing.").ids
    lifecycle.archive(mira, three)
    (four,) = remember(mira, "Mira Voss owns four ferries at the lower landing.").ids
    lifecycle.restore(mira, three)
    found = recall.search(mira, "How many ferries does Mira own?").memories
    assert [(memory.id, memory.now) for memory in found] == [(three, None), (four, three)]


def test_a_former_value_that_is_restored_is_former_again(mira: Namespace) -> None:
    (three,) = remember(mira, "Mira Voss owns three ferries at the lower landing.").ids
    (four,) = remember(mira, "Mira Voss owns four ferries at the lower landing.").ids
    lifecycle.archive(mira, three)
    lifecycle.restore(mira, three)
    found = recall.search(mira, "How many ferries does Mira own?").memories
    assert [(memory.id, memory.now) for memory in found] == [(four, None), (three, four)]


def test_a_raw_text_is_split_by_rules(mira: Namespace) -> None:
    models = add.site_models(mira)
    result = add.add(mira, "Mira owns a ferry. Tobin keeps the bell!", models=models)
    assert len(result.ids) == 2
    assert len(result.observations) == 1
    assert set(MemoryItem.objects.filter(pk__in=result.ids).values_list("made_by", flat=True)) == {
        Maker.RULES
    }


def test_memories_carry_speaker_and_date_into_the_index(mira: Namespace) -> None:
    remember(
        mira, "The bell is cracked.", speaker="Tobin", event_at=datetime(2026, 3, 8, tzinfo=UTC)
    )
    (memory,) = recall.search(mira, "what did Tobin say in March").memories
    assert memory.context == "Tobin (08 March 2026)"


def test_an_embedder_that_is_down_costs_no_memory(mira: Namespace) -> None:
    add.add(mira, ["The silent bell hangs in Heron Abbey."], models=add.Models(DownSource()))
    (memory,) = recall.search(mira, "silent bell").memories
    assert memory.text == "The silent bell hangs in Heron Abbey."


def test_observations_cannot_be_changed_or_deleted(mira: Namespace) -> None:
    remember(mira, "The tide turns at noon.")
    for attempt in (
        lambda: Observation.objects.update(text="x"),
        lambda: Observation.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            attempt()
    assert Observation.objects.get().text == "The tide turns at noon."


def test_no_query_crosses_a_namespace(mira: Namespace, tobin: Namespace) -> None:
    remember(mira, "The drowned ledger lies under the third bridge.")
    assert recall.search(tobin, "drowned ledger").memories == []
    assert recall.latest(tobin) == []
    with pytest.raises(NotFound):
        lifecycle.find_memory(tobin, MemoryItem.objects.get().pk)


def test_a_memory_is_read_as_of_a_moment(mira: Namespace) -> None:
    (old,) = remember(mira, "Mira Voss likes the salted eel soup.").ids
    between = timezone.now()
    (new,) = remember(mira, "Mira Voss likes salted eel soup.").ids
    assert [memory.id for memory in recall.latest(mira, as_of=between)] == [old]
    assert [memory.id for memory in recall.search(mira, "eel soup", as_of=between).memories] == [
        old
    ]
    assert [memory.id for memory in recall.search(mira, "eel soup").memories] == [new]
    assert recall.latest(mira, as_of=between - timedelta(days=1)) == []


def test_when_it_happened_is_not_when_it_was_recorded(mira: Namespace) -> None:
    remember(mira, "The third bridge fell.", event_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert MemoryItem.objects.of(mira).filter(event_at__year=2020).count() == 1
    assert recall.latest(mira, as_of=datetime(2021, 1, 1, tzinfo=UTC)) == []


def test_what_has_expired_leaves_use_and_can_come_back(mira: Namespace) -> None:
    (pk,) = remember(
        mira, "The ferry is being caulked.", expires_at=timezone.now() - timedelta(minutes=1)
    ).ids
    assert lifecycle.expire_due() == 1
    assert recall.search(mira, "ferry caulked").memories == []
    lifecycle.restore(mira, pk)
    assert lifecycle.expire_due() == 0
    assert len(recall.search(mira, "ferry caulked").memories) == 1


def test_archived_memories_are_kept_and_not_found(mira: Namespace) -> None:
    (pk,) = remember(mira, "Sabine asked about the weather.").ids
    lifecycle.archive(mira, pk, by="gm", reason="noise")
    assert recall.search(mira, "weather").memories == []
    assert MemoryItem.objects.get(pk=pk).state == State.ARCHIVED
    with pytest.raises(Conflict):
        lifecycle.archive(mira, pk)


def test_neighbours_lift_the_turn_beside_the_match(mira: Namespace) -> None:
    remember(
        mira,
        "Where did the ledger go?",
        "Under the third stair.",
        "The soup is salty tonight.",
        "Good soup.",
    )
    plain = [memory.text for memory in recall.search(mira, "ledger", neighbours=0).memories]
    with_neighbours = [
        memory.text for memory in recall.search(mira, "ledger", neighbours=0.5).memories
    ]
    assert plain[0] == with_neighbours[0] == "Where did the ledger go?"
    assert with_neighbours[1] == "Under the third stair."


def test_a_key_without_namespace_has_no_memory(world: object) -> None:
    from worlds.callers import Caller

    with pytest.raises(namespaces.NoNamespace):
        namespaces.require_own_namespace(Caller.gm(world))  # type: ignore[arg-type]


def test_recalls_are_counted_without_a_write_per_read(mira: Namespace) -> None:
    from memories.search import recall_counts

    (pk,) = remember(mira, "The Tin Heron has a green door.").ids
    recall_counts.flush()
    with connection.execute_wrapper(refuse_updates):
        for _ in range(3):
            recall.search(mira, "green door")
    recall_counts.flush()
    assert MemoryItem.objects.get(pk=pk).recalls == 3


def refuse_updates(execute, sql, params, many, context):  # type: ignore[no-untyped-def]
    assert not str(sql).lstrip().startswith("UPDATE")
    return execute(sql, params, many, context)


def test_memories_that_hardly_fit_are_left_out_on_request(mira: Namespace) -> None:
    for text in ("The ferry toll is nine coppers.", "Marga counts eels.", "The bell is cracked."):
        remember(mira, text)
    everything = recall.search(mira, "what is the ferry toll").memories
    assert len(everything) == 3
    first, second = (memory.relevance or 0 for memory in everything[:2])
    assert first > second
    least = (first + second) / 2
    (found,) = recall.search(mira, "what is the ferry toll", least=least).memories
    assert found.text == "The ferry toll is nine coppers."
