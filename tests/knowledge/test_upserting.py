"""Entries that programs send: created, changed by what was sent, proposed, refused in words."""

import pytest
from pydantic import ValidationError

from knowledge.editing_models import LoreProposal
from knowledge.models import Lore, LorePassage, Rule
from knowledge.proposals import accept, propose, reject
from knowledge.schemas import LoreIn, ProposalIn, RuleIn
from knowledge.upsert import find_lore_entry, upsert_lore, upsert_rule
from retrieval.errors import Ambiguous, Conflict, Invalid, NotFound
from worlds.audiences import Audience
from worlds.models import Campaign, Party, World
from worlds.reveals import reveal


def test_a_new_entry_is_a_hidden_draft_by_default(world: World) -> None:
    row, outcome = upsert_lore(world, LoreIn(title="Зал вёсел", body="Дубовые вёсла."))
    assert (outcome, row.slug, row.language) == ("created", "зал-вёсел", "ru")
    assert (row.visibility, row.status) == ("gm", "draft")


def test_only_the_fields_that_are_sent_change(world: World) -> None:
    upsert_lore(
        world,
        LoreIn(
            title="The Quay", body="Wet.", tags=["river"], status="published", visibility="public"
        ),
    )
    row, outcome = upsert_lore(world, LoreIn(title="The Quay", body="Very wet."))
    assert outcome == "changed"
    assert (row.body, row.tags, row.status, row.visibility, row.version) == (
        "Very wet.",
        ["river"],
        "published",
        "public",
        2,
    )
    assert upsert_lore(world, LoreIn(title="The Quay", body="Very wet."))[1] == "unchanged"


def test_an_upsert_keeps_the_audiences_of_reveals(
    world: World, lanternbearers: Party, gilded_oath: Party
) -> None:
    row, _created = upsert_lore(world, LoreIn(title="The Choir", body="Sings.", status="published"))
    reveal(row, Audience("party", "lanternbearers"))
    entry = LoreIn(title="The Choir", visibility="revealed", known_to=["party:gilded-oath"])
    row, _changed = upsert_lore(world, entry)
    assert row.known_to == ["party:gilded-oath", "party:lanternbearers"]


def test_an_entry_of_a_campaign_overrides_the_canon_of_its_slug(
    world: World, campaign: Campaign
) -> None:
    canon, _created = upsert_lore(world, LoreIn(title="The Bell", body="Hangs."))
    own, _created = upsert_lore(world, LoreIn(title="The Bell", body="Lies.", campaign="low-water"))
    assert own.pk != canon.pk
    assert own.overrides == canon
    assert Lore.objects.get(pk=canon.pk).body == "Hangs."


def test_canon_cannot_override(world: World) -> None:
    upsert_lore(world, LoreIn(title="The Bell"))
    with pytest.raises(Invalid, match="campaign"):
        upsert_lore(world, LoreIn(title="Another", overrides="the-bell"))


def test_an_unknown_campaign_is_refused_with_candidates(world: World, campaign: Campaign) -> None:
    with pytest.raises(NotFound) as caught:
        upsert_lore(world, LoreIn(title="The Bell", campaign="high-water"))
    assert list(caught.value.candidates) == ["low-water"]


def test_an_entry_is_called_by_slug_id_or_name_and_never_guessed(world: World) -> None:
    mira, _created = upsert_lore(world, LoreIn(title="Mira Voss", aliases=["Мира Восс"]))
    upsert_lore(world, LoreIn(title="Old Tam", aliases=["Tam"]))
    upsert_lore(world, LoreIn(title="Young Tam", aliases=["Tam"]))
    for reference in ("mira-voss", str(mira.pk), "mira voss", "Миру Восс"):
        assert find_lore_entry(world, reference) == mira
    with pytest.raises(Ambiguous):
        find_lore_entry(world, "Tam")


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"title": "x" * 201},
        {"title": "Bell", "known_to": ["gm"]},
        {"title": "Bell", "known_to": ["party:"]},
        {"title": "Bell", "colour": "red"},
        {"title": "Bell", "in_world_at": float("nan")},
        {"title": "Bell", "slug": "a b"},
    ],
)
def test_what_cannot_be_stored_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises((ValidationError, Invalid)):
        LoreIn(**wrong)


def test_a_nul_character_is_left_out(world: World) -> None:
    row, _created = upsert_lore(world, LoreIn(title="The\0 Bell", body="It\0 hangs."))
    assert (row.title, row.body) == ("The Bell", "It hangs.")


def test_a_house_rule_cannot_take_the_id_of_a_shared_rule(
    world: World, rules: dict[str, Rule]
) -> None:
    with pytest.raises(Conflict):
        upsert_rule(world, RuleIn(rule_id="srd-5.1/spells/fly", title="Fly", body="No."))
    row, outcome = upsert_rule(
        world, RuleIn(rule_id="house/seasick", title="Seasick", body="Roll a d20.")
    )
    assert (outcome, row.document.world) == ("created", world)
    assert (
        upsert_rule(world, RuleIn(rule_id="house/seasick", title="Seasick", body="Roll a d20."))[1]
        == "unchanged"
    )


class TestProposals:
    @pytest.fixture
    def proposal(self, world: World) -> LoreProposal:
        entry = LoreIn(title="The Tenth Boat", body="Nobody rowed it.", status="published")
        return propose(
            world, ProposalIn(entry=entry, reason="It was mentioned twice."), by="scene bot"
        )

    def test_a_proposal_is_not_found_before_it_is_accepted(self, proposal: LoreProposal) -> None:
        assert not Lore.objects.exists()
        lore = accept(proposal, by="Ana")
        assert (lore.title, lore.author, lore.status) == (
            "The Tenth Boat",
            "scene bot",
            "published",
        )
        assert LorePassage.objects.get().text == "Nobody rowed it."

    def test_an_editor_may_edit_a_proposal(self, proposal: LoreProposal) -> None:
        lore = accept(
            proposal, by="Ana", entry=LoreIn(title="The Tenth Boat", body="Corin rowed it.")
        )
        assert lore.body == "Corin rowed it."

    def test_a_proposal_is_decided_once(self, proposal: LoreProposal) -> None:
        reject(proposal, by="Ana", note="No.")
        with pytest.raises(Conflict):
            accept(LoreProposal.objects.get(), by="Ben")
        assert not Lore.objects.exists()


def test_two_titles_without_letters_are_two_entries(world: World) -> None:
    for title in ("…", "?", "…"):
        upsert_lore(world, LoreIn(title=title, body=f"About {title}"))
    bodies = Lore.objects.filter(world=world).values_list("title", "body")
    assert sorted(bodies) == [("?", "About ?"), ("…", "About …")]
