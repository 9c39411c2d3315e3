"""Links are stored with the text, resolved by any name, and rewritten by a rename."""

from typing import Any

import pytest

from knowledge.entry_store import save_all, save_entry
from knowledge.graph.models import NodeKind
from knowledge.graph.schemas import GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.link_models import Link
from knowledge.links import (
    backlinks,
    broken_links,
    link_mentions,
    link_resolver,
    link_to,
    links_of,
    orphans,
    rename_everywhere,
    rows_of_thing,
    unlinked_mentions,
)
from knowledge.links.queries import broken_names
from knowledge.mentions.store import relink
from knowledge.models import Lore, Rule
from knowledge.schemas import RuleIn
from knowledge.upsert import upsert_rule
from npcs.models import NPC, Secret
from retrieval.errors import Conflict
from retrieval.text import find_links
from worlds import reveals
from worlds.audiences import GM, PUBLIC, Audience
from worlds.models import Campaign, Party, World

pytestmark = pytest.mark.django_db
LANTERNBEARERS = Audience("party", "lanternbearers")


def entry(world: World, title: str, body: str = "", **fields: Any) -> Lore:
    slug = fields.pop("slug", title.lower().replace(" ", "-"))
    defaults = {"status": "published", "visibility": "public", **fields}
    lore = Lore(world=world, slug=slug, title=title, body=body, **defaults)
    save_entry(lore)
    return lore


def states(lore: Lore) -> list[tuple[str, str]]:
    return [(link.name, link.state) for link in links_of("lore", lore.pk)]


def titles_of_backlinks(lore: Lore, audience: Audience = GM) -> list[str]:
    found = backlinks(lore.world, rows_of_thing(lore), audience)
    return [each.source.title for each in found]


def test_a_link_is_resolved_when_its_thing_appears_and_breaks_when_it_goes(world: World) -> None:
    source = entry(world, "Harbour", "Ships wait for the [[Toll Bell]].")
    assert states(source) == [("Toll Bell", "unresolved")]
    bell = entry(world, "Toll Bell")
    assert states(source) == [("Toll Bell", "resolved")]
    assert titles_of_backlinks(bell) == ["Harbour"]
    bell.delete()
    assert states(source) == [("Toll Bell", "unresolved")]


def test_a_link_breaks_when_its_alias_goes(world: World) -> None:
    bell = entry(world, "Toll Bell", aliases=["Old Tongue"])
    source = entry(world, "Harbour", "Listen to the [[Old Tongue]].")
    assert [link.kind for link in links_of("lore", source.pk)] == [Link.Kind.ALIAS]
    bell.aliases = []
    save_entry(bell)
    assert states(source) == [("Old Tongue", "unresolved")]


def test_links_are_found_in_all_their_spellings_and_not_in_code(world: World) -> None:
    bell = entry(world, "Toll Bell")
    body = (
        "[[Toll Bell|it]] [[Toll Bell#Sound]] [[north/Toll Bell.md]] ![[bell.png]] `[[Toll Bell]]`"
    )
    source = entry(world, "Harbour", f"{body}\n\n| a | [[Toll Bell\\|b]] |\n|---|---|\n")
    assert states(source) == [("Toll Bell", "resolved")] * 4
    assert titles_of_backlinks(bell) == ["Harbour"]


@pytest.mark.parametrize(
    ("title", "aliases", "mention"),
    [
        ("Mira Voss", ["Мира Восс"], "Миру Восс"),
        ("Мытный колокол", [], "Мытного колокола"),
        ("등불 계단", [], "등불 계단에서"),
        ("Lantern Stair", ["등불 계단"], "등불 계단"),
    ],
)
def test_russian_and_korean_forms_of_a_name_are_resolved(
    world: World, title: str, aliases: list[str], mention: str
) -> None:
    entry(world, title, slug="it", aliases=aliases)
    source = entry(world, "Harbour", f"… [[{mention}]]에서 …")
    assert states(source) == [(mention, "resolved")]


