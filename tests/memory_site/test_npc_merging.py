"""Two records of one person made one, and that taken back."""

import os
import random
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, models
from django.test import Client

from art.models import ArtCard, PictureUse
from episodes.models import Scene
from knowledge.graph.models import GraphEdge, GraphNode
from knowledge.graph.schemas import EdgeFact, GraphFact
from knowledge.graph.upsert import upsert_facts
from memory_site.npc_merging.merge import merge_npcs, undo_merge
from npcs.dispositions import correct, reverse
from npcs.lookup import find_npc
from npcs.models import (
    NPC,
    Appearance,
    Disposition,
    DispositionChange,
    NPCMerge,
    OpinionChange,
    Secret,
)
from npcs.opinions import correct_opinion
from npcs.trash import restore_npcs
from retrieval.errors import Conflict, Invalid
from tests.conftest import ApiClient
from tests.npcs.ledger_replay import replay
from worlds.audiences import Audience
from worlds.models import ApiKey, GameSystem, Membership, Party, World
from worlds.reveals import models_with_visibility, reveal

pytestmark = pytest.mark.django_db
BY = {"reason": "She is the same woman.", "by": "anna"}
CHANGING = {
    *("id", "version", "updated_at", "created_at", "believed_from", "believed_until"),
    *("last_change_id", "replaces_id", "search_vector", "embedding", "rev"),
}


@pytest.fixture
def stranger(demo: World) -> NPC:
    """A second record of Mira Voss, with something of every kind."""
    hooded: NPC = NPC.objects.create(
        world=demo, slug="the-rower", name="The Rower", voice="Hoarse.", visibility="public"
    )
    engine, party = ApiClient(demo), Party.objects.get(slug="lanternbearers")
    ref = {"npc_id": "the-rower", "name": "The Rower", "aliases": ["Old Oar"]}
    assert engine.put("world/npcs", {**ref, "secrets": ["She sank the barge."]})[0] == 200
    for number, delta in enumerate((9, -14, 30)):
        summary = {
            "summary_id": f"rower-{number}",
            "party_id": party.slug,
            "who": {"npcs": ["the-rower", "mira-voss"][: 1 + number % 2]},
            "what": "The Rower took them across.",
            "relations_delta": [{"npc": "the-rower", "delta": delta, "reason": "The fare."}],
        }
        assert engine.post("world/episodes", summary)[0] == 200
    correct(hooded, party, by=-7, reason="She was rude.", made_by="anna")
    jory, mira = (NPC.objects.get(world=demo, slug=slug) for slug in ("jory-fenn", "mira-voss"))
    for npc, other in ((hooded, jory), (jory, hooded), (hooded, mira)):
        correct_opinion(npc, other, by=20, reason="A debt.", made_by="anna")
    edges = [("the-rower", "KNOWS", "jory-fenn"), ("the-rower", "ENEMY_OF", "mira-voss")]
    facts = [GraphFact(edge=EdgeFact(src=src, relation=code, dst=dst)) for src, code, dst in edges]
    upsert_facts(demo, facts)
    reveal(Secret.objects.filter(npc=jory).first(), Audience("npc", "the-rower"))
    reveal(Secret.objects.get(npc=hooded), Audience("party", party.slug))
    card = ArtCard.objects.filter(world=demo).first()
    assert card
    card.npcs.add(hooded)
    common = {"world": demo, "party": party, "campaign": party.campaign}
    Scene.objects.create(**common, external_id="sc", cast=["the-rower"])
    ApiClient(demo, audience="npc:the-rower", scopes=["tools:read"])
    return NPC.objects.get(pk=hooded.pk)


@pytest.fixture
def voss(demo: World) -> NPC:
    return NPC.objects.get(world=demo, slug="mira-voss")


def rows(model: type[models.Model], **having: Any) -> set[tuple[Any, ...]]:
    names = [f.attname for f in model._meta.concrete_fields if f.attname not in CHANGING]
    found = model._base_manager.filter(**having).values_list(*names)
    return {tuple(map(str, each)) for each in found}


