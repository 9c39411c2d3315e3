"""The endpoints of the editor field: names, audiences, preview, passages and drafts."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from knowledge.entry_drafts import MOST_DRAFTS, EntryDraft, delete_draft, save_draft
from knowledge.entry_store import save_entry
from knowledge.graph.schemas import GraphFact, NodeFact
from knowledge.graph.upsert import upsert_facts
from knowledge.models import Lore
from npcs.models import NPC
from worlds.models import Membership, Party, World

BASE = "/w/ferrymark/editor/"
READS = ("complete/?q=mira", "audiences/?q=lan", "draft/")


def sign_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


@pytest.fixture
def anna(world: World) -> User:
    user = User.objects.create_user("anna")
    Membership.objects.create(user=user, world=world, role=Membership.Role.GM)
    return user


@pytest.fixture
def gm(anna: User) -> Client:
    return sign_in(anna)


def entry(world: World, title: str, **fields: Any) -> Lore:
    slug = title.lower().replace(" ", "-")
    row = Lore(**{"world": world, "slug": slug, "title": title, **fields})
    save_entry(row)
    return row


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(BASE + path, body, content_type="application/json")


def put(client: Client, **body: Any) -> Any:
    return client.put(f"{BASE}draft/", body, content_type="application/json")


def names(client: Client, query: str, **more: str) -> list[str]:
    answer = client.get(f"{BASE}complete/", {"q": query, **more})
    assert answer.status_code == 200
    return [item["name"] for item in answer.json()["items"]]


class TestWho:
    def ask_all(self, client: Client) -> set[int]:
        statuses = {client.get(BASE + path).status_code for path in READS}
        statuses |= {post(client, path, text="x").status_code for path in ("preview/", "cut/")}
        return statuses | {put(client, fields={"body": "x"}).status_code}

    def test_a_game_master_may(self, gm: Client) -> None:
        assert self.ask_all(gm) == {200}

    def test_a_player_a_stranger_and_a_gm_who_views_as_a_party_get_404(
        self, gm: Client, world: World, lanternbearers: Party
    ) -> None:
        pat, sam = User.objects.create_user("pat"), User.objects.create_user("sam")
        Membership.objects.create(user=pat, world=world, role="player", party=lanternbearers)
        gm.post("/w/ferrymark/as/", {"as": "party:lanternbearers", "next": "/"})
        for client in (sign_in(pat), sign_in(sam), gm):
            assert self.ask_all(client) == {404}
        assert not EntryDraft.objects.exists()

    def test_an_anonymous_visitor_is_sent_to_the_login(self, world: World) -> None:
        assert self.ask_all(Client()) == {302}

    def test_other_methods_are_refused(self, gm: Client) -> None:
        assert gm.post(f"{BASE}complete/").status_code == 405
        assert gm.get(f"{BASE}preview/").status_code == 405
        assert gm.patch(f"{BASE}draft/").status_code == 405


class TestNames:
    def test_beginnings_come_before_parts_and_slips(self, gm: Client, world: World) -> None:
        for title in ("Toll House", "The Old Toll", "Tollgate", "Atoll"):
            entry(world, title)
        assert names(gm, "toll") == ["Tollgate", "Toll House", "The Old Toll", "Atoll"]
        assert names(gm, "tolgate")[0] == "Tollgate"

    def test_aliases_in_any_script_give_the_name(self, gm: Client, world: World) -> None:
        entry(world, "The Quay", aliases=["Причал", "부두"])
        for written in ("прич", "부", "부두"):
            assert names(gm, written) == ["The Quay"]

    def test_people_and_entities_are_offered_and_each_name_once(
        self, gm: Client, world: World, mira: NPC
    ) -> None:
        upsert_facts(
            world, [GraphFact(node=NodeFact(slug="toll-bell", kind="Item", name="Toll Bell"))]
        )
        entry(world, "Mira Voss", kind="biography")
        assert names(gm, "mira") == ["Mira Voss"]
        assert names(gm, "bell") == ["Toll Bell"]

    def test_entries_are_offered_by_meaning(self, gm: Client, world: World) -> None:
        entry(world, "The Quay", body="Eels and boats.", status="published")
        assert names(gm, "eels", by="meaning") == ["The Quay"]

    def test_no_name_of_another_world_is_offered(self, gm: Client, world: World) -> None:
        entry(World.objects.create(slug="saltmere", name="Saltmere"), "Salt Quay")
        assert names(gm, "salt") == []

    @pytest.mark.parametrize("query", ["", "\x00", "[[", "%", "a" * 5000, "\ud800", "()*+?"])
    def test_odd_queries_are_answered(self, gm: Client, world: World, query: str) -> None:
        entry(world, "The Quay")
        for by in ("", "meaning"):
            path = f"{BASE}complete/"
            data = {"q": query.encode("utf-8", "replace").decode(), "by": by}
            assert gm.get(path, data).status_code == 200

    def test_the_number_of_queries_is_constant(
        self, gm: Client, world: World, django_assert_max_num_queries: Any
    ) -> None:
        for number in range(30):
            entry(world, f"Quay {number}")
        with django_assert_max_num_queries(8):
            assert len(names(gm, "quay")) == 12


def test_audiences_are_parties_and_npcs(gm: Client, lanternbearers: Party, mira: NPC) -> None:
    def ask(query: str) -> list[str]:
        items = gm.get(f"{BASE}audiences/", {"q": query}).json()["items"]
        return [item["audience"] for item in items]

    assert set(ask("")) == {"party:lanternbearers", "npc:mira-voss"}
    assert ask("lant") == ["party:lanternbearers"]
    assert ask("мира") == ["npc:mira-voss"]


class TestPreview:
    def test_it_is_the_site_s_own_markdown_without_scripts(self, gm: Client) -> None:
        answer = post(gm, "preview/", text="**Wet**\n\n<script>x</script>\n\n[a](javascript:x)")
        assert "<strong>Wet</strong>" in answer.json()["html"]
        assert "<script" not in answer.json()["html"]
        assert 'href="javascript' not in answer.json()["html"]

    def test_words_are_counted_in_any_script_and_problems_are_named(self, gm: Client) -> None:
        answer = post(gm, "preview/", text="Two words. Два слова. 두 단어.\n\n:::secret\nx").json()
        assert answer["words"] == 8
        assert [problem["line"] for problem in answer["problems"]] == [3]

    @pytest.mark.parametrize("body", ["", "[]", "{", "null", "[" * 50_000, '{"text": 7}'])
    def test_a_malformed_request_is_refused_or_empty(self, gm: Client, body: str) -> None:
        for path in ("preview/", "cut/"):
            answer = gm.post(BASE + path, body, content_type="application/json")
            assert answer.status_code == (200 if "text" in body else 422)

    def test_a_text_that_is_too_long_is_refused(self, gm: Client) -> None:
        for path in ("preview/", "cut/"):
            assert post(gm, path, text="x" * 500_001).status_code == 413

    @pytest.mark.parametrize(
        "text", [":::secret\n" * 10_000, ":::\n" * 10_000, ":::secret\nx\n:::\n" * 5_000]
    )
    def test_ten_thousand_fences_are_answered_in_bounded_time(self, gm: Client, text: str) -> None:
        began = time.monotonic()
        for path in ("preview/", "cut/"):
            assert post(gm, path, text=text).status_code == 200
        assert time.monotonic() - began < 30


def test_passages_are_those_that_saving_makes(gm: Client, lanternbearers: Party) -> None:
    text = "# The Quay\n\nWet.\n\n:::secret party:lanternbearers\nMined.\n:::\n"
    row = entry(lanternbearers.world, "The Quay", body=text)
    answer = post(gm, "cut/", title="The Quay", text=text).json()
    assert [passage["text"] for passage in answer["passages"]] == list(
        row.passages.order_by("position").values_list("text", flat=True)
    )
    assert answer["passages"][1]["audiences"] == ["Lanternbearers"]
    assert "Secret, known to Lanternbearers" in answer["html"]


class TestDrafts:
    def read(self, client: Client, **query: str) -> Any:
        answer = client.get(f"{BASE}draft/", query)
        assert answer.status_code == 200
        return answer.json()["draft"]

    def test_an_entry_has_one_draft_with_date_difference_and_base(
        self, gm: Client, world: World
    ) -> None:
        quay = entry(world, "The Quay", body="Wet.\nOld.")
        for body in ("Wet.\nNew.", "Wet.\nNewest <b>."):
            put(gm, entry=str(quay.pk), base_version=1, fields={"title": "Quay", "body": body})
        assert EntryDraft.objects.count() == 1
        draft = self.read(gm, entry=str(quay.pk))
        assert draft["fields"] == {"title": "Quay", "body": "Wet.\nNewest <b>."}
        assert draft["base_version"] == 1
        assert "<del>Old.</del>" in draft["html"]
        assert "<ins>Newest &lt;b&gt;.</ins>" in draft["html"]
        quay.body = "Changed by another."
        save_entry(quay)
        assert "based on version 1" in self.read(gm, entry=str(quay.pk))["html"]

    def test_new_entries_have_drafts_told_apart_by_id(self, gm: Client) -> None:
        first = put(gm, fields={"title": "One"}).json()["id"]
        second = put(gm, fields={"title": "Two"}).json()["id"]
        assert put(gm, id=first, fields={"title": "One more"}).json()["id"] == first
        assert first != second
        assert self.read(gm, id=first)["fields"]["title"] == "One more"
        assert str(EntryDraft.objects.get(pk=second)) == "Two"

    def test_a_draft_is_its_author_s_alone(self, gm: Client, world: World, anna: User) -> None:
        quay = entry(world, "The Quay")
        put(gm, entry=str(quay.pk), fields={"body": "Anna's"})
        new = put(gm, fields={"title": "Hers"}).json()["id"]
        ben = User.objects.create_user("ben")
        Membership.objects.create(user=ben, world=world, role="designer")
        other = sign_in(ben)
        assert self.read(other, entry=str(quay.pk)) is None
        assert self.read(other, id=new) is None
        put(other, id=new, fields={"title": "His"})
        other.delete(f"{BASE}draft/?id={new}")
        assert EntryDraft.objects.get(user=anna, entry=None).fields == {"title": "Hers"}

    def test_it_is_deleted_on_request_and_by_saving(
        self, gm: Client, world: World, anna: User
    ) -> None:
        quay = entry(world, "The Quay")
        put(gm, entry=str(quay.pk), fields={"body": "x"})
        assert gm.delete(f"{BASE}draft/?entry={quay.pk}").json() == {"deleted": 1}
        kept = save_draft(anna, world, fields={"title": "New"})
        assert delete_draft(anna, world, entry_id=quay.pk, draft_id=kept.pk) == 1
        assert not EntryDraft.objects.exists()

    def test_the_oldest_of_too_many_goes(self, world: World, anna: User) -> None:
        first = save_draft(anna, world, fields={"title": "first"})
        for number in range(MOST_DRAFTS):
            save_draft(anna, world, fields={"title": str(number)})
        assert EntryDraft.objects.count() == MOST_DRAFTS
        assert not EntryDraft.objects.filter(pk=first.pk).exists()

    @pytest.mark.parametrize(
        ("sent", "status"),
        [
            ({"fields": {"body": "a\x00b\ud800"}, "kind": "\x00", "base_version": 10**12}, 200),
            ({"fields": {"body": ["x", 1, None]}, "id": "nonsense", "base_version": "2"}, 200),
            ({"fields": "text"}, 422),
            ({}, 422),
            ({"fields": {"body": "x" * 1_000_001}}, 413),
            ({"fields": {str(n): "x" for n in range(300)}}, 422),
            ({"fields": {"body": "x"}, "entry": "nonsense"}, 404),
            ({"fields": {"body": "x"}, "entry": "01a2b3c4-0000-7000-8000-000000000000"}, 404),
        ],
        ids=["nul", "types", "no-object", "nothing", "long", "many", "no-uuid", "no-entry"],
    )
    def test_odd_drafts_are_cleaned_or_refused(
        self, gm: Client, sent: dict[str, Any], status: int
    ) -> None:
        body = json.dumps(sent)
        answer = gm.put(f"{BASE}draft/", body, content_type="application/json")
        assert answer.status_code == status

    def test_an_entry_of_another_world_is_not_found(self, gm: Client) -> None:
        other = World.objects.create(slug="saltmere", name="Saltmere")
        foreign = entry(other, "Salt Quay")
        assert put(gm, entry=str(foreign.pk), fields={}).status_code == 404
        assert gm.get(f"{BASE}draft/?entry={foreign.pk}").status_code == 404


def test_vendored_files_are_the_ones_that_were_checked() -> None:
    checked = 0
    for sums in Path(settings.BASE_DIR, "static", "vendor").glob("*/SHA256SUMS"):
        for line in sums.read_text().splitlines():
            digest, name = line.split()
            assert hashlib.sha256((sums.parent / name).read_bytes()).hexdigest() == digest, name
            checked += 1
        assert (sums.parent / "LICENSE").exists()
    assert checked >= 5
