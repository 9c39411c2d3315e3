"""A house rule answers in the place of the rule it replaces, in its world or campaign alone."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from knowledge.models import Rule
from knowledge.presenters import SearchAnswer
from knowledge.schemas import RuleIn, RulesQuestion
from knowledge.tools import rules_lookup
from knowledge.upsert import upsert_rule
from retrieval.errors import Conflict, Invalid, NotFound
from tests import cast
from worlds.audiences import GM, PUBLIC, Audience
from worlds.callers import Caller
from worlds.models import Campaign, Membership, World

GRAPPLED = "srd-5.1/conditions/grappled"
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rules")]


def write_rule(world: World, rule_id: str = "house/grappled", **fields: Any) -> Rule:
    entry = {"title": "Grappled", "body": "A grappled creature may bite.", "overrides": GRAPPLED}
    return upsert_rule(world, RuleIn(rule_id=rule_id, **{**entry, **fields}))[0]


def ask(
    world: World,
    campaign: Campaign | None = None,
    audience: Audience = GM,
    **question: object,
) -> SearchAnswer:
    return rules_lookup(RulesQuestion(**question), Caller(world, audience, campaign))


def ids(answer: SearchAnswer) -> list[str]:
    return [hit.id for hit in answer.hits]


def test_the_house_rule_answers_and_says_what_it_replaces(world: World) -> None:
    write_rule(world)
    answer = ask(world, term="grappled")
    assert ids(answer)[0] == "house/grappled"
    assert answer.hits[0].overrides == GRAPPLED
    assert GRAPPLED not in ids(answer)


def test_the_id_of_the_replaced_rule_leads_to_the_house_rule_with_the_original_after_it(
    world: World,
) -> None:
    write_rule(world)
    assert ids(ask(world, rule_id=GRAPPLED)) == ["house/grappled", GRAPPLED]
    assert ids(ask(world, rule_id="house/grappled")) == ["house/grappled"]


def test_another_world_of_the_system_keeps_the_shared_rule(world: World) -> None:
    write_rule(world)
    other = cast.create_world(slug="elsewhere", name="Elsewhere")
    assert ids(ask(other, rule_id=GRAPPLED)) == [GRAPPLED]
    assert "house/grappled" not in ids(ask(other, term="grappled"))


@pytest.mark.parametrize("name", ["схваченный", "붙잡힌 상태", "Grappled", "What is схваченный?"])
def test_every_name_of_the_replaced_rule_means_the_house_rule(
    world: World, campaign: Campaign, name: str
) -> None:
    original = ids(ask(world, term=name))
    assert original[0] == GRAPPLED
    write_rule(world, title="Grappled", aliases=[])
    assert ids(ask(world, term=name))[0] == "house/grappled"
    write_rule(world, "house/low-water/held", title="Held", campaign=campaign.slug)
    assert ids(ask(world, campaign, term=name))[0] == "house/low-water/held"
    assert ids(ask(world, term=name))[0] == "house/grappled"
    other = cast.create_world(slug="elsewhere", name="Elsewhere")
    assert ids(ask(other, term=name))[0] == GRAPPLED


def test_the_name_of_a_replaced_rule_finds_the_house_rule_like_its_id(world: World) -> None:
    write_rule(world, title="Held", aliases=[])
    assert ids(ask(world, rule_id="схваченный")) == ["house/grappled"]
    write_rule(world, title="Held", visibility="gm", aliases=[])
    assert ids(ask(world, audience=PUBLIC, rule_id="схваченный")) == [GRAPPLED]
    assert ids(ask(world, audience=PUBLIC, term="схваченный"))[0] == GRAPPLED


def test_a_campaign_replaces_the_house_rule_of_its_world(world: World, campaign: Campaign) -> None:
    write_rule(world)
    rule = write_rule(
        world, "house/low-water/grappled", campaign=campaign.slug, body="Grappling drowns."
    )
    assert rule.overrides is not None
    assert rule.overrides.key == "house/grappled"
    assert ids(ask(world, campaign, rule_id=GRAPPLED)) == [rule.key, GRAPPLED]
    assert ids(ask(world, campaign, term="grappled"))[0] == rule.key
    assert ids(ask(world, rule_id=GRAPPLED)) == ["house/grappled", GRAPPLED]


def test_a_house_rule_that_comes_later_goes_between_canon_and_the_campaigns_rule(
    world: World, campaign: Campaign
) -> None:
    rule = write_rule(world, "house/low-water/grappled", campaign=campaign.slug)
    write_rule(world)
    rule.refresh_from_db()
    assert rule.overrides is not None
    assert rule.overrides.key == "house/grappled"
    assert ids(ask(world, campaign, rule_id=GRAPPLED))[0] == rule.key


def test_a_hidden_house_rule_replaces_nothing_for_players(world: World) -> None:
    write_rule(world, visibility="gm")
    assert ids(ask(world, rule_id=GRAPPLED))[0] == "house/grappled"
    assert ids(ask(world, audience=PUBLIC, rule_id=GRAPPLED)) == [GRAPPLED]
    assert GRAPPLED in ids(ask(world, audience=PUBLIC, term="grappled"))


def test_the_id_of_a_hidden_original_is_not_told(world: World) -> None:
    write_rule(world, "house/secret", overrides=None, visibility="gm", title="Drowning pact")
    write_rule(world, "house/known", overrides="house/secret", title="Swimming")
    answer = ask(world, audience=PUBLIC, rule_id="house/known")
    assert answer.hits[0].overrides is None
    assert ask(world, rule_id="house/known").hits[0].overrides == "house/secret"


def test_what_cannot_be_replaced_is_refused(world: World) -> None:
    write_rule(world)
    with pytest.raises(Conflict):
        write_rule(world, "house/other", title="Other")
    with pytest.raises(NotFound):
        write_rule(world, "house/new", overrides="srd-5.1/conditions/unheard-of")
    with pytest.raises(Invalid):
        write_rule(world, "house/grappled", overrides="house/grappled")


class TestPages:
    @pytest.fixture
    def gm(self, world: World) -> Client:
        user = get_user_model().objects.create_user("anna")
        Membership.objects.create(user=user, world=world, role="gm")
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    def test_a_house_rule_is_written_by_clicking(
        self, gm: Client, world: World, campaign: Campaign
    ) -> None:
        form = gm.get(f"/w/{world.slug}/rules/{GRAPPLED}/replace/").content.decode()
        assert "Grappled" in form
        fields = {"title": "Grappled", "body": "They may bite.", "campaign": campaign.slug}
        answer = gm.post(f"/w/{world.slug}/rules/{GRAPPLED}/replace/", fields, follow=True)
        page = answer.content.decode()
        assert "They may bite." in page
        assert "Show the original rule" in page
        rule = Rule.objects.get(world=world)
        assert (rule.campaign, rule.aliases) == (campaign, [])
        assert "They may bite." in gm.get(f"/w/{world.slug}/rules/{GRAPPLED}/").content.decode()
        assert "Grappled" in gm.get(f"/w/{world.slug}/rules/").content.decode()

    def test_what_replaces_a_hidden_rule_is_hidden_too(
        self, gm: Client, world: World, campaign: Campaign
    ) -> None:
        write_rule(world, "house/pact", visibility="gm", overrides=None)
        fields = {"title": "Pact", "body": "The pact costs blood.", "campaign": campaign.slug}
        gm.post(f"/w/{world.slug}/rules/house/pact/replace/", fields)
        assert Rule.objects.get(campaign=campaign).visibility == "gm"

    def test_a_text_with_an_open_secret_is_refused_with_its_line(
        self, gm: Client, world: World
    ) -> None:
        fields = {"title": "Bites", "body": "Bite.\n\n:::secret\nNever closed.", "campaign": ""}
        page = gm.post(f"/w/{world.slug}/rules/new/", fields).content.decode()
        assert "3" in page
        assert "Never closed." in page
        assert not Rule.objects.filter(world=world).exists()

    @pytest.mark.parametrize("key", ["unknown/rule", "x", "%00", "a" * 300])
    def test_a_rule_that_does_not_exist_is_not_found(
        self, gm: Client, world: World, key: str
    ) -> None:
        assert gm.get(f"/w/{world.slug}/rules/{key}/").status_code == 404
        assert gm.get(f"/w/{world.slug}/rules/{key}/replace/").status_code == 404

    def test_players_read_rules_and_write_none(self, world: World) -> None:
        user = get_user_model().objects.create_user("pat")
        Membership.objects.create(user=user, world=world, role="player")
        pat = Client()
        pat.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        assert pat.get(f"/w/{world.slug}/rules/{GRAPPLED}/").status_code == 200
        assert pat.get(f"/w/{world.slug}/rules/").status_code == 404
        assert pat.get(f"/w/{world.slug}/rules/new/").status_code == 404
