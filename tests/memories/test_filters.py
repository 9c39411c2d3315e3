"""What callers say of a memory: labels to filter by, what it replaces, and until when it holds."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from memories.buckets.events import MemoryEvent
from memories.buckets.read_pipeline import ReadPipeline
from memories.buckets.write_pipeline import OpenGate, WritePipeline
from memories.haema import Memory
from memories.ingest import add
from memories.ledger.plan import Particulars
from memories.models import MemoryItem, Namespace, Succession
from memories.search import recall
from memories.search.filters import MemoryFilter
from memories.search.relevant import keep_relevant
from memories.states import Bucket, State
from retrieval.errors import NotFound
from tests.memories.conftest import remember
from tests.memories.test_api import NOBODYS, Agent
from worlds.models import World

pytestmark = pytest.mark.django_db

QUESTION = "Which ferry crosses at night?"


def found_texts(namespace: Namespace, question: str = QUESTION, **options: object) -> set[str]:
    return {one.text for one in recall.search(namespace, question, **options).memories}  # type: ignore[arg-type]


@pytest.fixture
def labelled(mira: Namespace) -> Namespace:
    old, new = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    about = {"scope": "river", "event_at": old}
    remember(mira, "The grey ferry crosses at night.", tags=["boat", "night"], **about)
    about |= {"event_at": new, "metadata": {"seen": {"by": "Tobin"}}}
    remember(mira, "The red barge crosses at night with salt.", tags=["boat"], **about)
    about = {"scope": "town", "subject": "Lantern", "bucket": Bucket.EPISODIC}
    remember(mira, "A lantern crosses the market at night.", tags=["night"], **about)
    return mira


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"scope": "river"}, {"grey", "red"}),
        ({"scope": "river", "tags": ["night"]}, {"grey"}),
        ({"tags": ["boat", "night"]}, {"grey"}),
        ({"tags": ["night"]}, {"grey", "lantern"}),
        ({"metadata": {"seen": {"by": "Tobin"}}}, {"red"}),
        ({"metadata": {"seen": {"by": "Mira"}}}, set()),
        ({"subject": "Lantern", "buckets": [Bucket.EPISODIC]}, {"lantern"}),
        ({"after": datetime(2026, 3, 1, tzinfo=UTC)}, {"red", "lantern"}),
        ({"scope": "river", "before": datetime(2026, 3, 1, tzinfo=UTC)}, {"grey"}),
    ],
)
def test_filters_narrow_together_and_before_the_ranking(
    labelled: Namespace, where: dict[str, object], found: set[str]
) -> None:
    conditions = MemoryFilter(**where)  # type: ignore[arg-type]
    texts = found_texts(labelled, where=conditions)
    assert {name for name in ("grey", "red", "lantern") if name in " ".join(texts)} == found
    assert len(texts) == len(found)
    result = ReadPipeline(labelled, abstains=False, share=0).query(QUESTION, where=conditions)
    assert {one.memory.text for one in result.memories} == texts


def test_filters_over_rest_tools_and_python(world: World, tmp_path: Path) -> None:
    agent = Agent(world, "mira-voss")
    insert = "/tools/archival_memory_insert"
    agent("POST", insert, {"content": "The grey ferry crosses at night.", "scope": "river"})
    night = {"content": "A lantern crosses the market at night.", "scope": "town", "tags": ["n"]}
    agent("POST", "/memory/events", {"events": [{**night, "metadata": {"a": 1}}]})
    where = {"scope": "town", "tags": ["n"], "metadata": {"a": 1}}
    for path, asked in (
        ("/memory/search", {"where": where}),
        ("/memory/query", {"where": where, "abstain": False}),
        ("/tools/archival_memory_search", {"scope": "town", "tags": ["n"]}),
    ):
        answer = agent("POST", path, {"query": "What crosses at night?", **asked})
        hits = answer.get("hits") or answer["memories"]
        assert [hit["text"] for hit in hits] == [night["content"]], path
    assert hits[0]["metadata"] == {"a": 1, "scope": "town", "tags": ["n"]}
    asked = {"query": "Does the grey ferry cross at night?", "scope": "town"}
    texts = [hit["text"] for hit in agent("POST", "/tools/memory_ask", asked)["memories"]]
    assert "The grey ferry crosses at night." not in texts
    memory = Memory(tmp_path)
    memory.add("The grey ferry crosses at night.", details=True, scope="river")
    memory.add("A lantern crosses the market at night.", details=True, scope="town")
    assert memory.search("What crosses at night?", 5, scope="town") == [night["content"]]


@pytest.mark.parametrize("name", ["scope", "tags", "metadata"])
def test_a_label_that_cannot_be_stored_is_refused(world: World, name: str) -> None:
    value = {"scope": "a\0", "tags": ["a\0"], "metadata": {"a": ["b\0"]}}[name]
    body = {"contents": ["The grey ferry crosses at night."], name: value}
    Agent(world, "mira-voss")("POST", "/memory", body, status=422)
    assert not MemoryItem.objects.exists()


def test_what_has_no_date_happened_when_it_was_recorded(mira: Namespace) -> None:
    remember(mira, "The toll bell rings.")
    hour = timedelta(hours=1)
    for where, found in (
        ({"after": timezone.now() - hour}, 1),
        ({"before": timezone.now() + hour}, 1),
        ({"after": timezone.now() + hour}, 0),
        ({"before": timezone.now() - hour}, 0),
    ):
        texts = found_texts(mira, "toll bell", where=MemoryFilter(**where))
        assert len(texts) == found, where


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/memory", {"contents": ["The tanner left."], "event_at": "2026-11-20T10:00:00"}, 201),
        ("/memory", {"contents": ["The tanner left."], "expires_at": "2127-01-01"}, 201),
        (
            "/tools/archival_memory_insert",
            {"content": "A tanner left.", "event_at": "2026-11-20"},
            200,
        ),
        (
            "/tools/memory_event",
            {"content": "The tanner left town.", "event_at": "2026-11-20"},
            200,
        ),
    ],
)
def test_a_date_without_a_time_zone_is_stored(
    world: World, path: str, body: dict[str, object], status: int
) -> None:
    Agent(world, "tanner")("POST", path, body, status=status)
    row = MemoryItem.objects.get()
    moment = row.event_at or row.expires_at
    assert moment is not None
    assert moment.tzinfo is not None


def test_a_memory_with_the_same_key_replaces_the_former(mira: Namespace) -> None:
    (first,) = remember(mira, "Joel can only play on Wednesdays.", key="joel's day").ids
    result = remember(mira, "His shifts leave Joel the Fridays.", key="joel's day")
    assert result.superseded == [first]
    assert found_texts(mira, "Which day works for Joel?") == {"His shifts leave Joel the Fridays."}
    remember(mira, "Sasha can't do Mondays.", key="sasha's day")
    assert mira.memories.active().count() == 2
    # Back to the first value, in the same words.
    again = remember(mira, "Joel can only play on Wednesdays.", key="joel's day")
    assert again.superseded == result.ids
    assert mira.memories.get(pk=first).state == State.SUPERSEDED


def test_contents_of_one_call_with_one_key_replace_each_other(mira: Namespace) -> None:
    pipeline = WritePipeline(mira, gate=OpenGate())
    texts = ["The fare is one penny a head.", "Since spring it costs two pennies to cross."]
    pipeline.process_all([MemoryEvent(text, key="fare") for text in texts])
    assert list(mira.memories.active().values_list("text", flat=True)) == texts[1:]


def test_a_text_that_becomes_several_memories_replaces_none_of_them(mira: Namespace) -> None:
    text = "Joel plays on Fridays. He has no car."
    models = add.site_models(mira)
    add.add(mira, text, models=models, about=Particulars(key="joel"))
    assert mira.memories.active().count() == 2
    remember(mira, "Joel left the group.", key="joel")
    assert mira.memories.active().count() == 1


def test_a_caller_names_what_is_replaced(mira: Namespace) -> None:
    (fire,) = remember(mira, "Mirelle keeps her shop on Candle Row.").ids
    moved = remember(mira, "The alchemist sits over the tannery now.", supersedes=[fire])
    link = Succession.objects.get(older=fire)
    assert (link.newer_id, link.kind, moved.superseded) == (moved.ids[0], "supersedes", [fire])
    with pytest.raises(NotFound):
        remember(mira, "She left the town for good.", supersedes=[fire])
    with pytest.raises(NotFound):
        remember(mira, "She left the town for good.", supersedes=[NOBODYS])
    assert not mira.memories.filter(text__startswith="She left").exists()


def test_what_is_known_already_replaces_what_the_caller_names(mira: Namespace) -> None:
    tannery, row = remember(
        mira, "Mirelle sits over the tannery.", "A shop on Candle Row is Mirelle's."
    ).ids
    result = remember(mira, "Mirelle sits over the tannery.", supersedes=[row])
    assert (result.confirmed, result.superseded) == ([tannery], [row])


@pytest.mark.parametrize("tool", ["archival_memory_insert", "memory_event"])
def test_an_agent_says_what_is_replaced_and_until_when_it_holds(world: World, tool: str) -> None:
    agent = Agent(world, "mira-voss")
    first = agent("POST", f"/tools/{tool}", {"content": "The toll is nine silver a head."})
    (old,) = first.get("ids") or [first["memory_id"]]
    ends = "2127-01-01T00:00:00Z"
    says = {"content": "Crossing costs ten.", "supersedes": [old], "expires_at": ends}
    agent("POST", f"/tools/{tool}", says)
    new = MemoryItem.objects.active().get()
    assert (new.text, new.expires_at) == ("Crossing costs ten.", datetime(2127, 1, 1, tzinfo=UTC))


def test_another_agents_memory_cannot_be_replaced(mira: Namespace, tobin: Namespace) -> None:
    (his,) = remember(tobin, "The toll bell hangs at the weir.", key="bell").ids
    remember(mira, "The toll bell hangs in the tower.", key="bell")
    with pytest.raises(NotFound):
        remember(mira, "The toll bell was stolen.", supersedes=[his])
    assert tobin.memories.get().state == State.ACTIVE


def test_an_expired_memory_is_not_found_before_the_task_runs(mira: Namespace) -> None:
    now = timezone.now()
    remember(mira, "The grey ferry crosses at night.", expires_at=now - timedelta(seconds=1))
    remember(mira, "The red barge crosses at night.", expires_at=now + timedelta(hours=1))
    assert found_texts(mira) == {"The red barge crosses at night."}


def test_what_is_shown_is_what_answers(mira: Namespace) -> None:
    others = [f"The {name} hangs over the {place}." for name, place in NOTHING_TO_DO_WITH_IT]
    remember(mira, "The fare over the river is one penny.", *others)
    result = ReadPipeline(mira).query("What is the fare over the river?", limit=20)
    assert [one.memory.text for one in result.memories] == ["The fare over the river is one penny."]
    everything = ReadPipeline(mira, share=0).query("What is the fare over the river?", limit=20)
    assert len(everything.memories) == len(others) + 1


NOTHING_TO_DO_WITH_IT = [
    ("bell", "gate"),
    ("lamp", "stair"),
    ("sign", "tavern"),
    ("moss", "well"),
    ("smoke", "kiln"),
]


def test_the_current_value_of_what_is_relevant_is_kept(mira: Namespace) -> None:
    three = "Mira Voss owns three ferries at the lower landing."
    remember(mira, three, "Mira Voss owns four ferries at the lower landing.")
    found = recall.search(mira, three).memories
    assert [one.formerly for one in keep_relevant(found, share=1.0)] == [False, True]


@pytest.mark.parametrize(
    ("resolved", "found"),
    [(True, {"paid"}), (False, {"owes", "lent"}), (None, {"paid", "owes", "lent"})],
)
def test_what_is_settled_is_told_from_what_is_open(
    mira: Namespace, resolved: bool | None, found: set[str]
) -> None:
    remember(mira, "Tobin owes Mira nine silver.", resolved=False)
    remember(mira, "Anna paid Mira five silver.", resolved=True)
    remember(mira, "Mira lent the miller a boat.")
    texts = found_texts(mira, "Who owes Mira what?", where=MemoryFilter(resolved=resolved))
    assert {word for word in ("paid", "owes", "lent") if word in " ".join(texts)} == found


def test_a_matter_is_settled_by_saying_so_again(mira: Namespace) -> None:
    text = "Tobin owes Mira nine silver."
    remember(mira, text, resolved=False, names=["the debt"])
    remember(mira, text, resolved=True)
    assert mira.memories.active().get().metadata == {"resolved": True, "names": ["the debt"]}
    assert found_texts(mira, "Who owes Mira?", where=MemoryFilter(resolved=False)) == set()


@pytest.mark.parametrize("tool", ["archival_memory_search", "memory_ask"])
def test_tools_filter_by_several_labels_at_once(world: World, tool: str) -> None:
    agent = Agent(world, "mira-voss")
    insert = "/tools/archival_memory_insert"
    about = {"metadata": {"a": 1}, "source": "log", "subject": "Lantern", "resolved": True}
    agent("POST", insert, {"content": "The grey ferry crosses at night.", "metadata": {"a": 2}})
    agent("POST", insert, {"content": "A lantern crosses the market at night.", **about})
    question = {"query": "What crosses the market at night?"}
    for name, value in about.items():
        answer = agent("POST", f"/tools/{tool}", {**question, name: value})
        hits = answer.get("hits") or answer["memories"]
        assert [hit["text"] for hit in hits] == ["A lantern crosses the market at night."], name
    answer = agent("POST", f"/tools/{tool}", {**question, **about, "source": "another"})
    assert [*answer.get("hits", ()), *answer.get("memories", ())] == []