def test_a_name_of_two_things_is_ambiguous_and_nothing_is_guessed(world: World) -> None:
    one, two = entry(world, "North Ferry", aliases=["Ferry"]), entry(world, "South Ferry")
    source = entry(world, "Harbour", "Take the [[Ferry]].")
    assert states(source) == [("Ferry", "resolved")]
    two.aliases = ["Ferry"]
    save_entry(two)
    assert states(source) == [("Ferry", "ambiguous")]
    [broken] = broken_links(world, list(broken_names(world)))
    assert broken.ambiguous
    assert {thing.title for thing in broken.candidates} == {one.title, two.title}


def test_a_folder_decides_between_equal_names(world: World) -> None:
    north = entry(world, "Gate", slug="gate-1", origin="obsidian:North/Carrow/Gate.md")
    south = entry(world, "Gate", slug="gate-2", origin="obsidian:South/Gate.md")
    source = entry(world, "Harbour", "[[Gate]], [[Carrow/Gate]], [[South/Gate]]")
    links = list(links_of("lore", source.pk))
    assert [link.state for link in links] == ["ambiguous", "resolved", "resolved"]
    assert [link.targets for link in links[1:]] == [[north.pk], [south.pk]]


def test_an_npc_its_biography_and_its_entity_are_one_thing(world: World, mira: NPC) -> None:
    biography = entry(world, "Mira Voss")
    mira.biography = biography
    mira.save()
    source = entry(world, "Harbour", "[[Mira Voss]] and [[mira-voss|she]]")
    assert states(source) == [("Mira Voss", "resolved"), ("mira-voss", "resolved")]
    assert set(links_of("lore", source.pk)[0].targets) == {mira.pk, biography.pk}


def test_links_that_form_a_circle_harm_nothing(world: World) -> None:
    one = entry(world, "One", "[[Two]] [[One]]")
    two = entry(world, "Two", "[[One]]")
    assert titles_of_backlinks(one) == ["Two"]
    assert rename_everywhere(one, "Uno").texts == 2
    two.refresh_from_db()
    assert two.body == "[[Uno]]"


# --- who may know of a mention


def test_a_mention_in_a_secret_is_a_backlink_for_those_who_may_know_it(
    world: World, lanternbearers: Party
) -> None:
    bell = entry(world, "Toll Bell")
    entry(world, "Open", "The [[Toll Bell]] rings.")
    entry(world, "Draft", "[[Toll Bell]]", status="draft")
    entry(world, "Hidden", "[[Toll Bell]]", visibility="gm")
    told = ":::secret party:lanternbearers\nThe [[Toll Bell]] is hollow.\n:::"
    entry(world, "Told", f"A house.\n\n{told}")
    kept = entry(world, "Kept", "A tower.\n\n:::secret\nThe [[Toll Bell]] is false.\n:::")
    entry(
        world,
        "Headed",
        "A quay.\n\n:::secret\n## [[Toll Bell]]\n:::",
        extra={"near": "[[Toll Bell]]"},
    )
    assert titles_of_backlinks(bell, PUBLIC) == ["Open"]
    assert titles_of_backlinks(bell, LANTERNBEARERS) == ["Open", "Told"]
    assert titles_of_backlinks(bell, GM) == ["Draft", "Headed", "Hidden", "Kept", "Open", "Told"]
    reveals.reveal(kept.passages.get(secret=True), LANTERNBEARERS)
    assert titles_of_backlinks(bell, LANTERNBEARERS) == ["Kept", "Open", "Told"]


def test_an_excerpt_comes_from_a_passage_that_the_audience_may_read(
    world: World, lanternbearers: Party
) -> None:
    bell = entry(world, "Toll Bell")
    blocks = [":::secret\nGod lies under the [[Toll Bell]].\n:::"]
    blocks.append(":::secret party:lanternbearers\nThe [[Toll Bell]] is hollow.\n:::")
    entry(world, "House", "\n\n".join(["A house.", *blocks]))
    [found] = backlinks(world, [bell.pk], LANTERNBEARERS)
    assert found.secret
    assert found.excerpt == "The Toll Bell is hollow."


