"""Whatever comes in, in whatever order and from however many writers: dispositions are what the
ledger says."""

import os
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodes.ingest import WrongParty, ingest_episode, restore_episode, retract_episode
from episodes.models import Episode, EpisodeVersion
from episodes.schemas import EpisodeIn
from npcs.dispositions import approve, correct, reject, restore, reverse
from npcs.models import NPC, Disposition, DispositionChange
from retrieval.errors import Conflict, NotFound
from tests.npcs.ledger_replay import replay
from worlds.models import Party, World

NAMES = ("mira-voss", "jory-fenn", "ninth-oarsman")
EPISODES = ("ep-1", "ep-2", "ep-3", "ep-4")
EXAMPLES = int(os.environ.get("LEDGER_EXAMPLES", "15"))
"""Orders of twelve versions; four times as many sequences of any commands. `LEDGER_EXAMPLES=100`
searches for longer."""
BEGIN = datetime(2026, 9, 5, 18, tzinfo=UTC)


def summary(
    number: int, version: int, deltas: list[tuple[int, int]], party: str = "lanternbearers"
) -> EpisodeIn:
    return EpisodeIn.model_validate(
        {
            "summary_id": EPISODES[number],
            "party_id": party,
            "when": {"real": BEGIN + timedelta(hours=number), "in_world_at": 10 - number},
            "what": f"Version {version} of what happened.",
            "relations_delta": [
                {"npc": NAMES[who], "delta": by, "reason": "Because."} for who, by in deltas
            ],
            "version": version,
        }
    )


deltas = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-60, 60).filter(bool)),
    max_size=3,
    unique_by=lambda pair: pair[0],
)
bodies = st.fixed_dictionaries(
    {(number, version): deltas for number in range(4) for version in (1, 2, 3)}
)
commands = st.lists(
    st.one_of(
        st.tuples(st.just("ingest"), st.integers(0, 3), st.integers(1, 3)),
        st.tuples(st.just("retract"), st.integers(0, 3)),
        st.tuples(st.just("restore"), st.integers(0, 3)),
        st.tuples(st.just("correct"), st.integers(0, 2), st.integers(-200, 200).filter(bool)),
        st.tuples(
            st.sampled_from(["reverse", "restore_change", "approve", "reject"]),
            st.integers(0, 1000),
        ),
    ),
    max_size=25,
)


def run_command(
    world: World, party: Party, command: tuple[Any, ...], texts: dict[tuple[int, int], Any]
) -> None:
    """Do what `command` says. Refusals are part of the game, also of a summary that another party
    sent first."""
    verb, *rest = command
    rulings = {"reverse": reverse, "restore_change": restore, "approve": approve, "reject": reject}
    with suppress(NotFound, Conflict, WrongParty):
        if verb == "ingest":
            ingest_episode(world, summary(rest[0], rest[1], texts[rest[0], rest[1]], party.slug))
        elif verb == "retract":
            retract_episode(world, EPISODES[rest[0]])
        elif verb == "restore":
            restore_episode(world, EPISODES[rest[0]])
        elif verb == "correct":
            npc = NPC.objects.get(world=world, slug=NAMES[rest[0]])
            correct(npc, party, by=rest[1], reason="The record was wrong.", made_by="anna")
        elif changes := list(
            DispositionChange.objects.filter(party=party).changes().order_by("id")
        ):
            rulings[verb](changes[rest[0] % len(changes)], reason="So it was.", made_by="anna")


def scores_of(party: Party) -> dict[str, float]:
    rows = Disposition.objects.filter(party=party).select_related("npc")
    return {row.npc.slug: row.score for row in rows if row.changes}


@contextmanager
def roll_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@settings(
    max_examples=4 * EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(sequence=commands, texts=bodies)
@pytest.mark.django_db
def test_any_sequence_gives_what_replaying_the_ledger_gives(
    world: World,
    lanternbearers: Party,
    mira: NPC,
    jory: NPC,
    ninth_oarsman: NPC,
    sequence: Any,
    texts: Any,
) -> None:
    with roll_back():
        for command in sequence:
            run_command(world, lanternbearers, command, texts)
        expected = replay(lanternbearers)
        stored = scores_of(lanternbearers)
        assert {npc: stored.get(npc, 0) for npc in expected} == expected


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    order=st.permutations([(n, v) for n in range(4) for v in (1, 2, 3)]),
    twice=st.booleans(),
    texts=bodies,
)
@pytest.mark.django_db
def test_only_the_newest_version_of_each_episode_counts_in_whatever_order_they_came(
    world: World,
    lanternbearers: Party,
    mira: NPC,
    jory: NPC,
    ninth_oarsman: NPC,
    order: Any,
    twice: bool,
    texts: Any,
) -> None:
    with roll_back():
        for number, version in order * 2 if twice else order:
            ingest_episode(world, summary(number, version, texts[number, version]))
        expected: Counter[str] = Counter()
        for number in range(4):
            for who, by in texts[number, 3]:
                if abs(by) < 40:
                    expected[NAMES[who]] = max(-100, min(100, expected[NAMES[who]] + by))
        stored = scores_of(lanternbearers)
        assert {npc: stored.get(npc, 0) for npc in NAMES} == {npc: expected[npc] for npc in NAMES}
        assert EpisodeVersion.objects.count() == 12


@pytest.mark.django_db(transaction=True)
def test_eight_writers_at_once_lose_and_double_nothing(
    world: World,
    lanternbearers: Party,
    gilded_oath: Party,
    mira: NPC,
    jory: NPC,
    ninth_oarsman: NPC,
) -> None:
    dice = random.Random(37)
    texts = {
        (n, v): [(dice.randrange(3), dice.choice([-55, -9, -2, 3, 8]))]
        for n in range(4)
        for v in (1, 2, 3)
    }
    verbs = ["ingest"] * 6 + [
        "retract",
        "restore",
        "correct",
        "reverse",
        "restore_change",
        "approve",
        "reject",
    ]

    def write_at_random(seed: int) -> int:
        own, done = random.Random(seed), 0
        try:
            for _turn in range(25):
                verb, party = own.choice(verbs), own.choice([lanternbearers, gilded_oath])
                rest = {
                    "ingest": (own.randrange(4), own.randint(1, 3)),
                    "correct": (own.randrange(3), own.choice([-4, 7])),
                }
                run_command(world, party, (verb, *rest.get(verb, (own.randrange(4),))), texts)
                done += 1
        finally:
            connection.close()
        return done

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(write_at_random, range(8))) == 200
    for party in (lanternbearers, gilded_oath):
        expected, stored = replay(party), scores_of(party)
        assert {npc: stored.get(npc, 0) for npc in expected} == expected
    for episode in Episode.objects.all():
        newest = max(episode.versions.values_list("version", flat=True))
        assert episode.version == newest
        written = DispositionChange.objects.filter(episode=episode)
        assert (
            written.count() == written.values("episode_version", "npc", "delta").distinct().count()
        )


def test_a_summary_that_nobody_sent_cannot_be_retracted(world: World) -> None:
    with pytest.raises(NotFound):
        retract_episode(world, "ep-404")
