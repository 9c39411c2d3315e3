"""Reflection: when it is due, what it makes, that it happens once, and what becomes of it when its
ground goes.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from memories.buckets.events import MemoryEvent
from memories.buckets.write_pipeline import OpenGate, WritePipeline
from memories.curation import edits, inbox, lifecycle
from memories.erasure import deletion
from memories.ingest.model_add import Models
from memories.ledger.commit import change_state
from memories.ledger.unsupported_insights import flag_unsupported
from memories.models import Insight, MemoryItem, Namespace, Reflection, Trigger
from memories.reflection import (
    EpisodeClusterer,
    ReflectionGenerator,
    Triggers,
    due_trigger,
    run_reflection,
    start_reflection,
)
from memories.reflection.run import flag_in_all_namespaces, open_reflections
from memories.states import Bucket, Maker, State
from memories.tasks import reflect
from memories.vectors import SiteSource, Vectors

LEAKS = [
    f"The memory leak in the image cache of service {name} was found and fixed."
    for name in ("Elm", "Oak", "Ash")
]
BELLS = [
    f"Tobin rang the cracked toll bell at the {name} pier." for name in ("upper", "lower", "old")
]
NOW_DUE = Triggers(episodes=3)


def write_episodes(namespace: Namespace, *texts: str, importance: float = 0.5) -> None:
    events = [MemoryEvent(text, bucket=Bucket.EPISODIC, importance=importance) for text in texts]
    WritePipeline(namespace, gate=OpenGate()).process_all(events)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("triggers", "hours_later", "expected"),
    [
        (Triggers(importance=1.5), 0, Trigger.IMPORTANCE),
        (Triggers(importance=1.6), 0, None),
        (Triggers(episodes=3), 0, Trigger.EPISODES),
        (Triggers(episodes=4), 0, None),
        (Triggers(hours=24), 25, Trigger.TIME),
        (Triggers(hours=24), 23, None),
        (Triggers(hours=24, least_episodes=4), 25, None),
    ],
)
def test_each_trigger_is_reached_by_itself(
    mira: Namespace, triggers: Triggers, hours_later: int, expected: Trigger | None
) -> None:
    write_episodes(mira, *BELLS)
    found = due_trigger(mira, triggers, now=timezone.now() + timedelta(hours=hours_later))
    assert (found.trigger if found else None) == expected


@pytest.mark.django_db
def test_alike_episodes_become_an_insight_that_rests_on_each(mira: Namespace) -> None:
    write_episodes(mira, *BELLS, *LEAKS)
    made = run_reflection(start_reflection(mira, NOW_DUE))  # type: ignore[arg-type]
    insights = list(Insight.objects.filter(pk__in=made or []))
    assert len(insights) == 2
    for insight in insights:
        texts = set(insight.sources.values_list("episode__text", flat=True))
        assert texts in (set(BELLS), set(LEAKS))
        assert (insight.memory.bucket, insight.memory.made_by) == (Bucket.SEMANTIC, Maker.RULES)
        assert insight.memory.evidence.count() == 3
    assert due_trigger(mira, NOW_DUE) is None  # the same episodes are not reflected upon twice


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Turn 54: Ines paid Pavel nine crowns for the seal.",
            "Something like this happened 3 times, for example: "
            "Turn 54: Ines paid Pavel nine crowns for the seal.",
        ),
        (
            "Turn 69: Агафья Лунева напоила Инес от лихорадки.",
            "Похожих случаев: 3. Один из них: Turn 69: Агафья Лунева напоила Инес от лихорадки.",
        ),
        (
            "서윤이 부두에서 종을 울렸다.",
            "비슷한 일이 3번 있었다. 예를 들면: 서윤이 부두에서 종을 울렸다.",
        ),
    ],
)
def test_without_a_model_an_insight_is_a_sentence_in_the_language_of_its_episodes(
    text: str, expected: str
) -> None:
    assert ReflectionGenerator().generate([MemoryItem(text=text)] * 3).text == expected


@pytest.mark.django_db
def test_a_model_says_the_lesson_and_its_failure_costs_nothing(mira: Namespace) -> None:
    class Says:
        def generate_structured(
            self, system_prompt: str, user_prompt: str, response_model: type
        ) -> dict[str, object]:
            if "leak" in user_prompt:
                raise TimeoutError
            return {"insight": "Cracked bells are rung at every pier.", "importance": 0.9}

    write_episodes(mira, *BELLS, *LEAKS)
    made = run_reflection(start_reflection(mira, NOW_DUE), models=Models(SiteSource(), Says()))  # type: ignore[arg-type]
    by = dict(MemoryItem.objects.filter(pk__in=made or []).values_list("made_by", "importance"))
    assert by.keys() == {Maker.MODEL, Maker.RULES}
    assert by[Maker.MODEL] == 0.9


@pytest.mark.django_db(transaction=True)
def test_two_workers_and_one_trigger_make_one_set_of_insights(mira: Namespace) -> None:
    write_episodes(mira, *BELLS)
    started: list[Reflection | None] = []
    made: list[object] = []
    together = threading.Barrier(2)

    def work() -> None:
        together.wait()
        started.append(start_reflection(mira, NOW_DUE))
        together.wait()
        made.append(run_reflection(Reflection.objects.get()))
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert started.count(None) == 1
    assert made.count(None) == 1
    assert Insight.objects.count() == 1


@contextmanager
def worker(
    reflection: Reflection, *, seconds: float, stop: str = ""
) -> "Iterator[subprocess.Popen[str]]":
    """A worker in a process of its own, on this test's database, waiting to be told to begin."""
    name = str(connection.settings_dict["NAME"])
    command = [
        sys.executable,
        "-m",
        "tests.memories.reflecting",
        name,
        str(reflection.pk),
        str(seconds),
        stop,
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "EMBEDDER": "hashing"},
    )
    try:
        assert read_message(process) == "ready"
        yield process
    finally:
        process.kill()
        process.communicate()


