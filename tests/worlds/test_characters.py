"""What a character knows, what its party knows, and how both follow from who is a member."""

from typing import Any

import pytest
from django.test import RequestFactory

from episodes.models import Scene
from knowledge.entry_store import save_entry
from knowledge.models import Lore, LorePassage
from npcs.models import NPC
from retrieval.errors import AudienceAboveCap
from retrieval.text import names_in_both, shown_names
from tests import cast
from tests.conftest import ApiClient
from worlds.audiences import PUBLIC, Audience, Visibility, resolve_audience
from worlds.callers import Caller
from worlds.campaign_api import save_change
from worlds.characters import change_character, create_character, set_members
from worlds.keys import create_key
from worlds.models import Campaign, Character, Membership, Party, Reveal, World
from worlds.reveals import reveal, undo_reveal

pytestmark = pytest.mark.django_db


@pytest.fixture
def party(lanternbearers: Party) -> Party:
    set_members(lanternbearers, ["Ana", "Bo"])
    return lanternbearers


@pytest.fixture
def oarsman(world: World) -> NPC:
    return cast.create_npc(world, **cast.NINTH_OARSMAN)


def knows(text: str, row: Any) -> bool:
    """Whether the audience `text`, as it is now, finds `row`."""
    audience = resolve_audience(row.world, Audience.parse(text))
    rows = type(row).objects.filter(pk=row.pk).visible_to(audience)
    is_found = bool(rows.exists())
    if not hasattr(row, "party"):
        fresh = type(row).objects.get(pk=row.pk)
        is_known = fresh.visibility == "public" or (
            fresh.visibility == "revealed" and audience.knows(fresh.known_to)
        )
        assert is_found == is_known  # in Python as in the database
    return is_found


def show_to(row: Any, *audiences: str) -> None:
    for text in audiences:
        reveal(row, Audience.parse(text))


def test_a_party_knows_what_each_of_its_present_members_knows(party: Party, oarsman: NPC) -> None:
    show_to(oarsman, "character:ana")
    assert knows("character:ana", oarsman)
    assert not knows("character:bo", oarsman)
    assert not knows("party:lanternbearers", oarsman)
    show_to(oarsman, "character:bo")
    assert knows("party:lanternbearers", oarsman)
    cy = create_character(party.world, name="Cy", party=party)
    assert not knows("party:lanternbearers", oarsman)
    assert not knows("character:cy", oarsman)
    change_character(cy, name="Cy", party=None)
    assert knows("party:lanternbearers", oarsman)


def test_a_character_knows_what_its_party_was_told(party: Party, oarsman: NPC) -> None:
    show_to(oarsman, "party:lanternbearers")
    assert knows("character:ana", oarsman)
    ana = Character.objects.get(slug="ana")
    change_character(ana, name="Ana", party=None)
    assert not knows("character:ana", oarsman)


def test_a_party_without_characters_knows_no_more_than_it_was_told(
    lanternbearers: Party, oarsman: NPC
) -> None:
    cast.create_npc(lanternbearers.world, slug="ana-npc", name="Ana", visibility="gm")
    show_to(oarsman, "npc:ana-npc")
    assert not knows("party:lanternbearers", oarsman)


def test_an_undone_reveal_takes_the_knowledge_of_the_party_along(
    party: Party, oarsman: NPC
) -> None:
    show_to(oarsman, "character:ana", "character:bo")
    undo_reveal(Reveal.objects.get(audience="character:bo"))
    assert knows("character:ana", oarsman)
    assert not knows("party:lanternbearers", oarsman)


def test_the_members_of_another_party_count_for_nothing(
    party: Party, gilded_oath: Party, oarsman: NPC
) -> None:
    set_members(gilded_oath, ["Ann"])
    show_to(oarsman, "character:ana", "character:ann")
    assert knows("party:gilded-oath", oarsman)
    assert not knows("party:lanternbearers", oarsman)


def test_a_scene_that_one_character_saw_stays_with_that_character(party: Party) -> None:
    scene = Scene.objects.create(
        world=party.world,
        campaign=party.campaign,
        party=party,
        external_id="s1",
        visibility=Visibility.GM,
    )
    show_to(scene, "character:ana")
    assert knows("character:ana", scene)
    assert not knows("character:bo", scene)
    assert not knows("party:lanternbearers", scene)
    undo_reveal(Reveal.objects.get(subject_id=scene.pk))
    assert not knows("character:ana", scene)
    assert not knows("party:lanternbearers", scene)