def test_secrets_and_private_texts_of_npcs_are_no_backlinks_for_others(
    world: World, mira: NPC, lanternbearers: Party
) -> None:
    bell = entry(world, "Toll Bell")
    mira.summary, mira.goals = "Keeps the quay.", ["Steal the [[Toll Bell]]"]
    mira.save()
    assert titles_of_backlinks(bell) == ["Mira Voss"]
    assert titles_of_backlinks(bell, LANTERNBEARERS) == []
    secret = Secret.objects.create(
        world=world, npc=mira, text="She cast the [[Toll Bell]].", visibility="gm"
    )
    assert titles_of_backlinks(bell, LANTERNBEARERS) == []
    reveals.reveal(secret, LANTERNBEARERS)
    assert titles_of_backlinks(bell, LANTERNBEARERS) == ["Mira Voss"]
    assert titles_of_backlinks(bell, PUBLIC) == []


# --- rename and mend


def test_a_rename_rewrites_every_mention_and_keeps_words_and_the_old_name(
    world: World, mira: NPC
) -> None:
    bell = entry(world, "Toll Bell", aliases=["Мытный колокол", "Old Tongue"])
    body = "[[Toll Bell]], [[Toll Bell|the bell]], [[toll-bell|it]], [[Old Tongue]]"
    body += ", [[x/Toll Bell#Sound]]"
    source = entry(world, "Harbour", body, extra={"near": ["[[Toll Bell]]"]})
    mira.summary = "Rings the [[Toll Bell]]."
    mira.save()
    report = rename_everywhere(bell, "Tide Bell")
    assert (report.mentions, report.texts) == (5, 2)
    for row in (bell, source, mira):
        row.refresh_from_db()
    new = "[[Tide Bell]], [[Tide Bell|the bell]], [[toll-bell|it]], [[Old Tongue]]"
    new += ", [[x/Tide Bell#Sound]]"
    assert source.body == new
    assert source.extra == {"near": ["[[Tide Bell]]"]}
    assert mira.summary == "Rings the [[Tide Bell]]."
    assert (bell.title, bell.aliases) == (
        "Tide Bell",
        ["Мытный колокол", "Old Tongue", "Toll Bell"],
    )
    assert source.version == 2
    assert "Tide Bell" in (source.history.latest().history_change_reason or "")
    assert not broken_names(world).exists()


def test_an_inflected_mention_keeps_its_form_in_a_rename(world: World) -> None:
    bell = entry(world, "Мытный колокол", slug="bell")
    source = entry(world, "Harbour", "У [[Мытного колокола]].")
    rename_everywhere(bell, "Немой колокол")
    source.refresh_from_db()
    assert source.body == "У [[Немой колокол|Мытного колокола]]."


def test_a_rename_leaves_a_thing_of_the_same_name_in_another_folder_alone(world: World) -> None:
    north = entry(world, "Gate", slug="gate-1", folder="North")
    entry(world, "Gate", slug="gate-2", folder="South")
    source = entry(world, "Harbour", "[[North/Gate]], [[South/Gate]]")
    rename_everywhere(north, "Arch")
    source.refresh_from_db()
    assert source.body == "[[North/Arch]], [[South/Gate]]"


def test_a_rename_between_long_titles_fits_the_history(world: World) -> None:
    long = entry(world, "Bell " * 30 + "Tower", slug="bell")
    source = entry(world, "Harbour", f"[[{long.title}]]")
    rename_everywhere(long, "Tower " * 30)
    source.refresh_from_db()
    assert source.version == 2