def read_message(process: "subprocess.Popen[str]") -> object:
    assert process.stdout
    return json.loads(process.stdout.readline())


def begin(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.mark.timeout(300)  # seconds of starting two processes, minutes on an overloaded machine
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stop", ["thinking", "writing"])
def test_the_worker_that_holds_it_is_killed_and_the_other_makes_the_one_set(
    mira: Namespace, stop: str
) -> None:
    write_episodes(mira, *BELLS)
    reflection = start_reflection(mira, NOW_DUE)
    assert reflection
    with (
        worker(reflection, seconds=6, stop=stop) as first,
        worker(reflection, seconds=600) as second,
    ):
        begin(first)
        assert read_message(first) == "stands"
        begin(second)
        assert read_message(second) is None  # the first one has it
        first.kill()
        assert first.wait() == -9
        answers = [read_message(second)]
        while answers[-1] is None:
            answers.append(read_message(second))
        assert second.wait() == 0
    (insight,) = Insight.objects.all()
    assert answers[-1] == [str(insight.pk)]
    assert set(insight.sources.values_list("episode__text", flat=True)) == set(BELLS)
    assert mira.memories.filter(bucket=Bucket.SEMANTIC).count() == 1
    reflection.refresh_from_db()
    assert reflection.tries == 2
    assert run_reflection(reflection) is None


@pytest.mark.django_db
def test_a_worker_killed_in_the_middle_loses_nothing(mira: Namespace) -> None:
    class Killed(SiteSource):
        def of_documents(self, texts: list[str]) -> Vectors | None:
            raise KeyboardInterrupt

    write_episodes(mira, *BELLS)
    reflection = start_reflection(mira, NOW_DUE)
    assert reflection
    with pytest.raises(KeyboardInterrupt):
        run_reflection(reflection, models=Models(Killed()), lease=timedelta(0))
    assert Insight.objects.count() == 0
    assert open_reflections() == [reflection]
    assert len(run_reflection(reflection) or []) == 1
    assert run_reflection(reflection) is None
    assert Insight.objects.count() == 1


@pytest.mark.django_db
def test_a_worker_that_is_late_writes_nothing(mira: Namespace) -> None:
    write_episodes(mira, *BELLS)
    reflection = start_reflection(mira, NOW_DUE)
    assert reflection

    class Slow(SiteSource):
        def of_documents(self, texts: list[str]) -> Vectors | None:
            if len(texts) > 1:
                run_reflection(reflection)  # another worker takes over meanwhile
            return super().of_documents(texts)

    assert run_reflection(reflection, models=Models(Slow()), lease=timedelta(0)) is None
    assert Insight.objects.count() == 1


def reflect_upon_bells(namespace: Namespace) -> Insight:
    write_episodes(namespace, *BELLS)
    (pk,) = run_reflection(start_reflection(namespace, NOW_DUE)) or []  # type: ignore[arg-type]
    return Insight.objects.get(pk=pk)


@pytest.mark.django_db
def test_an_insight_is_flagged_as_soon_as_an_episode_is_retracted(mira: Namespace) -> None:
    insight = reflect_upon_bells(mira)
    assert flag_unsupported(Insight.objects.all()) == 0
    lifecycle.archive(mira, MemoryItem.objects.get(text=BELLS[0]).pk)
    insight = Insight.objects.get(pk=insight.pk)
    assert insight.memory.state == State.PENDING
    assert insight.flag == "Source episodes that are no longer valid: 1 of 3"
    assert flag_unsupported(Insight.objects.all()) == 0


@pytest.mark.django_db
def test_an_insight_that_is_approved_without_its_episode_waits_again(mira: Namespace) -> None:
    pk = reflect_upon_bells(mira).pk
    change_state([pk], to=State.PENDING)
    lifecycle.archive(mira, MemoryItem.objects.get(text=BELLS[0]).pk)
    assert flag_in_all_namespaces() == 0
    inbox.approve(mira, pk, by="Ingrid")
    assert flag_in_all_namespaces() == 1
    assert MemoryItem.objects.get(pk=pk).state == State.PENDING


@pytest.mark.django_db
def test_an_insight_stays_when_two_of_its_episodes_are_merged(mira: Namespace) -> None:
    insight = reflect_upon_bells(mira)
    pks = list(MemoryItem.objects.filter(text__in=BELLS[:2]).values_list("pk", flat=True))
    edits.merge(mira, pks, "Tobin rang the toll bell at two piers.", by="Ingrid")
    assert Insight.objects.get(pk=insight.pk).memory.state == State.ACTIVE


@pytest.mark.django_db
def test_an_episode_retracted_while_the_insight_is_made_leaves_none_in_use(
    mira: Namespace,
) -> None:
    class Slow(SiteSource):
        def of_documents(self, texts: list[str]) -> Vectors | None:
            if len(texts) == 1:  # those of the insight
                lifecycle.archive(mira, MemoryItem.objects.get(text=BELLS[0]).pk)
            return super().of_documents(texts)

    write_episodes(mira, *BELLS)
    reflection = start_reflection(mira, NOW_DUE)
    assert reflection
    (pk,) = run_reflection(reflection, models=Models(Slow())) or []
    assert MemoryItem.objects.get(pk=pk).state == State.PENDING


@pytest.mark.django_db(transaction=True)
def test_what_is_rejected_while_it_is_flagged_stays_rejected(mira: Namespace) -> None:
    pk = reflect_upon_bells(mira).pk
    counts = []

    def flag() -> None:
        with transaction.atomic():
            episode = MemoryItem.objects.get(text=BELLS[0]).pk
            counts.append(change_state([episode], to=State.ARCHIVED))
        connection.close()

    worker = threading.Thread(target=flag)
    with transaction.atomic():
        change_state([pk], to=State.REJECTED, by="Ingrid")
        worker.start()
        wait_for_a_lock()
    worker.join()
    assert (MemoryItem.objects.get(pk=pk).state, counts) == (State.REJECTED, [1])
    assert Insight.objects.get(pk=pk).flag == ""


def wait_for_a_lock() -> None:
    """Until another connection waits for a row of this transaction."""
    for _try in range(200):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
        time.sleep(0.05)
    raise AssertionError("nobody waits")


@pytest.mark.django_db
def test_deleting_an_episode_for_good_takes_the_insight_with_it_or_flags_it(
    mira: Namespace,
) -> None:
    write_episodes(mira, *BELLS)
    (pk,) = run_reflection(start_reflection(mira, NOW_DUE)) or []  # type: ignore[arg-type]
    deletion.erase(mira, "memory", MemoryItem.objects.get(text=BELLS[0]).pk, by="Ingrid")
    flag_unsupported(Insight.objects.all())
    assert not MemoryItem.objects.filter(pk=pk, state=State.ACTIVE).exists()


@pytest.mark.django_db
def test_the_beat_does_all_of_it(mira: Namespace) -> None:
    write_episodes(mira, *(text.replace("the", f"the {n}") for n in range(6) for text in BELLS))
    assert reflect() == 1
    assert reflect() == 0
    assert Reflection.objects.get().done_at


def test_what_is_like_nothing_is_in_no_cluster() -> None:
    assert EpisodeClusterer().cluster([], None) == []
    assert EpisodeClusterer().cluster([MemoryItem(text="alone")], None) == []


UNRELATED = [
    "Tobin rang the cracked toll bell at the upper pier.",
    "The council of Stonewater raised the tax on salt.",
    "A heron stole Mira's breakfast while she slept.",
]


@pytest.mark.django_db
@pytest.mark.parametrize("source", [SiteSource(), None])
def test_unrelated_episodes_give_no_insight(mira: Namespace, source: SiteSource | None) -> None:
    write_episodes(mira, *UNRELATED)
    models = Models(source or DownSource())
    assert run_reflection(start_reflection(mira, NOW_DUE), models=models) == []  # type: ignore[arg-type]


class DownSource(SiteSource):
    def of_documents(self, _texts: list[str]) -> Vectors | None:
        return None


@pytest.mark.django_db
def test_a_problem_that_returns_once_in_each_reflection_is_seen(mira: Namespace) -> None:
    made = []
    for number, leak in enumerate(LEAKS):
        write_episodes(mira, leak, *(f"{text} Day {number}." for text in UNRELATED[1:]))
        made.append(run_reflection(start_reflection(mira, NOW_DUE)))  # type: ignore[arg-type]
    of_leaks = Insight.objects.filter(sources__episode__text=LEAKS[0], memory__state=State.ACTIVE)
    assert set(of_leaks.get().sources.values_list("episode__text", flat=True)) == set(LEAKS)


@pytest.mark.django_db
def test_an_insight_is_revised_and_not_repeated(mira: Namespace) -> None:
    write_episodes(mira, *LEAKS)
    (first,) = run_reflection(start_reflection(mira, NOW_DUE)) or []  # type: ignore[arg-type]
    trees = {"Elm": "Birch", "Oak": "Pine", "Ash": "Rowan"}
    more = [text.replace(old, new) for text, (old, new) in zip(LEAKS, trees.items(), strict=True)]
    write_episodes(mira, *more)
    (second,) = run_reflection(start_reflection(mira, NOW_DUE)) or []  # type: ignore[arg-type]
    assert MemoryItem.objects.get(pk=first).state == State.SUPERSEDED
    insight = Insight.objects.get(pk=second)
    assert insight.sources.count() == insight.rests_on == 6