def snapshot(world: World) -> dict[str, Any]:
    """Everything of a world that a merge touches, but for the ids of facts and the times."""
    believed = {"world": world, "believed_until": None}
    own: dict[str, Any] = {
        str(model.__name__): rows(model, **having)
        for model, having in (
            (NPC, {"world": world}),
            (Secret, {"world": world}),
            (Appearance, {"npc__world": world}),
            (Disposition, {"npc__world": world}),
            (DispositionChange, {"npc__world": world}),
            (OpinionChange, {"world": world}),
            (PictureUse, {"picture__world": world}),
            (ArtCard.npcs.through, {"artcard__world": world}),
            (Scene, {"world": world}),
            (ApiKey, {"world": world}),
            (GraphEdge, believed),
            (GraphNode, believed),
        )
    }
    for kind, model in models_with_visibility().items():
        guarded = model._base_manager.filter(world=world)
        if model is not GraphEdge:
            own[f"known {kind}"] = set(
                map(str, guarded.values_list("pk", "visibility", "known_to"))
            )
    return own


def test_undoing_a_merge_restores_everything_that_it_changed(
    demo: World, stranger: NPC, voss: NPC
) -> None:
    before = snapshot(demo)
    merge = merge_npcs(stranger, into=voss, **BY)
    merged = snapshot(demo)
    different = {name for name in before if before[name] != merged[name]}
    assert {"NPC", "Secret", "Appearance", "Disposition", "GraphEdge", "Scene"} <= different
    assert {"DispositionChange", "OpinionChange", "ArtCard_npcs", "ApiKey"} <= different
    undo_merge(merge, by="bo")
    after = snapshot(demo)
    for name, rows_before in before.items():
        assert after[name] == rows_before, name


def test_the_kept_npc_has_what_both_had(demo: World, stranger: NPC, voss: NPC) -> None:
    party = Party.objects.get(slug="lanternbearers")
    secrets = [secret.text for secret in voss.secrets.all()]
    counted = Disposition.objects.get(npc=voss, party=party).changes
    merge_npcs(stranger, into=voss, **BY)
    voss = NPC.objects.get(pk=voss.pk)
    assert [each.text for each in voss.secrets.all()] == [*secrets, "She sank the barge."]
    assert Disposition.objects.get(npc=voss, party=party).changes == counted + 4
    assert not Disposition.objects.filter(npc=stranger).exists()
    assert find_npc(demo, "The Rower") == voss
    assert find_npc(demo, "the-rower") == voss, "engines send the old id"
    node = GraphNode.objects.believed_now().get(world=demo, slug="mira-voss")
    known = GraphEdge.objects.believed_now().filter(relation="KNOWS")
    ends = {frozenset(pair) for pair in known.values_list("src__slug", "dst__slug")}
    assert frozenset(("mira-voss", "jory-fenn")) in ends
    assert not GraphEdge.objects.believed_now().filter(src=node, dst=node).exists()
    assert Secret.objects.get(text="She sank the barge.").known_to == ["party:lanternbearers"]
    assert Secret.objects.filter(npc__slug="jory-fenn", known_to__contains=["npc:mira-voss"])


