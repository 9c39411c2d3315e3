"""Two tabs with one row in the admin: the second save shows both texts, and the merge is saved."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from knowledge.entry_store import save_entry
from knowledge.models import Lore
from npcs.models import NPC
from npcs.upsert import store_npc
from tests.memory_site.demo.browser_form import BrowserForm
from worlds.admin_locking import TOKEN
from worlds.audiences import Audience
from worlds.models import Party, World
from worlds.reveals import reveal
from worlds.text_diff import merge_texts

pytestmark = pytest.mark.django_db
BODY = "The quay is wet.\n\nBoats come at noon.\n\nNobody sings."
NAMES = ("yours", "stored")


@pytest.fixture
def quay(world: World) -> Lore:
    entry = Lore(world=world, slug="quay", title="The Quay", body=BODY, tags=["a, b", "wet"])
    save_entry(entry)
    return entry


class Tab:
    """A change form in a browser."""

    def __init__(self, client: Client, row: Any) -> None:
        meta = row._meta
        self.client, self.row = client, row
        self.url = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
        self.fields = self._read(client.get(self.url), f"{meta.model_name}_form")

    def save(self, **changes: Any) -> HttpResponse:
        answer = self.client.post(self.url, {**self.fields, **changes, "_save": "Save"})
        self.row.refresh_from_db()
        assert answer.status_code in (302, 409), answer.context["errors"]
        return answer  # type: ignore[return-value]

    def save_merged(self, page: Any, **changes: Any) -> HttpResponse:
        """Press the button of the page that shows both texts."""
        assert page.status_code == 409
        self.fields = self._read(page, "conflict_form")
        return self.save(**changes)

    def _read(self, page: Any, form_id: str) -> dict[str, Any]:
        form = BrowserForm(page.content.decode(), form_id)
        assert form.is_found
        return dict(form.fields)


def test_the_second_tab_on_an_entry_is_shown_both_texts(admin_client: Client, quay: Lore) -> None:
    first, second = Tab(admin_client, quay), Tab(admin_client, quay)
    assert first.save(body=BODY.replace("wet", "dry"), title="The Old Quay").status_code == 302
    page = second.save(body=BODY.replace("Nobody", "Everybody"), tags=["a, b", "new"])
    assert (quay.version, quay.body) == (2, BODY.replace("wet", "dry"))
    shown = page.content.decode()
    assert "Everybody" in shown
    assert "<del>dry</del>" in shown
    assert "<ins>wet</ins>" in shown

    assert second.save_merged(page).status_code == 302
    merged = BODY.replace("wet", "dry").replace("Nobody", "Everybody")
    assert (quay.body.replace("\r\n", "\n"), quay.title) == (merged, "The Old Quay")
    assert (quay.tags, quay.version) == (["a, b", "new"], 3)


def test_words_that_both_changed_are_marked_and_saved_when_one_was_chosen(
    admin_client: Client, quay: Lore
) -> None:
    first, second = Tab(admin_client, quay), Tab(admin_client, quay)
    first.save(body=BODY.replace("noon", "dawn"))
    page = second.save(body=BODY.replace("noon", "dusk"), title="Quay")
    second.fields = second._read(page, "conflict_form")
    both = second.fields["body"][0].replace("\r\n", "\n")
    assert "Boats come at dawn." in both
    assert "Boats come at dusk." in both

    refused = admin_client.post(second.url, {**second.fields, "_save": "Save"})
    line = both.split("\n").index("<<<<<<< what you wrote") + 1
    assert refused.context["adminform"].form.errors["body"][0].startswith(f"Line {line}: ")
    assert Lore.objects.get().version == 2

    second.fields = second._read(refused, "lore_form")
    second.save(body=BODY.replace("noon", "dawn or dusk"))
    assert "Boats come at dawn or dusk." in quay.body
    assert quay.title == "Quay"


def test_a_third_writer_is_noticed_on_the_page_of_both_texts(
    admin_client: Client, quay: Lore
) -> None:
    first, second = Tab(admin_client, quay), Tab(admin_client, quay)
    first.save(title="One")
    page = second.save(title="Two")
    Tab(admin_client, quay).save(title="Three")
    assert second.save_merged(page).status_code == 409
    assert quay.title == "Three"


def test_a_reveal_is_not_taken_back_by_a_form_that_was_open(
    admin_client: Client, quay: Lore, lanternbearers: Party
) -> None:
    tab = Tab(admin_client, quay)
    reveal(quay, Audience.parse("party:lanternbearers"))
    assert tab.save(title="Quay").status_code == 409
    assert (quay.visibility, quay.known_to) == ("revealed", ["party:lanternbearers"])


def test_the_second_tab_on_an_npc_is_shown_both_texts(admin_client: Client, mira: NPC) -> None:
    mira.play_now, mira.goals = ["Quick, dry", "Asks"], ["Page nine"]
    store_npc(mira)
    first, second = Tab(admin_client, mira), Tab(admin_client, mira)
    assert first.save(play_now=["Quick, dry", "Asks", "Laughs"]).status_code == 302
    page = second.save(play_now=["Quick, dry"], goals=["Page nine", "A boat, a small one"])
    assert mira.goals == ["Page nine"]
    assert second.save_merged(page).status_code == 302
    assert (mira.play_now, mira.goals) == (
        ["Quick, dry", "Laughs"],
        ["Page nine", "A boat, a small one"],
    )


def test_a_secret_that_others_edited_is_not_overwritten(admin_client: Client, mira: NPC) -> None:
    mira.secrets.all().delete()
    secret = mira.secrets.create(world_id=mira.world_id, position=1, text="She owes.")
    first, second = Tab(admin_client, mira), Tab(admin_client, mira)
    assert first.save(**{"secrets-0-text": "She owes ten."}).status_code == 302
    page = second.save(**{"secrets-0-text": "She owes the ferry."})
    secret.refresh_from_db()
    assert secret.text == "She owes ten."
    second.save_merged(page, **{"secrets-0-text": "She owes the ferry ten."})
    secret.refresh_from_db()
    assert secret.text == "She owes the ferry ten."


def test_a_row_without_versions_is_guarded_as_well(
    admin_client: Client, lanternbearers: Party
) -> None:
    first, second = (Tab(admin_client, lanternbearers) for _each in range(2))
    assert first.save(name="The Lamps").status_code == 302
    page = second.save(name="The Lights")
    assert lanternbearers.name == "The Lamps"
    assert "The Lights" in page.content.decode()
    assert second.save_merged(page).status_code == 302
    assert lanternbearers.name == "The Lights"


@pytest.mark.parametrize("token", [None, "", "0.x"])
def test_a_form_without_the_token_of_its_page_is_not_saved(
    admin_client: Client, quay: Lore, lanternbearers: Party, token: str | None
) -> None:
    for row, name in ((quay, "title"), (lanternbearers, "name")):
        tab, before = Tab(admin_client, row), getattr(row, name)
        tab.fields.pop(TOKEN)
        page = tab.save(**{name: "Overwritten"}, **({} if token is None else {TOKEN: token}))
        assert (page.status_code, getattr(row, name)) == (409, before)
        assert "Overwritten" in page.content.decode()
        tab.save_merged(page, **{name: "Decided"})
        assert getattr(row, name) == "Decided"


def test_saving_twice_in_one_tab_after_a_reload_is_no_conflict(
    admin_client: Client, quay: Lore
) -> None:
    assert Tab(admin_client, quay).save(title="One").status_code == 302
    assert Tab(admin_client, quay).save(title="Two").status_code == 302
    assert quay.title == "Two"


@pytest.mark.parametrize(
    ("base", "yours", "stored", "merged", "overlaps"),
    [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", 0),
        ("one two three", "1 two three", "one two 3", "1 two 3", 0),
        ("a\n", "a\nb\n", "a\nb\n", "a\nb\n", 0),
        ("", "new", "", "new", 0),
        ("a\nb\n", "b\n", "a\nb\nc\n", "b\nc\n", 0),
        ("a", "b", "c", "<<<<<<< yours\nb\n=======\nc\n>>>>>>> stored\n", 1),
        ("x\ny\n", "", "x\ny\n", "", 0),
    ],
)
def test_texts_are_merged(base: str, yours: str, stored: str, merged: str, overlaps: int) -> None:
    assert merge_texts(base, yours, stored, names=NAMES) == (merged, overlaps)