def test_players_get_no_backlink_from_a_rule_of_another_campaign(
    world: World, lanternbearers: Party, rules: dict[str, Rule]
) -> None:
    campaign = Campaign.objects.create(world=world, slug="high-water", name="High Water")
    bell = entry(world, "Toll Bell")
    for key, holds_in in (("house/all", None), ("house/one", campaign.slug)):
        rule = RuleIn(rule_id=key, title=key, body="Heed the [[Toll Bell]].", campaign=holds_in)
        upsert_rule(world, rule)
    assert titles_of_backlinks(bell) == ["house/all", "house/one"]
    assert titles_of_backlinks(bell, LANTERNBEARERS) == ["house/all"]


def test_the_players_of_a_campaign_follow_links_to_and_from_its_overlay(
    world: World, lanternbearers: Party
) -> None:
    campaign = lanternbearers.campaign
    far = Campaign.objects.create(world=world, slug="high-water", name="High Water")
    Party.objects.create(world=world, campaign=far, slug="oath", name="Oath")
    bell = entry(world, "Toll Bell", "Rings.", aliases=["Old Tom"])
    cracked = entry(world, "Cracked Bell", "Silent.", campaign=campaign, overrides=bell)
    barge = entry(world, "Barge", "Canon.")
    own_barge = entry(world, "Barge", "Of the players.", campaign=campaign)
    text = "[[Toll Bell]], [[Old Tom]], [[Cracked Bell]], [[Barge]]"
    canon = entry(world, "Harbour", text)
    log = entry(world, "Log", text, campaign=campaign)

    def shown(audience: Audience, campaign: Campaign | None) -> list[str | None]:
        resolve = link_resolver(world, audience, campaign=campaign)
        return [each and each.url.split("/")[-2] for each in resolve(find_links(text))]

    own = ["cracked-bell", "cracked-bell", "cracked-bell", "barge"]
    assert shown(LANTERNBEARERS, campaign) == own
    others = ["toll-bell", "toll-bell", None, "barge"]
    assert shown(Audience("party", "oath"), far) == others
    assert shown(PUBLIC, None) == others

    def targets(lore: Lore) -> list[set[Any]]:
        return [set(link.targets) for link in links_of("lore", lore.pk)]

    assert targets(log) == [{bell.pk}, {bell.pk}, {cracked.pk, bell.pk}, {own_barge.pk}]
    assert targets(canon)[3] == {barge.pk}
    cracked.aliases, own_barge.aliases = ["Tom"], ["Raft"]
    save_all([cracked, own_barge])
    assert targets(log)[3] == {own_barge.pk}, "resolving again keeps the campaign"

    assert titles_of_backlinks(cracked, LANTERNBEARERS) == ["Harbour", "Log"]
    assert titles_of_backlinks(own_barge, LANTERNBEARERS) == ["Log"]
    assert titles_of_backlinks(cracked, Audience("party", "oath")) == ["Harbour"]
    assert titles_of_backlinks(cracked, PUBLIC) == ["Harbour"]
    entry(world, "Secret Log", text, campaign=campaign, visibility="gm")
    assert titles_of_backlinks(cracked, LANTERNBEARERS) == ["Harbour", "Log"]


def test_a_link_tells_nobody_of_hidden_canon_that_an_overlay_replaces(
    world: World, lanternbearers: Party
) -> None:
    hidden = entry(world, "The Ninth Boat", visibility="gm")
    entry(world, "Wreck", campaign=lanternbearers.campaign, overrides=hidden)
    resolve = link_resolver(world, LANTERNBEARERS, campaign=lanternbearers.campaign)
    assert resolve(find_links("[[The Ninth Boat]]")) == [None]


def test_a_rename_to_a_taken_title_is_refused_and_changes_nothing(world: World) -> None:
    bell, _other = entry(world, "Toll Bell"), entry(world, "Tide Bell")
    with pytest.raises(Conflict):
        rename_everywhere(bell, "tide bell")
    bell.refresh_from_db()
    assert bell.title == "Toll Bell"