def test_the_ledger_is_what_a_replay_of_it_gives_after_merges_and_undos(
    demo: World, stranger: NPC, voss: NPC
) -> None:
    party, dice = Party.objects.get(slug="lanternbearers"), random.Random(5)
    people = list(NPC.objects.filter(world=demo).order_by("slug"))
    for number in range(int(os.environ.get("MERGE_EPISODES", "60"))):
        engine = ApiClient(demo)
        live = list(NPC.objects.filter(world=demo).order_by("slug"))
        if number % 6 == 2 and len(live) > 2:
            kept, merged = dice.sample(live, 2)
            merge_npcs(merged, into=kept, reason="", by="anna", with_profile=False)
        elif number % 6 == 5:
            merge = NPCMerge.objects.filter(undone_at=None).first()
            if merge:
                undo_merge(merge, by="anna")
        deltas = [
            {"npc": npc.slug, "delta": dice.choice((-60, -9, 4, 12)), "reason": "So."}
            for npc in dice.sample(live, 2)
            if NPC.objects.filter(pk=npc.pk).exists()
        ]
        summary = {"party_id": party.slug, "what": "It was so.", "relations_delta": deltas}
        assert engine.post("world/episodes", {**summary, "summary_id": f"r-{number}"})[0] == 200
        entry = dice.choice(DispositionChange.objects.changes().order_by("-id")[:9])
        if number % 4 == 1 and not entry.rulings.exists() and not entry.held:
            reverse(entry, reason="No.", made_by="anna")
        if number % 10 == 9:
            stored = Disposition.objects.filter(party=party).select_related("npc")
            scores = {row.npc.slug: row.score for row in stored if row.npc.deleted_at is None}
            bases = {npc.slug: npc.base for npc in people if npc.base}
            replayed = {slug: score for slug, score in replay(party).items() if slug in scores}
            assert set(scores) == set(replayed)
            assert {k: v for k, v in scores.items() if k not in bases} == pytest.approx(
                {k: v for k, v in replayed.items() if k not in bases}, abs=2e-4
            )
    assert NPCMerge.objects.exclude(undone_at=None).exists()


def test_what_is_recorded_after_a_merge_stays_with_the_kept_npc(
    demo: World, stranger: NPC, voss: NPC
) -> None:
    party = Party.objects.get(slug="lanternbearers")
    merge = merge_npcs(stranger, into=voss, **BY)
    later = correct(voss, party, by=5, reason="Later.", made_by="anna")
    moved = DispositionChange.objects.get(npc=voss, reason="She was rude.")
    ruling = reverse(moved, reason="She was not.", made_by="anna")
    undo_merge(merge, by="anna")
    assert DispositionChange.objects.get(pk=later.pk).npc == voss
    assert DispositionChange.objects.get(pk=ruling.pk).npc_id == stranger.pk


def test_a_name_that_players_do_not_know_stays_with_game_masters(
    demo: World, stranger: NPC, voss: NPC
) -> None:
    NPC.objects.filter(pk=stranger.pk).update(visibility="gm")
    NPC.objects.filter(pk=voss.pk).update(visibility="public")
    stranger, voss = NPC.objects.get(pk=stranger.pk), NPC.objects.get(pk=voss.pk)
    merge = merge_npcs(stranger, into=voss, **BY)
    assert "The Rower" not in NPC.objects.get(pk=voss.pk).aliases
    undo_merge(merge, by="anna")
    merge_npcs(NPC.objects.get(pk=stranger.pk), into=voss, **BY, with_profile=True)
    assert "The Rower" in NPC.objects.get(pk=voss.pk).aliases


def test_the_merged_npc_comes_back_by_undoing_the_merge_alone_and_once(
    demo: World, stranger: NPC, voss: NPC
) -> None:
    merge = merge_npcs(stranger, into=voss, **BY)
    with pytest.raises(Conflict, match="undo the merge"):
        restore_npcs([NPC.with_trash.get(pk=stranger.pk)], by="anna")
    jory = NPC.objects.get(world=demo, slug="jory-fenn")
    second = merge_npcs(voss, into=jory, **BY)
    with pytest.raises(Conflict, match="undo that first"):
        undo_merge(merge, by="anna")
    undo_merge(second, by="anna")
    undo_merge(merge, by="anna")
    with pytest.raises(Conflict, match="undone before"):
        undo_merge(merge, by="anna")


