"""A line of the core memory knows which memories it comes from, and says when they are gone."""

from typing import Any

import pytest
from django.test import Client

from memories import core, core_lines, core_policy, tools
from memories.core_lines import LineEvidence
from memories.curation import lifecycle
from memories.erasure import deletion
from memories.ingest import add
from memories.ingest.model_add import Models
from memories.models import CoreLine, MemoryItem, Namespace
from memories.models.namespaces import Review
from memories.vectors import SiteSource
from retrieval.errors import NotFound
from tests.memories.conftest import remember
from tests.memories.fakes import Echo
from worlds.callers import Caller

pytestmark = pytest.mark.django_db
ANSWERS = "Mira prefers short answers."
CORE = f"# SOUL\n\n# TOOLS\n\n# RULE\n- Never say who pays Tobin.\n\n# USER\n- {ANSWERS}\n"


def lines(namespace: Namespace) -> dict[str, LineEvidence]:
    found = core_lines.lines_with_evidence(namespace, core.current(namespace).markdown)
    return {line.text: line for line in found}


def evidence(namespace: Namespace) -> dict[str, list[str]]:
    found = lines(namespace).items()
    return {text: [memory.text for memory in line.memories] for text, line in found}


@pytest.fixture
def with_core(mira: Namespace) -> Namespace:
    remember(mira, "Mira told us that she prefers short answers.", "Tobin rings the toll bell.")
    core.write_by_hand(mira, CORE, reason="")
    return mira


def test_a_line_rests_on_the_memories_that_say_it(with_core: Namespace) -> None:
    assert evidence(with_core) == {
        "Never say who pays Tobin.": [],
        ANSWERS: ["Mira told us that she prefers short answers."],
    }
    assert not any(line.retracted for line in lines(with_core).values())


def test_a_line_is_flagged_when_its_memory_is_archived_and_not_any_more_when_it_is_back(
    with_core: Namespace,
) -> None:
    (memory,) = lines(with_core)[ANSWERS].memories
    lifecycle.archive(with_core, memory.pk, by="gm")
    assert (lines(with_core)[ANSWERS].retracted, evidence(with_core)[ANSWERS]) == (1, [])
    lifecycle.restore(with_core, memory.pk, by="gm")
    assert lines(with_core)[ANSWERS].retracted == 0


def test_a_line_in_other_words_stays_flagged_when_its_memory_was_erased(
    with_core: Namespace,
) -> None:
    (memory,) = lines(with_core)[ANSWERS].memories
    receipt = deletion.erase(with_core, "memory", memory.pk)
    assert lines(with_core)[ANSWERS].retracted == 1
    assert receipt.leftovers == []
    core_lines.confirm_line(with_core, str(lines(with_core)[ANSWERS].id))
    assert lines(with_core)[ANSWERS].retracted == 0
    with pytest.raises(NotFound):
        core_lines.confirm_line(with_core, "no id")


def test_a_line_that_repeats_an_erased_memory_leaves_nothing(mira: Namespace) -> None:
    (pk,) = remember(mira, ANSWERS).ids
    core.write_by_hand(mira, CORE, reason="")
    receipt = deletion.erase(mira, "memory", pk)
    assert receipt.leftovers == []
    assert ANSWERS not in lines(mira)
    assert not CoreLine.objects.filter(text=ANSWERS).exists()


def test_an_unchanged_line_keeps_its_evidence(with_core: Namespace) -> None:
    before = lines(with_core)[ANSWERS]
    remember(with_core, "She prefers short answers, Mira says again and again.")
    core.append(with_core, "TOOLS", "The bell is loud.")
    assert lines(with_core)[ANSWERS].id == before.id
    assert evidence(with_core)[ANSWERS] == [memory.text for memory in before.memories]
    core.replace(with_core, "USER", "short", "very short")
    assert ANSWERS not in lines(with_core)
    assert not CoreLine.objects.filter(text=ANSWERS).exists()


class Summarizes(Echo):
    core = {
        "should_update": True,
        "core_markdown": CORE.replace(ANSWERS, "사용자는 간결함을 선호."),
    }


@pytest.mark.parametrize("review", [Review.OFF, Review.CORE])
def test_what_a_model_says_in_other_words_rests_on_what_it_was_given(
    mira: Namespace, review: Review
) -> None:
    Namespace.objects.filter(pk=mira.pk).update(review=review)
    mira.refresh_from_db()
    remember(mira, "The ferry leaves at dawn.")
    models = Models(SiteSource(), Summarizes())
    add.add(mira, ["Mira prefers brief replies."], models=models)
    if review == Review.CORE:
        core.approve(mira.core_proposals.get().pk, mira, author="gm")
    assert evidence(mira)["사용자는 간결함을 선호."] == ["Mira prefers brief replies."]


def test_the_tools_name_the_evidence(with_core: Namespace) -> None:
    caller = Caller.gm(with_core.world)
    caller = Caller(world=caller.world, audience=caller.audience, namespace=with_core.name)
    ask = tools.CoreAppendAsk(section="TOOLS", content="Tobin rings the toll bell.")
    answer = tools.core_memory_append(ask, caller)
    bell = MemoryItem.objects.get(text="Tobin rings the toll bell.")
    assert {line.text: line.memories for line in answer.lines}[ask.content] == [str(bell.pk)]


def test_the_page_shows_the_evidence_and_takes_the_confirmation(
    with_core: Namespace, admin_client: Client
) -> None:
    (memory,) = lines(with_core)[ANSWERS].memories
    lifecycle.archive(with_core, memory.pk, by="gm")
    address = f"/admin/memories/namespace/{with_core.pk}/core/"
    page = admin_client.get(address).content.decode()
    assert "1 memory that it comes from was deleted or is no longer in use." in page
    # That of the line which somebody wrote.
    assert page.count("No memory says this.") == 1
    line: Any = lines(with_core)[ANSWERS].id
    admin_client.post(address, {"act": f"holds:{line}"})
    assert lines(with_core)[ANSWERS].retracted == 0


def test_the_page_says_of_a_line_from_before_that_its_memories_are_unknown(
    with_core: Namespace, admin_client: Client
) -> None:
    CoreLine.objects.filter(namespace=with_core, text=ANSWERS).delete()
    page = admin_client.get(f"/admin/memories/namespace/{with_core.pk}/core/").content.decode()
    assert page.count("Written before the memories of a line were recorded.") == 1
    assert page.count("No memory says this.") == 1
    core.write_by_hand(with_core, CORE.replace("short answers", "short, kind answers"), reason="")
    page = admin_client.get(f"/admin/memories/namespace/{with_core.pk}/core/").content.decode()
    assert "Written before" not in page


@pytest.mark.parametrize(
    ("line", "is_lasting"),
    [
        ("Currently we are debugging the toll script.", False),
        ("The user is tired today.", False),
        ("Сегодня пользователь устал.", False),
        ("오늘 사용자는 피곤하다.", False),
        ("Write today's date as 4 May.", True),
        ("Prefers short answers.", True),
        ("Играет по четвергам.", True),
        ("목요일마다 게임을 진행한다.", True),
    ],
)
def test_a_line_about_today_is_not_lasting(line: str, *, is_lasting: bool) -> None:
    page = f"# SOUL\n\n# TOOLS\n\n# RULE\n\n# USER\n- {line}\n"
    assert (core_policy.problems(page) == []) is is_lasting