def test_a_broken_link_is_led_to_a_thing_and_keeps_its_words(world: World) -> None:
    entry(world, "Toll Bell")
    source = entry(world, "Harbour", "The [[Toll Bel]] and [[Toll Bel|it]].")
    [broken] = broken_links(world, list(broken_names(world)))
    assert [thing.title for thing in broken.candidates] == ["Toll Bell"]
    assert link_to(world, "Toll Bel", "Toll Bell") == 1
    source.refresh_from_db()
    assert source.body == "The [[Toll Bell|Toll Bel]] and [[Toll Bell|it]]."
    assert states(source) == [("Toll Bell", "resolved")] * 2


def test_unlinked_mentions_are_offered_and_linked(world: World) -> None:
    entry(world, "Toll Bell", aliases=["Мытный колокол"])
    entry(world, "Lantern Stair")
    body = (
        ":::secret npc:toll-bell\nHush.\n:::\n\nThe Toll Bell, `Lantern Stair`, У Мытного колокола."
    )
    source = entry(world, "Harbour", body)
    [mention] = unlinked_mentions(world, [source])[source.pk]
    assert (mention.text, mention.link) == ("Toll Bell", "[[Toll Bell]]")
    assert link_mentions(source) == 1
    source.refresh_from_db()
    assert "The [[Toll Bell]], `Lantern Stair`" in source.body
    assert unlinked_mentions(world, [source])[source.pk] == []


def test_orphans_link_to_nothing_and_nothing_links_to_them(world: World) -> None:
    entry(world, "Alone", "[[Alone]] and [[Nowhere]]")
    entry(world, "Harbour", "[[Quay]]")
    entry(world, "Quay")
    assert [each.title for each in orphans(world)] == ["Alone"]


def test_relinking_computes_the_same_rows_again(world: World, mira: NPC) -> None:
    entry(world, "Harbour", "[[Mira Voss]] [[Nobody]]\n\n:::secret\n[[Quay]]\n:::")
    entry(world, "Quay")
    mira.summary = "At the [[Quay]]."
    mira.save()
    columns = ("source_kind", "source_id", "position", "raw", "kind", "state", "targets", "part")
    before = sorted(Link.objects.values_list(*columns))
    Link.objects.all().delete()
    assert relink(world) == len(before) == 4
    assert sorted(Link.objects.values_list(*columns)) == before


def test_the_queries_of_a_bulk_save_do_not_grow_with_its_links(
    world: World, django_assert_max_num_queries: Any
) -> None:
    rows = [
        Lore(world=world, slug=f"e{n}", title=f"Entry {n}", body=f"[[Entry {n + 1}]] [[Gone {n}]]")
        for n in range(50)
    ]
    with django_assert_max_num_queries(40):
        save_all(rows)
    assert Link.objects.filter(state="resolved").count() == 49


def test_the_queries_of_a_rename_do_not_grow_with_the_mentions(
    world: World, django_assert_max_num_queries: Any
) -> None:
    """Each rewritten entry loaded the world again."""
    bell, gate = entry(world, "Bell"), entry(world, "Gate")
    save_all([Lore(world=world, slug=f"b{n}", title=f"B {n}", body="[[Bell]]") for n in range(3)])
    save_all([Lore(world=world, slug=f"g{n}", title=f"G {n}", body="[[Gate]]") for n in range(30)])
    with django_assert_max_num_queries(100) as few:
        assert rename_everywhere(bell, "Tide Bell").texts == 3
    with django_assert_max_num_queries(len(few)):
        assert rename_everywhere(gate, "Sea Gate").texts == 30


def test_entities_that_are_written_together_mend_the_links_that_name_them(world: World) -> None:
    entry(world, "Harbour", "[[Salt Quay]] and [[Mud Quay]]")
    names = ("Salt Quay", "Mud Quay")
    facts = [GraphFact(node=NodeFact(kind=NodeKind.LOCATION, name=name)) for name in names]
    made = {node.id for node in upsert_facts(world, facts).nodes}
    links = Link.objects.filter(state="resolved")
    assert {target for link in links for target in link.targets} == made