def test_a_reveal_to_one_character_hides_nothing_from_the_others(party: Party) -> None:
    scene = Scene.objects.create(
        world=party.world,
        campaign=party.campaign,
        party=party,
        external_id="s1",
        visibility=Visibility.REVEALED,
    )
    assert knows("character:bo", scene)
    show_to(scene, "character:ana")
    assert knows("party:lanternbearers", scene)
    assert knows("character:bo", scene)
    undo_reveal(Reveal.objects.get(subject_id=scene.pk))
    assert knows("party:lanternbearers", scene)


@pytest.mark.parametrize(
    ("entry", "block", "readers"),
    [
        (["party:lanternbearers"], "character:ana", {"character:ana"}),
        (["character:ana"], "party:lanternbearers", {"character:ana"}),
        (["character:ana"], "character:bo", set()),
        (["party:gilded-oath"], "character:ana", set()),
        (
            ["party:lanternbearers"],
            "character:ana character:bo",
            {"character:ana", "character:bo", "party:lanternbearers"},
        ),
    ],
)
def test_a_secret_block_is_for_those_who_know_the_entry_and_are_named(
    party: Party, gilded_oath: Party, entry: list[str], block: str, readers: set[str]
) -> None:
    lore = Lore(
        world=party.world,
        kind="place",
        slug="pier",
        title="Pier",
        status="published",
        visibility="revealed",
        known_to=entry,
        body=f"Planks.\n\n:::secret {block}\nThe third plank lifts.\n:::\n",
    )
    save_entry(lore)
    secret = LorePassage.objects.get(lore=lore, secret=True)
    everybody = ["character:ana", "character:bo", "party:lanternbearers", "party:gilded-oath"]
    assert {each for each in everybody if knows(each, secret)} == readers


def test_a_block_for_a_character_in_one_for_the_party_is_for_that_character(party: Party) -> None:
    body = ":::secret party:lanternbearers\nA\n:::secret character:ana\nB\n:::\n:::\n"
    lore = Lore(
        world=party.world, kind="place", slug="pier", title="Pier", status="published",
        visibility="public", body=body,
    )  # fmt: skip
    save_entry(lore)
    inner = LorePassage.objects.get(lore=lore, text__contains="B")
    assert knows("character:ana", inner)
    assert not knows("character:bo", inner)
    assert not knows("party:lanternbearers", inner)


def test_names_in_both() -> None:
    assert names_in_both(["party:x", "npc:n"], ["npc:n", "party:x"]) == ["npc:n", "party:x"]
    assert names_in_both(["party:x"], ["party:y"]) == []
    assert names_in_both(["character:a", "party:x"], ["character:a", "party:x"]) == [
        "character:a",
        "party:x",
    ]
    both = names_in_both(["party:x"], ["character:a"])
    assert both == ["character:a&party:x"]
    assert names_in_both(both, ["party:y"]) == []
    assert names_in_both(both, ["party:x"]) == both
    assert shown_names(both) == ["character:a"]


# --- who may ask as whom


@pytest.mark.parametrize(
    ("cap", "asked", "granted"),
    [
        ("gm", "character:ana", True),
        ("character:ana", "character:ana", True),
        ("character:ana", "party:lanternbearers", True),
        ("character:ana", "public", True),
        ("character:ana", "gm", False),
        ("character:ana", "character:bo", False),
        ("character:ana", "party:gilded-oath", False),
        ("party:lanternbearers", "character:ana", False),
        ("public", "character:ana", False),
    ],
)
def test_a_character_covers_its_party_and_not_the_reverse(
    party: Party, cap: str, asked: str, granted: bool
) -> None:
    key, _text = create_key(party.world, name="k", audience=cap)
    caller = Caller.with_key(key)
    if granted:
        assert str(caller.as_audience(asked).audience) == asked
    else:
        with pytest.raises(AudienceAboveCap):
            caller.as_audience(asked)


def test_a_game_master_asks_as_a_character_in_its_campaign(party: Party) -> None:
    caller = Caller.gm(party.world).as_audience("character:Ana")
    assert (caller.audience.party, caller.campaign) == ("lanternbearers", party.campaign)