def test_the_page_compares_merges_and_the_inbox_takes_it_back(
    demo: World, stranger: NPC, voss: NPC, client: Client
) -> None:
    anna = get_user_model().objects.create_user("anna")
    Membership.objects.create(user=anna, world=demo, role="gm")
    client.force_login(anna)
    page = "/w/ferrymark/npcs/mira-voss/merge/"
    shown = client.get(page, {"other": "The Rower"}).content.decode()
    assert "goes over" in shown
    assert "The other way round: The Rower stays" in shown
    assert (
        "An NPC cannot be merged with itself."
        in client.get(page + "?other=mira-voss").content.decode()
    )
    assert client.get(page, {"other": "nobody\0"}).status_code == 200
    sent = {"other": str(stranger.pk), "profile": "1", "reason": "The same."}
    answer = client.post(page, sent, follow=True).content.decode()
    assert "The Rower and Mira Voss are one now." in answer
    merge = NPCMerge.objects.get()
    inbox = client.get("/w/ferrymark/inbox/").content.decode()
    assert f"/inbox/undo/merge/{merge.pk}/" in inbox
    client.post(f"/w/ferrymark/inbox/undo/merge/{merge.pk}/")
    assert NPC.objects.filter(pk=stranger.pk).exists()


def test_engines_merge_and_undo(demo: World, stranger: NPC, voss: NPC) -> None:
    engine = ApiClient(demo)
    assert engine.post("world/npcs/mira-voss/merge", {"other": "nobody"})[0] == 404
    body = {"other": "the-rower"}
    assert engine.post("world/npcs/mira-voss/merge", body, **{"If-Match": '"99"'})[0] == 412
    status, merge = engine.post("world/npcs/mira-voss/merge", body)
    assert (status, merge["npc_id"], merge["merged_id"]) == (200, "mira-voss", "the-rower")
    assert engine.post("world/npcs/the-rower/restore")[0] == 409
    assert engine.get("world/npc-merges")[1]["merges"] == [merge]
    status, undone = engine.post(f"world/npc-merges/{merge['id']}/undo")
    assert status == 200
    assert undone["undone_by"].startswith("test")
    assert engine.post(f"world/npc-merges/{merge['id']}/undo")[0] == 409
    players = ApiClient(demo, audience="party:lanternbearers", scopes=["world:write"])
    assert players.get("world/npc-merges")[0] == 403


def test_two_worlds_are_not_joined_by_a_merge(demo: World, voss: NPC) -> None:
    other = World.objects.create(slug="other", name="Other", system=GameSystem.objects.first())
    foreign = NPC.objects.create(world=other, slug="mira-voss", name="Mira Voss")
    with pytest.raises(Invalid, match="different worlds"):
        merge_npcs(foreign, into=voss, **BY)
    with pytest.raises(Invalid, match="itself"):
        merge_npcs(voss, into=voss, **BY)
    assert not NPCMerge.objects.exists()


def test_the_ledger_stays_append_only_outside_a_merge(demo: World, voss: NPC) -> None:
    jory = NPC.objects.get(world=demo, slug="jory-fenn")
    with pytest.raises(IntegrityError):
        DispositionChange.objects.filter(npc=voss).update(npc=jory)


def test_what_a_text_states_about_the_merged_npc_is_told_once(
    demo: World, stranger: NPC, voss: NPC
) -> None:
    ApiClient(demo).put("world/npcs", {"npc_id": "the-rower", "name": "The Rower", "role": "r"})
    entry = {"title": "Oar Club", "kind": "faction", "body": "Head: [[The Rower]]"}
    assert ApiClient(demo).put("world/lore", entry)[0] == 200

    def heads() -> list[str]:
        facts = GraphEdge.objects.believed_now().filter(source_ref="lore:oar-club")
        return list(facts.values_list("src__slug", flat=True))

    assert heads() == ["the-rower"]
    merge = merge_npcs(stranger, into=voss, with_profile=True, **BY)
    assert heads() == ["mira-voss"]
    undo_merge(merge, by="bo")
    assert heads() == ["the-rower"]
