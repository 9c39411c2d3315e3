"""What holds now comes before what held once, which is marked, whichever way a memory is read."""

from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from memories.buckets.read_pipeline import ReadPipeline
from memories.curation import edits
from memories.haema import Memory
from memories.models import Namespace, Succession
from memories.search import recall
from tests.memories.conftest import remember
from tests.memories.test_api import Agent
from worlds.models import World

pytestmark = pytest.mark.django_db

THREE = "Mira Voss owns three ferries at the lower landing."
FOUR = "Mira Voss owns four ferries at the lower landing."
QUESTION = "How many ferries does Mira own?"
# Words and vectors prefer the former value.
OF_THE_FORMER = "Does Mira Voss own three ferries at the lower landing?"


@pytest.fixture
def ferries(mira: Namespace) -> Namespace:
    remember(mira, THREE, "Tobin keeps the toll bell.", source="session 1", importance=0.9)
    remember(mira, FOUR, source="session 2", importance=0.1)
    return mira


@pytest.mark.parametrize("question", [QUESTION, OF_THE_FORMER])
def test_the_read_pipeline_shows_the_current_value_first(ferries: Namespace, question: str) -> None:
    result = ReadPipeline(ferries, abstains=False, share=0).query(question)
    shown = [(one.memory.text, one.memory.formerly) for one in result.memories]
    assert shown[:2] == [(FOUR, False), (THREE, True)]


@pytest.mark.parametrize("question", [QUESTION, OF_THE_FORMER])
def test_a_search_shows_the_current_value_in_the_place_of_the_former(
    ferries: Namespace, question: str
) -> None:
    found = recall.search(ferries, question, limit=2).memories
    assert [(one.text, one.formerly) for one in found] == [(FOUR, False), (THREE, True)]
    (only,) = recall.search(ferries, question, limit=1).memories
    assert only.text == FOUR


def test_a_search_can_leave_former_values_out(ferries: Namespace) -> None:
    found = recall.search(ferries, QUESTION, limit=5, former=False).memories
    assert [one.text for one in found if "ferries" in one.text] == [FOUR]


def test_as_of_a_moment_before_the_change_nothing_was_former(ferries: Namespace) -> None:
    change = ferries.memories.get(text=FOUR).changes.get()
    (then,) = recall.search(
        ferries, QUESTION, limit=1, as_of=change.at.replace(microsecond=0)
    ).memories or [None]
    assert then is None or not then.formerly


def test_a_chain_of_changes_shows_the_last_value_first(ferries: Namespace) -> None:
    five = FOUR.replace("four", "five")
    remember(ferries, five, source="session 3")
    found = recall.search(ferries, OF_THE_FORMER, limit=3).memories
    assert found[0].text == five
    assert [one.formerly for one in found[:3]] == [False, True, True]


def test_tools_and_rest_mark_former_values(world: World) -> None:
    agent = Agent(world, "mira-voss")
    agent("POST", "/memory", {"contents": [THREE], "source": "session 1"}, status=201)
    agent("POST", "/memory", {"contents": [FOUR], "source": "session 2"}, status=201)
    asked = {"query": OF_THE_FORMER}
    for path in (
        "/memory/search",
        "/memory/query",
        "/tools/memory_ask",
        "/tools/archival_memory_search",
    ):
        answer = agent("POST", path, asked)
        hits = answer.get("hits") or answer["memories"]
        shown = [(hit["text"], hit["formerly"], hit["now"]) for hit in hits]
        assert shown == [(FOUR, False, None), (THREE, True, hits[0]["id"])], path


def test_a_rewording_of_a_former_or_of_a_current_memory_changes_nothing(
    ferries: Namespace,
) -> None:
    by_text = dict(ferries.memories.values_list("text", "pk"))
    edits.edit(ferries, by_text[THREE], THREE.replace("owns", "has"), by="a person")
    edits.edit(ferries, by_text[FOUR], FOUR.replace("owns", "has"), by="a person")
    found = recall.search(ferries, OF_THE_FORMER, limit=2).memories
    assert [("four" in one.text, one.formerly) for one in found] == [(True, False), (False, True)]


def test_texts_alone_are_the_current_ones(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.add([THREE])
    memory.add([FOUR])
    assert memory.search(OF_THE_FORMER, 2) == [FOUR]


def test_the_migration_undoes_contradictions_between_texts_about_other_things(
    ferries: Namespace,
) -> None:
    greeting, answer, edited = remember(
        ferries,
        "Good to see you, Sabine! My mill has two wheels. How are you?",
        "Fine, Tobin, thank you! The ferry had three passengers. See you in Esk.",
        "Good to see you, Sabine! My mill has three wheels. How are you, dear?",
    ).ids
    reason = "another number"
    false = Succession.objects.create(
        older_id=greeting, newer_id=answer, kind="formerly", reason=reason
    )
    by_hand = Succession.objects.create(
        older_id=answer, newer_id=edited, kind="formerly", reason="restored"
    )
    module = import_module("memories.migrations.0019_contradictions_of_statements")
    with connection.schema_editor() as editor:
        module.undo_false_links(apps, editor)
    false.refresh_from_db()
    by_hand.refresh_from_db()
    assert (false.in_effect, by_hand.in_effect) == (False, True)
    assert false.undone_at is not None
    assert Succession.objects.get(newer__text=FOUR).in_effect