def test_a_key_follows_its_character_into_another_party(
    party: Party, gilded_oath: Party, oarsman: NPC
) -> None:
    key, _text = create_key(party.world, name="k", audience="character:ana")
    show_to(oarsman, "party:gilded-oath")
    rows = NPC.objects.filter(pk=oarsman.pk)
    assert not rows.visible_to(Caller.with_key(key).audience).exists()
    change_character(Character.objects.get(slug="ana"), name="Ana", party=gilded_oath)
    assert rows.visible_to(Caller.with_key(key).audience).exists()


# --- parties and their members


def test_members_are_characters_in_the_order_of_the_list(party: Party) -> None:
    set_members(party, ["Cy", "Bo", "Ana"])
    rows = Character.objects.filter(party=party).order_by("position")
    assert [row.slug for row in rows] == ["cy", "bo", "ana"]
    party.refresh_from_db()
    assert party.members == ["Cy", "Bo", "Ana"]


def test_a_misspelt_member_leaves_nothing_behind(party: Party) -> None:
    set_members(party, ["Ana", "Bo", "Cyy"])
    set_members(party, ["Ana", "Bo", "Cy"])
    assert not Character.objects.filter(slug="cyy").exists()


def test_a_member_who_knows_something_leaves_and_comes_back(party: Party, oarsman: NPC) -> None:
    show_to(oarsman, "character:ana")
    set_members(party, ["Bo"])
    assert Character.objects.get(slug="ana").party is None
    set_members(party, ["Bo", "Ana"])
    assert Character.objects.get(slug="ana").party == party
    assert knows("character:ana", oarsman)


def test_two_members_may_have_one_name(party: Party) -> None:
    set_members(party, ["Ana", "Ana"])
    assert sorted(party.characters.values_list("slug", flat=True)) == ["ana", "ana-2"]


def test_a_renamed_character_is_renamed_among_the_members(party: Party) -> None:
    change_character(Character.objects.get(slug="ana"), name="Ana Vale", party=party)
    party.refresh_from_db()
    assert party.members == ["Ana Vale", "Bo"]


def test_a_player_follows_the_character_into_another_party(
    party: Party, gilded_oath: Party, django_user_model: Any
) -> None:
    ana = Character.objects.get(slug="ana")
    user = django_user_model.objects.create_user("nora")
    Membership.objects.create(
        user=user, world=party.world, role="player", party=party, character=ana
    )
    change_character(ana, name="Ana", party=gilded_oath)
    assert Membership.objects.get(user=user).party == gilded_oath


def test_an_audience_that_is_nobody_knows_what_is_public(party: Party, oarsman: NPC) -> None:
    show_to(oarsman, "character:ana")
    ghost = resolve_audience(party.world, Audience.parse("character:nobody"))
    assert not NPC.objects.visible_to(ghost).filter(pk=oarsman.pk).exists()
    assert not NPC.objects.visible_to(PUBLIC).filter(pk=oarsman.pk).exists()


def test_a_party_is_renamed_while_its_members_change(lanternbearers: Party) -> None:
    read_before = Party.objects.get(pk=lanternbearers.pk)
    set_members(lanternbearers, ["Ana", "Bo"])
    save_change(RequestFactory().patch("/"), read_before, {"name": "Lamp Guild"})
    stored = Party.objects.get(pk=lanternbearers.pk)
    assert (stored.name, stored.members) == ("Lamp Guild", ["Ana", "Bo"])


def test_members_are_written_whatever_the_caller_has_read(party: Party) -> None:
    read_before = Party.objects.get(pk=party.pk)
    set_members(party, ["Ana"])
    set_members(read_before, ["Ana", "Bo"])
    assert Party.objects.get(pk=party.pk).members == ["Ana", "Bo"]


def test_a_character_is_renamed_while_it_changes_its_party(
    party: Party, gilded_oath: Party
) -> None:
    read_before = Character.objects.get(slug="ana")
    change_character(Character.objects.get(slug="ana"), party=gilded_oath)
    change_character(read_before, name="Ana Vale")
    party.refresh_from_db()
    gilded_oath.refresh_from_db()
    assert (party.members, gilded_oath.members) == (["Bo"], ["Ana Vale"])


def test_a_party_is_not_created_without_its_members(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ApiClient(campaign.world)
    party = {"name": "Gulls", "members": ["Ana"]}

    def fail(self: Character, **_options: Any) -> None:
        raise RuntimeError("the disk of the database is full")

    with monkeypatch.context() as patch:
        patch.setattr(Character, "save", fail)
        assert engine.post("world/parties", party)[0] == 500
    status, stored = engine.post("world/parties", party)
    assert (status, stored["members"]) == (201, ["Ana"])
