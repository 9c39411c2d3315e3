"""Equal words are one memory only if they are said by the same speaker, of the same scope, subject
and key; and what a caller labels is in the memory that stays."""

import pytest

from memories.curation.duplicates import find_pairs
from memories.haema import MemoryReconstructionResponse
from memories.ingest import add
from memories.ledger.plan import Particulars
from memories.models import MemoryItem, Namespace, Succession
from memories.states import State
from memories.vectors import SiteSource
from tests.memories.conftest import remember
from tests.memories.fakes import Echo
from tests.memories.test_batches import DownSource

pytestmark = pytest.mark.django_db

PORT = "The server listens on port eight thousand."
OTHER_PORT = "The server listens on port nine thousand."
SAME_PORT = "The server is listening on port eight thousand."


def active(namespace: Namespace) -> list[MemoryItem]:
    return list(namespace.memories.active().order_by("timestamp_ms"))


@pytest.mark.parametrize("repeated", [PORT, SAME_PORT])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"scope": "river"}, {"scope": "town"}),
        ({"scope": "river"}, {}),
        ({"key": "ferry.port"}, {"key": "toll.port"}),
        ({"subject": "Mira"}, {"subject": "Tobin"}),
        ({"speaker": "Mira"}, {"speaker": "Tobin"}),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_equal_words_of_another_speaker_scope_subject_or_key_are_two_memories(
    mira: Namespace,
    repeated: str,
    first: dict[str, str],
    second: dict[str, str],
    together: bool,
) -> None:
    texts, abouts = [PORT, repeated], [Particulars(**first), Particulars(**second)]  # type: ignore[arg-type]
    if together:
        add.add_batch(mira, texts, abouts, vectors=SiteSource())
    else:
        for pair in zip(texts, abouts, strict=True):
            add.add(mira, [pair[0]], models=add.site_models(mira), about=pair[1])
    assert [one.text for one in active(mira)] == texts
    assert not list(find_pairs(mira))


@pytest.mark.parametrize("source", [SiteSource(), DownSource()])
def test_the_same_words_with_the_same_labels_are_one_memory(
    mira: Namespace, source: SiteSource
) -> None:
    about = Particulars(scope="river", key="port", tags=["net"], metadata={"line": 7})
    add.add_batch(mira, [PORT, PORT], [about, about], vectors=source)
    assert [one.text for one in active(mira)] == [PORT]
    assert mira.memories.get().observations.count() == 2


@pytest.mark.parametrize("repeated", [PORT, SAME_PORT])
def test_labels_of_both_are_in_the_memory_that_stays(mira: Namespace, repeated: str) -> None:
    remember(mira, PORT, tags=["net"], metadata={"line": 7, "by": "Tobin"})
    remember(mira, repeated, tags=["ops"], metadata={"line": 9})
    (item,) = active(mira)
    assert item.metadata == {"line": 9, "by": "Tobin", "tags": ["net", "ops"]}
    assert item.observations.count() == 2
    assert Succession.objects.get(newer=item).kind == "merged"


def test_labels_of_a_batch_add_up(mira: Namespace) -> None:
    labels = [{"tags": ["net"]}, {"tags": ["ops"]}, {"metadata": {"line": 7}}, {"tags": ["net"]}]
    abouts = [Particulars(**label) for label in labels]  # type: ignore[arg-type]
    outcomes = add.add_batch(mira, [PORT] * 4, abouts, vectors=SiteSource())
    (item,) = active(mira)
    assert item.metadata == {"line": 7, "tags": ["net", "ops"]}
    assert [one.is_new for one in outcomes] == [True, True, True, False]
    assert item.observations.count() == 4


def test_a_key_that_comes_later_is_not_lost(mira: Namespace) -> None:
    remember(mira, PORT)
    remember(mira, PORT, key="port")
    remember(mira, OTHER_PORT, key="port")
    assert [one.text for one in active(mira)] == [OTHER_PORT]


def test_a_text_without_key_confirms_the_memory_with_it(mira: Namespace) -> None:
    (keyed,) = remember(mira, PORT, key="port").ids
    assert remember(mira, PORT).confirmed == [keyed]


def test_a_rewording_without_key_does_not_take_the_key_away(mira: Namespace) -> None:
    remember(mira, PORT, key="port")
    remember(mira, SAME_PORT)
    remember(mira, OTHER_PORT, key="port")
    assert mira.memories.get(text=PORT).state == State.SUPERSEDED
    assert mira.memories.get(text=SAME_PORT).state == State.ACTIVE


def test_a_key_is_one_name_in_each_scope(mira: Namespace) -> None:
    remember(mira, PORT, key="port", scope="river")
    remember(mira, OTHER_PORT, key="port", scope="town")
    assert {one.text for one in active(mira)} == {PORT, OTHER_PORT}
    remember(mira, "It is port ten thousand now.", key="port", scope="river")
    assert {one.text for one in active(mira)} == {OTHER_PORT, "It is port ten thousand now."}


def test_what_holds_in_two_scopes_is_no_contradiction(mira: Namespace) -> None:
    remember(mira, PORT, scope="river")
    remember(mira, OTHER_PORT, scope="town")
    assert not Succession.objects.filter(newer__namespace=mira).exists()
    remember(mira, OTHER_PORT, scope="river")
    assert Succession.objects.get().kind == "formerly"


def test_a_language_model_does_not_rewrite_memories_of_another_scope_or_key(
    mira: Namespace,
) -> None:
    remember(mira, PORT, scope="river")
    remember(mira, "The server listens on port six thousand.", key="port", scope="town")
    remember(mira, "The server listens on port seven thousand.", scope="town")
    model = Echo()
    models = add.Models(SiteSource(), model)
    add.add(mira, [PORT], models=models, about=Particulars(scope="town"))
    (prompt,) = model.prompts(MemoryReconstructionResponse)
    related = prompt.split("New contents:")[0]
    assert "seven thousand" in related
    assert "eight thousand" not in related
    assert "six thousand" not in related
