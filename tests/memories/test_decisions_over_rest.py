"""What a person decides over REST: code rules under review, merges by rules, mentions of a deleted
subject, lines of the core memory."""

from typing import Any

import pytest
from django.test import Client

from memories.coding_agent import SemanticMemoryManager
from memories.coding_agent.episodes import Patch, TaskEpisode
from memories.coding_agent.stores import PostgresMemoryStore
from memories.models import MemoryItem, Namespace, StoredCodeRule
from memories.models.namespaces import Review
from tests.memories.conftest import remember
from tests.memories.test_api import Agent
from worlds.models import World

pytestmark = pytest.mark.django_db
PATCH = {"before": "x = d['a']", "after": "x = d.get('a')"}


@pytest.fixture
def agent(world: World) -> Agent:
    return Agent(world, "mira-voss")


@pytest.fixture
def reviewer(world: World) -> Agent:
    return Agent(world, "mira-voss", scopes=("agent:write", "agent:review"))


@pytest.fixture
def reviewed(mira: Namespace) -> Namespace:
    Namespace.objects.filter(pk=mira.pk).update(review=Review.ALL)
    mira.refresh_from_db()
    return mira


def test_a_rule_is_not_used_before_somebody_approves_it(
    reviewed: Namespace, agent: Agent, reviewer: Agent
) -> None:
    (rule,) = agent("POST", "/memory/code-rules/detect", PATCH)
    assert agent("GET", "/memory/code-rules") == []
    assert PostgresMemoryStore(reviewed).get_code_rule(rule["id"]) is None
    assert [one["id"] for one in agent("GET", "/memory/code-rules/pending")] == [rule["id"]]
    address = f"/memory/code-rules/pending/{rule['id']}/approve"
    problem = agent("POST", address, {}, status=403)
    assert "agent:review" in problem["detail"]
    assert reviewer("POST", address, {})["id"] == rule["id"]
    assert [one["id"] for one in agent("GET", "/memory/code-rules")] == [rule["id"]]
    reviewer("POST", address, {}, status=409)


def test_an_episode_teaches_no_rule_past_the_review(reviewed: Namespace) -> None:
    store = PostgresMemoryStore(reviewed)
    episode = TaskEpisode(task="Compare", patches=[Patch(file_path="a.py", **PATCH)])
    SemanticMemoryManager(store).learn_from_episode(episode)
    assert StoredCodeRule.objects.get().state == "pending"
    assert store.find_code_rules() == []
    assert SemanticMemoryManager(store).get_relevant_knowledge("compare").code_rules == []


def test_a_rejected_rule_is_not_learned_again(
    reviewed: Namespace, agent: Agent, reviewer: Agent
) -> None:
    (rule,) = agent("POST", "/memory/code-rules/detect", PATCH)
    reviewer("POST", f"/memory/code-rules/pending/{rule['id']}/reject", {})
    agent("POST", "/memory/code-rules/detect", PATCH)
    assert [row.state for row in StoredCodeRule.objects.all()] == ["rejected"]
    assert agent("GET", "/memory/code-rules/pending") == agent("GET", "/memory/code-rules") == []


def test_other_words_of_an_approved_rule_wait_again(
    reviewed: Namespace, agent: Agent, reviewer: Agent
) -> None:
    (rule,) = agent("POST", "/memory/code-rules/detect", PATCH)
    reviewer("POST", f"/memory/code-rules/pending/{rule['id']}/approve", {})
    store = PostgresMemoryStore(reviewed)
    stored = store.get_code_rule(rule["id"])
    assert stored is not None
    store.save_code_rule(stored)
    assert StoredCodeRule.objects.get().state == "active"
    store.save_code_rule(type(stored)(**{**vars(stored), "after_pattern": "a is not None"}))
    assert StoredCodeRule.objects.get().state == "pending"


def test_the_inbox_shows_rules_and_takes_decisions(
    reviewed: Namespace, agent: Agent, admin_client: Client
) -> None:
    (rule,) = agent("POST", "/memory/code-rules/detect", PATCH)
    address = f"/admin/memories/namespace/{reviewed.pk}/inbox/"
    page = admin_client.get(address).content.decode()
    assert "They are applied when you approve them." in page
    assert "Nothing is waiting for approval." not in page
    admin_client.post(address, {"act": f"approve_rule:{rule['id']}"})
    assert StoredCodeRule.objects.get().state == "active"


