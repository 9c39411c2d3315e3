"""Derived memories made again from their observations: by the language model when there is one,
else as they came.
"""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from memories.curation import rebuild
from memories.erasure import deletion
from memories.ingest import add
from memories.models import MemoryItem, Namespace, Observation, Succession
from memories.models.namespaces import Review
from memories.states import LinkKind, Maker, State
from memories.vectors import SiteSource
from tests.loopback import answers
from tests.loopback.server import Loopback
from tests.memories.conftest import remember

pytestmark = pytest.mark.django_db(transaction=True)

FERRIES, BELL = "Mira Voss owns three ferries at the lower landing.", "Tobin keeps the toll bell."


def retell_or_split(body: dict[str, Any]) -> answers.Answer:
    """A model that takes every text for one fact, and retells what it is asked about."""
    prompt = body["messages"][-1]["content"]
    contents = prompt.partition("New contents:")[2].partition("Task:")[0] or prompt
    facts = [line.removeprefix("- ") for line in contents.splitlines() if line.startswith("- ")]
    if "New contents:" in prompt:
        return json_answer(
            body, {"memories": [f"Known: {fact}" for fact in facts], "coverage": "complete"}
        )
    return json_answer(body, {"contents": facts})


def json_answer(body: dict[str, Any], value: dict[str, Any]) -> answers.Answer:
    scripted = answers.answer_json(value)
    return scripted(body) if callable(scripted) else scripted


def makers_by_text(namespace: Namespace) -> dict[str, str]:
    return dict(MemoryItem.objects.of(namespace).active().values_list("text", "made_by"))


def rebuild_by_site_model(namespace: Namespace, **options: Any) -> rebuild.RebuildResult:
    return rebuild.rebuild_memories(namespace, model=add.site_model(namespace), **options)


def test_the_model_is_asked_again_and_what_it_says_takes_the_place(
    mira: Namespace, scripted_llm: Loopback
) -> None:
    old = {FERRIES: remember_by_rules(mira, FERRIES), BELL: remember_by_rules(mira, BELL)}
    scripted_llm.chat.always(retell_or_split)
    result = rebuild_by_site_model(mira, everything=True)
    assert (result.derived_count, result.replaced_count, result.unchanged_count) == (2, 2, 0)
    assert makers_by_text(mira) == {f"Known: {FERRIES}": Maker.MODEL, f"Known: {BELL}": Maker.MODEL}
    for text, pk in old.items():
        new = Succession.objects.get(older=pk, kind=LinkKind.SUPERSEDES).newer
        assert new.text == f"Known: {text}"
        assert [seen.text for seen in new.observations.all()] == [text]


def remember_by_rules(namespace: Namespace, text: str) -> object:
    result = add.add(namespace, [text], models=add.Models(SiteSource()))
    return [*result.ids, *result.confirmed][0]


@pytest.mark.parametrize(
    "fault",
    [
        answers.status(500),
        answers.status(429, retry_after=0),
        answers.garbage(),
        answers.not_json(),
        answers.drop(),
        answers.say("no json at all"),
        answers.say('{"memories": [], "coverage": "complete"}'),
        answers.say('{"memories": ["x"], "coverage": "incomplete"}'),
    ],
    ids=["errs", "limits", "garbage", "half", "drops", "prose", "empty", "incomplete"],
)
def test_a_model_that_fails_supersedes_nothing_and_loses_nothing(
    mira: Namespace, scripted_llm: Loopback, fault: answers.Scripted
) -> None:
    remember_by_rules(mira, FERRIES)
    orphan = Observation.objects.create(namespace=mira, text=BELL)
    scripted_llm.chat.always(fault)
    result = rebuild_by_site_model(mira, everything=True)
    assert scripted_llm.chat.received
    assert (result.derived_count, result.replaced_count, result.unchanged_count) == (1, 0, 1)
    assert makers_by_text(mira) == {FERRIES: Maker.RULES, BELL: Maker.REBUILD}
    assert MemoryItem.objects.get(text=BELL).observations.get() == orphan
    assert not MemoryItem.objects.exclude(state=State.ACTIVE).exists()


def test_observations_of_one_memory_are_in_one_request(
    mira: Namespace, scripted_llm: Loopback
) -> None:
    remember_by_rules(mira, BELL)
    remember_by_rules(mira, "tobin keeps the TOLL bell!")
    scripted_llm.chat.always(retell_or_split)
    rebuild_by_site_model(mira, everything=True)
    prompts = [body["messages"][-1]["content"] for body in scripted_llm.chat.requests]
    assert sum("New contents:" in prompt for prompt in prompts) == 1


def test_what_is_reviewed_waits_and_the_old_stays_in_use(
    mira: Namespace, scripted_llm: Loopback
) -> None:
    remember_by_rules(mira, FERRIES)
    Namespace.objects.filter(pk=mira.pk).update(review=Review.ALL)
    scripted_llm.chat.always(retell_or_split)
    assert rebuild_by_site_model(mira, everything=True).replaced_count == 0
    assert makers_by_text(mira) == {FERRIES: Maker.RULES}
    assert MemoryItem.objects.get(text=f"Known: {FERRIES}").state == State.PENDING


def test_what_is_erased_while_the_model_answers_does_not_come_back(
    mira: Namespace, scripted_llm: Loopback
) -> None:
    pk = remember_by_rules(mira, FERRIES)

    class Meanwhile:
        def generate_structured(
            self, system_prompt: str, user_prompt: str, response_model: type
        ) -> dict[str, Any]:
            if "contents" in response_model.model_fields:  # type: ignore[attr-defined]
                return {"contents": [FERRIES]}
            deletion.erase(mira, "memory", pk, by="Ingrid")  # type: ignore[arg-type]
            return {"memories": [f"Known: {FERRIES}"], "coverage": "complete"}

    assert rebuild.rebuild_memories(mira, everything=True, model=Meanwhile()).derived_count == 0
    assert not MemoryItem.objects.of(mira).exists()


def test_without_a_model_each_is_taken_as_it_came(mira: Namespace) -> None:
    remember(mira, FERRIES)
    result = rebuild_by_site_model(mira, everything=True)
    assert (result.derived_count, result.replaced_count) == (1, 1)
    assert makers_by_text(mira) == {FERRIES: Maker.REBUILD}


def test_the_command_asks_the_model_of_the_settings(
    mira: Namespace, scripted_llm: Loopback
) -> None:
    remember_by_rules(mira, FERRIES)
    scripted_llm.chat.always(retell_or_split)
    out = StringIO()
    call_command("memory", "rebuild", mira.name, everything=True, stdout=out)
    assert out.getvalue() == "1 derived, 1 superseded.\n"
    assert makers_by_text(mira) == {f"Known: {FERRIES}": Maker.MODEL}