def test_merges_by_rules_are_decided_over_rest(
    mira: Namespace, agent: Agent, reviewer: Agent
) -> None:
    remember(mira, "Mira owns three grey ferries.", "Tobin rings the toll bell at dawn.")
    remember(mira, "Three grey ferries are what Mira owns.")
    remember(mira, "Tobin rings the toll bell at dawn.", tags=["night"])
    doubtful, sure = agent("GET", "/memory/merges")
    assert doubtful["older"]["text"] == "Mira owns three grey ferries."
    assert doubtful["similarity"] < sure["similarity"]
    agent("POST", f"/memory/merges/{doubtful['id']}/separate", {}, status=403)
    reviewer("POST", f"/memory/merges/{doubtful['id']}/separate", {})
    reviewer("POST", f"/memory/merges/{sure['id']}/same", {})
    assert agent("GET", "/memory/merges") == []
    assert MemoryItem.objects.get(pk=doubtful["older"]["id"]).state == "active"


def test_core_lines_over_rest(mira: Namespace, agent: Agent, reviewer: Agent) -> None:
    (pk,) = remember(mira, "Mira told us that she prefers short answers.").ids
    core = "# SOUL\n# TOOLS\n# RULE\n# USER\n- Mira prefers short answers.\n"
    agent("PUT", "/memory/core", {"markdown": core})
    (line,) = agent("GET", "/memory/core/lines")
    assert (line["section"], line["memories"][0]["id"]) == ("USER", str(pk))
    agent("POST", f"/memory/item/{pk}/archive", {})
    assert agent("GET", "/memory/core/lines")[0]["retracted"] == 1
    address = f"/memory/core/lines/{line['id']}/confirm"
    agent("POST", address, {}, status=403)
    assert reviewer("POST", address, {})[0]["retracted"] == 0


@pytest.fixture
def tobin_among_others(mira: Namespace) -> Namespace:
    remember(mira, "Tobin was born in Carrow.", subject="Tobin Reed", names=["the bell-ringer"])
    remember(mira, "Mira owes Tobin nine silver.", subject="Mira Voss")
    remember(mira, "The bell-ringer drinks at the Salt Gate.", "Mira owns three ferries.")
    return mira


def texts(rows: list[dict[str, Any]]) -> set[str]:
    return {row["text"] for row in rows}


OTHERS = {"Mira owes Tobin nine silver.", "The bell-ringer drinks at the Salt Gate."}


def test_mentions_of_a_subject_are_offered_by_name_and_alias(
    tobin_among_others: Namespace, agent: Agent
) -> None:
    assert texts(agent("GET", "/memory/mentions?subject=Tobin+Reed")) == OTHERS
    assert agent("GET", "/memory/mentions?subject=Nobody") == []


def test_a_deletion_takes_the_mentions_that_are_named(
    tobin_among_others: Namespace, agent: Agent
) -> None:
    found = agent("GET", "/memory/mentions?subject=Tobin+Reed")
    debt = next(row["id"] for row in found if "nine silver" in row["text"])
    ask = {"scope": "subject", "target": "Tobin Reed", "also": [debt]}
    receipt = agent("POST", "/memory/erase", ask)
    assert receipt["is_clean"]
    assert set(MemoryItem.objects.values_list("text", flat=True)) == {
        *("The bell-ringer drinks at the Salt Gate.", "Mira owns three ferries."),
    }


def test_nobody_deletes_what_is_another_agents(
    tobin_among_others: Namespace, world: World, agent: Agent
) -> None:
    found = agent("GET", "/memory/mentions?subject=Tobin+Reed")
    other = Agent(world, "tobin")
    assert other("GET", "/memory/mentions?subject=Tobin+Reed") == []
    ask = {"scope": "subject", "target": "Tobin Reed", "also": [found[0]["id"]]}
    other("POST", "/memory/erase", ask, status=404)
    assert MemoryItem.objects.count() == 4


def test_the_page_offers_mentions(tobin_among_others: Namespace, admin_client: Client) -> None:
    address = f"/admin/memories/namespace/{tobin_among_others.pk}/erase/"
    page = admin_client.get(address, {"subject": "Tobin Reed"}).content.decode()
    assert all(text in page for text in OTHERS)
    debt = MemoryItem.objects.get(text="Mira owes Tobin nine silver.")
    form = {"scope": "subject", "target": "Tobin Reed", "also": str(debt.pk)}
    admin_client.post(address, {**form, "confirm": tobin_among_others.name})
    assert not MemoryItem.objects.filter(pk=debt.pk).exists()
    admin_client.post(address, {**form, "also": "no id", "confirm": tobin_among_others.name})
    assert MemoryItem.objects.count() == 2
