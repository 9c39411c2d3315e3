"""Importers: all or nothing, twice is once, hidden unless told otherwise; what an export writes
comes back the same.
"""

import hashlib
import json
import unicodedata
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from art.models import Picture
from knowledge.entry_store import save_entry
from knowledge.export import export_json, export_markdown
from knowledge.graph.protocol import View
from knowledge.importers.formats import FORMATS
from knowledge.importers.html import html_to_markdown
from knowledge.link_models import Link
from knowledge.models import Lore, LorePassage
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from memory_site.imports.report import WriteReport
from memory_site.imports.undo import undo
from npcs.models import NPC
from retrieval.errors import Invalid
from tests.art.image_samples import image_bytes
from worlds.audiences import PUBLIC, Visibility
from worlds.models import Campaign, ImportRun, World

VAULT = {
    "Places/The Quay.md": "---\naliases: [Low Quay]\ntags: river\ndate: 2020-01-02\n---\n"
    "Wet. See [[Mira Voss]] and "
    "[[The Tower|a tower]]. #trade\n\n%%It floods in the ninth month.%%\n",
    "People/Mira Voss.md": "---\ntype: character\n---\nShe keeps the ledger of the [[The Quay]].\n",
    ".obsidian/app.md": "not a note",
}


def import_lore(
    world: World, path: Path, format: str, *, publish: bool = False, **options: Any
) -> WriteReport:
    """Import all of it or nothing, as the command does."""
    dry_run = options.pop("dry_run", False)
    status = "published" if publish else "draft"
    chosen = ImportOptions(format=format, status=status, bad_files="refuse", **options)
    return import_path(world, path, chosen, dry_run=dry_run)


def edit(entry: Lore, **values: Any) -> None:
    for name, value in values.items():
        setattr(entry, name, value)
    save_entry(entry, reason="a correction")


def counts(report: WriteReport) -> dict[str, int]:
    return report.counts()["lore"]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in VAULT.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "vault"


def rows(world: World) -> list[dict[str, Any]]:
    left_out = {
        "id",
        "world_id",
        "campaign_id",
        "overrides_id",
        "created_at",
        "updated_at",
        "version",
    }
    found = Lore.objects.filter(world=world).order_by("campaign__slug", "slug").values()
    return [{name: value for name, value in row.items() if name not in left_out} for row in found]


class TestAVault:
    def test_notes_become_hidden_drafts_with_their_names_and_tags(
        self, world: World, vault: Path
    ) -> None:
        report = import_lore(world, vault, "obsidian")
        assert counts(report) == {"created": 2}
        quay = Lore.objects.get(slug="the-quay")
        assert (quay.kind, quay.aliases, quay.tags) == ("place", ["Low Quay"], ["river", "trade"])
        assert (quay.visibility, quay.status, quay.extra) == ("gm", "draft", {"date": "2020-01-02"})
        assert Lore.objects.get(slug="mira-voss").kind == "biography"

    def test_an_authors_comment_stays_secret_even_when_the_rest_is_made_public(
        self, world: World, vault: Path
    ) -> None:
        import_lore(world, vault, "obsidian", visibility=Visibility.PUBLIC, publish=True)
        seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
        assert "Wet" in seen
        assert "ninth month" not in seen
        assert LorePassage.objects.filter(text__contains="ninth month", visibility="gm").exists()

    def test_a_comment_with_code_in_it_is_secret_and_code_is_not(
        self, world: World, vault: Path
    ) -> None:
        note = "Dry.\n\n%%A trap:\n```\nroll 1d6\n```\nkills.%%\n\n```\n%%shown%%\n```\n"
        (vault / "Cellar.md").write_text(note, encoding="utf-8")
        import_lore(world, vault, "obsidian", visibility=Visibility.PUBLIC, publish=True)
        passages = LorePassage.objects.visible_to(PUBLIC).filter(lore__slug="cellar")
        seen = " ".join(passages.values_list("text", flat=True))
        assert "%%shown%%" in seen
        assert "trap" not in seen
        assert "kills" not in seen

    @pytest.mark.parametrize(
        "note",
        [
            "Dry.\n\n<!-- It is a trap. -->\n\nShown.\n",
            "Dry.\n\n<!--\nIt is\n\na trap.\n-->\n\nShown.\n",
            "Dry.\n\nShown.\n\n<!-- It is a trap.\n",
            "Dry.\n\nShown.\n\n%% It is a trap.\n\nIt kills.\n",
            "Dry.\n\n> [!secret|left] Cellar\n> It is a trap.\n\nShown.\n",
            "- Dry.\n  > [!secret]- Cellar\n  > It is a trap.\n- Shown.\n",
            "1. Dry.\n2. > [!secret]\n   > It is a trap.\n3. Shown.\n",
            "> [!note] Dry\n> Shown.\n>> [!secret] Cellar\n>> It is a trap.\n",
            "Dry.\n\n> [!secret] Cellar\n> It kills whoever enters:\nit is a trap.\n\nShown.\n",
        ],
        ids=[
            "HTML comment",
            "HTML comment of several lines",
            "HTML comment that is not closed",
            "comment that is not closed",
            "callout with metadata",
            "callout in a list",
            "callout as an item",
            "callout in a callout",
            "callout whose last line has no mark",
        ],
    )
    def test_what_an_author_hid_is_secret_wherever_it_stands(
        self, world: World, tmp_path: Path, note: str
    ) -> None:
        (tmp_path / "Cellar.md").write_text(note, encoding="utf-8")
        import_lore(world, tmp_path, "obsidian", visibility=Visibility.PUBLIC, publish=True)
        seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
        assert "Dry" in seen
        assert "Shown" in seen
        assert "trap" not in seen
        assert "kills" not in seen
        assert LorePassage.objects.filter(text__contains="trap", visibility="gm").exists()

    def test_a_secret_in_a_secret_of_a_party_stays_with_the_game_master(
        self, world: World, tmp_path: Path
    ) -> None:
        note = (
            "Dry.\n\n> [!secret] party:lanternbearers character:ilse\n> A door.\n>\n"
            "> > [!secret]\n> > It is a trap.\n"
        )
        (tmp_path / "Cellar.md").write_text(note, encoding="utf-8")
        import_lore(world, tmp_path, "obsidian", visibility=Visibility.PUBLIC, publish=True)
        assert Lore.objects.get().body == (
            "Dry.\n\n:::secret party:lanternbearers character:ilse\nA door.\n\n"
            ":::secret\nIt is a trap.\n:::\n:::"
        )

    def test_a_comment_in_a_table_leaves_the_table_whole(
        self, world: World, tmp_path: Path
    ) -> None:
        table = "| Who | Where |\n|---|---|\n| Mira %%lies%% | Quay <!-- not --> |\n| Ilse | `%%` |"
        (tmp_path / "Rota.md").write_text(f"{table}\n\nEnd.\n", encoding="utf-8")
        import_lore(world, tmp_path, "obsidian")
        body = Lore.objects.get().body
        assert body.startswith("| Who | Where |\n|---|---|\n| Mira  | Quay  |\n| Ilse | `%%` |\n\n")
        assert body.count(":::secret\n") == 2
        assert "lies" in body
        assert body.endswith("\n\nEnd.")

    def test_marks_that_obsidian_alone_reads_go(self, world: World, tmp_path: Path) -> None:
        note = "It rings. ^bell\n\n- 10 ^3\n\n`<!-- shown -->`\n\n%%%%\n\nEnd.\n"
        (tmp_path / "Bell.md").write_text(note, encoding="utf-8")
        import_lore(world, tmp_path, "obsidian")
        body = Lore.objects.get().body
        assert body == "It rings.\n\n- 10 ^3\n\n`<!-- shown -->`\n\n\n\nEnd."

    @pytest.mark.parametrize(
        ("file", "text", "body"),
        [
            ("Mine.md", "# Mine\n\nDeep.", "Deep."),
            ("Mine.md", "\n\n#  mine ##\nDeep.\n\n# Mine\n", "Deep.\n\n# Mine"),
            ("Mine.md", "---\ntitle: The Mine\n---\n# The Mine\n\nDeep.", "Deep."),
            ("Mine.md", "Mine\n====\nDeep.", "Deep."),
            ("Старая шахта.md", "# Старая шахта\n\nТемно.", "Темно."),
            ("등대.md", "# 등대\n\n어둡다.", "어둡다."),
            ("Mine.md", "# Mine", ""),
            ("Mine.md", "# Shafts\n\nDeep.", "# Shafts\n\nDeep."),
            ("Mine.md", "Deep.\n\n# Mine\n\nOld.", "Deep.\n\n# Mine\n\nOld."),
            ("Mine.md", "#mine\n\nDeep.", "#mine\n\nDeep."),
            ("Mine.md", "## Mine\n\nDeep.", "## Mine\n\nDeep."),
        ],
    )
    def test_a_first_heading_that_repeats_the_title_is_left_out(
        self, world: World, tmp_path: Path, file: str, text: str, body: str
    ) -> None:
        (tmp_path / file).write_text(text, encoding="utf-8")
        import_lore(world, tmp_path, "obsidian", visibility="public")
        assert Lore.objects.get().body == body

    def test_the_line_of_a_fault_below_the_title_is_that_of_the_file(
        self, world: World, tmp_path: Path
    ) -> None:
        text = "---\ntags: a\n---\n\n# Mine\n\nDeep.\n\n:::secrt\nGold.\n:::\n"
        (tmp_path / "Mine.md").write_text(text, encoding="utf-8")
        with pytest.raises(Invalid, match=r"Mine\.md:9"):
            import_lore(world, tmp_path, "obsidian", visibility="public")

    @pytest.mark.parametrize(
        ("link", "adopted"),
        [
            ("[a clerk](../People/Mira%20Voss.md)", "[[Mira Voss|a clerk]]"),
            ("[Mira Voss](People/Mira%20Voss.md)", "[[Mira Voss]]"),
            ("[clerk](</People/Mira Voss.md>)", "[[Mira Voss|clerk]]"),
            ("[clerk](Mira%20Voss)", "[[Mira Voss|clerk]]"),
            ("[clerk](../People/mira%20voss)", "[[Mira Voss|clerk]]"),
            ('[clerk](Mira%20Voss.md "Who she is")', "[[Mira Voss|clerk]]"),
            ("[work](Mira%20Voss.md#Her%20work)", "[[Mira Voss#Her work|work]]"),
            ("[work](Mira%20Voss#^a1b2)", "[[Mira Voss|work]]"),
            ("[old](Tower%20(old).md)", "[[Tower (old)|old]]"),
            ("[Маяк](%D0%9C%D0%B0%D1%8F%D0%BA.md)", "[[Маяк]]"),
            ("[빛](../%E1%84%83%E1%85%B3%E1%86%BC%E1%84%83%E1%85%A2.md)", "[[등대|빛]]"),
            ("[this one](Inn.md)", "[[Places/Inn|this one]]"),
            ("[that one](../People/Inn.md)", "[[People/Inn|that one]]"),
            ("[nobody](Nobody)", "[nobody](Nobody)"),
            ("[site](https://example.com/Mira%20Voss.md)", None),
            ("[below](#Below)", None),
            ("[mail](mailto:mira@example.com)", None),
        ],
    )
    def test_links_of_markdown_lead_to_the_notes_of_the_vault(
        self, world: World, vault: Path, link: str, adopted: str | None
    ) -> None:
        others = ("Tower (old)", "Маяк", unicodedata.normalize("NFD", "등대"), "People/Inn")
        for name in (*others, "Places/Inn"):
            (vault / f"{name}.md").write_text("Old.", encoding="utf-8")
        (vault / "Places/Door.md").write_text(f"See {link}.", encoding="utf-8")
        import_lore(world, vault, "obsidian")
        entry = Lore.objects.get(title="Door")
        assert entry.body == f"See {adopted or link}."
        if adopted and adopted.startswith("[["):
            assert Link.objects.get(source_id=entry.pk).state == Link.State.RESOLVED

    def test_pictures_are_found_by_any_path_to_them(self, world: World, vault: Path) -> None:
        name = unicodedata.normalize("NFD", "지도 é.png")
        colours = {"Places/maps": "teal", "maps": "red"}
        for folder, colour in colours.items():
            (vault / folder).mkdir()
            (vault / folder / name).write_bytes(image_bytes(colour=colour))
        text = (
            "![a](maps/%EC%A7%80%EB%8F%84%20%C3%A9.png)\n![b](<../maps/지도 é.png>)\n"
            "![c](./maps/%EC%A7%80%EB%8F%84%20%C3%A9.png)\n![[지도 é.png|d]]"
        )
        (vault / "Places/Hall.md").write_text(text, encoding="utf-8")
        import_lore(world, vault, "obsidian")
        hall = Lore.objects.get(title="Hall")
        own, top = (
            Picture.objects.get(sha256=hashlib.sha256(image_bytes(colour=colour)).hexdigest())
            for colour in colours.values()
        )
        shown = [own, top, own, own]
        words = [f"![{alt}](picture:{each.pk})" for alt, each in zip("abcd", shown, strict=True)]
        assert hall.body == "\n".join(words)

    def test_links_without_a_target_are_reported(self, world: World, vault: Path) -> None:
        assert import_lore(world, vault, "obsidian").unknown_links == {
            "Places/The Quay.md": ["The Tower"]
        }

    def test_a_dry_run_reports_and_stores_nothing(self, world: World, vault: Path) -> None:
        report = import_lore(world, vault, "obsidian", dry_run=True)
        assert counts(report) == {"created": 2}
        assert not Lore.objects.exists()
        assert not LorePassage.objects.exists()

    def test_importing_again_changes_nothing(self, world: World, vault: Path) -> None:
        import_lore(world, vault, "obsidian")
        before = list(Lore.objects.values_list("slug", "version", "updated_at"))
        assert counts(import_lore(world, vault, "obsidian")) == {"unchanged": 2}
        assert list(Lore.objects.values_list("slug", "version", "updated_at")) == before

    def test_importing_again_keeps_what_was_changed_here(self, world: World, vault: Path) -> None:
        import_lore(world, vault, "obsidian")
        edit(Lore.objects.get(slug="the-quay"), body="Dry at last.", tags=["dry"])
        assert counts(import_lore(world, vault, "obsidian")) == {"unchanged": 2}
        (vault / "Places/The Quay.md").write_text(
            VAULT["Places/The Quay.md"].replace("Low Quay", "High Quay"), encoding="utf-8"
        )
        report = import_lore(world, vault, "obsidian")
        quay = Lore.objects.get(slug="the-quay")
        assert (quay.body, quay.tags, quay.aliases) == ("Dry at last.", ["dry"], ["High Quay"])
        assert not [problem for problem in report.problems if "The Quay" in problem.message]

    def test_what_was_changed_here_and_in_the_file_stays_and_is_named(
        self, world: World, vault: Path
    ) -> None:
        import_lore(world, vault, "obsidian")
        edit(Lore.objects.get(slug="the-quay"), body="Dry at last.")
        (vault / "Places/The Quay.md").write_text("Flooded.", encoding="utf-8")
        report = import_lore(world, vault, "obsidian")
        assert Lore.objects.get(slug="the-quay").body == "Dry at last."
        (note,) = [each for each in report.problems if "The Quay" in each.message]
        assert note.file.endswith("The Quay.md")
        assert not note.is_error
        import_lore(world, vault, "obsidian", existing="overwrite")
        assert Lore.objects.get(slug="the-quay").body == "Flooded."

    def test_an_import_that_was_undone_can_be_repeated(self, world: World, vault: Path) -> None:
        import_lore(world, vault, "obsidian")
        (vault / "Places/The Quay.md").write_text("Flooded.", encoding="utf-8")
        for _time in range(2):
            import_lore(world, vault, "obsidian")
            assert Lore.objects.get(slug="the-quay").body == "Flooded."
            undo(ImportRun.objects.filter(world=world).latest("created_at"))
            assert "Wet." in Lore.objects.get(slug="the-quay").body

    def test_importing_again_keeps_the_audience(self, world: World, vault: Path) -> None:
        import_lore(world, vault, "obsidian")
        Lore.objects.update(visibility="public", status="published")
        (vault / "Places/The Quay.md").write_text("Dry now.", encoding="utf-8")
        assert counts(import_lore(world, vault, "obsidian")) == {"changed": 1, "unchanged": 1}
        quay = Lore.objects.get(slug="the-quay")
        assert (quay.body, quay.visibility, quay.status) == ("Dry now.", "public", "published")

    def test_one_bad_file_stores_nothing_and_is_named(self, world: World, vault: Path) -> None:
        (vault / "bad.md").write_text("---\na: 1\nb: [\n---\nText.")
        with pytest.raises(
            Invalid, match=r"bad\.md:\d: The front matter cannot be read. This is not YAML"
        ):
            import_lore(world, vault, "obsidian")
        assert not Lore.objects.exists()


def import_file(
    world: World, tmp_path: Path, name: str, content: Any, kind: str, **options: Any
) -> WriteReport:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return import_lore(world, path, kind, **options)


def test_world_info_keeps_keys_as_aliases_and_the_rest_in_extra(
    world: World, tmp_path: Path
) -> None:
    book = {
        "entries": {
            "0": {
                "uid": 0,
                "key": ["bell", "/b.ll/i"],
                "keysecondary": ["toll"],
                "comment": "Toll Bell",
                "content": "It strikes nine.",
                "constant": True,
                "disable": False,
                "order": 100,
            },
            "1": {"uid": 1, "key": ["eel"], "comment": "", "content": "Slippery.", "disable": True},
        }
    }
    import_file(world, tmp_path, "book.json", book, "sillytavern", publish=True)
    bell, eel = Lore.objects.order_by("-slug")
    assert (bell.title, bell.aliases, bell.body, bell.tags) == (
        "Toll Bell",
        ["bell"],
        "It strikes nine.",
        ["always-on"],
    )
    assert bell.extra == {
        "patterns": ["/b.ll/i"],
        "keysecondary": ["toll"],
        "constant": True,
        "order": 100,
    }
    assert (eel.title, eel.status, bell.status) == ("eel", "draft", "published")


def test_a_novelai_lorebook(world: World, tmp_path: Path) -> None:
    book = {
        "lorebookVersion": 4,
        "entries": [
            {
                "text": "A clerk.",
                "displayName": "Mira",
                "keys": ["Mira"],
                "enabled": True,
                "category": "c1",
            }
        ],
        "categories": [{"id": "c1", "name": "Character"}],
    }
    import_file(world, tmp_path, "a.lorebook", book, "novelai")
    assert Lore.objects.values_list("title", "kind", "tags").get() == (
        "Mira",
        "biography",
        ["Character"],
    )


def test_kanka_keeps_private_things_private(world: World, tmp_path: Path) -> None:
    bell = {
        "name": "Bell",
        "entry": "<p>Rings for [character:7|Mira]</p>",
        "is_private": True,
        "entity": {"id": 5},
    }
    post = {"name": "Debt", "entry": "<b>Owes</b> the guild.", "visibility_id": 2}
    relation = {"target_id": 5, "relation": "owner", "attitude": -40, "visibility_id": 1}
    mira = {
        "name": "Mira",
        "entry": "A clerk.",
        "entity": {"id": 7, "posts": [post], "relations": [relation]},
    }
    archive = tmp_path / "kanka.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("items/bell.json", json.dumps(bell))
        file.writestr("characters/mira.json", json.dumps(mira))
    import_lore(world, archive, "kanka", visibility=Visibility.PUBLIC)
    assert Lore.objects.values_list("visibility", "kind", "body").get(title="Bell") == (
        "gm",
        "item",
        "Rings for [[Mira]]",
    )
    seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
    assert "clerk" in seen
    assert "Owes" not in seen
    assert Lore.objects.get(title="Mira").extra["relations"] == [
        {"to": "Bell", "relation": "owner", "attitude": -40, "private": False}
    ]


def test_kanka_memberships_and_old_exports_keep_private_things_private(
    world: World, tmp_path: Path
) -> None:
    members = [{"organisation_id": 1, "role": "spy", "is_private": True}, {"organisation_id": 2}]
    posts = [{"name": "Debt", "entry": "Owes the guild.", "visibility": "admin"}]
    mira = {
        "id": 3,
        "name": "Mira",
        "entry": "A clerk.",
        "location_id": 4,
        "organisation_memberships": [*members, {"organisation_id": 5}],
        "entity": {"id": 13, "posts": posts},
    }
    files = {
        "characters/mira": mira,
        "organisations/oath": {"id": 1, "name": "Oath", "entry": "", "entity": {"id": 11}},
        "organisations/cult": {"id": 2, "name": "Cult", "entry": "", "is_private": True},
        "organisations/guild": {"id": 5, "name": "Guild", "entry": "", "entity": {"id": 15}},
        "locations/lair": {"id": 4, "name": "Lair", "entry": "", "is_private": True},
    }
    archive = tmp_path / "kanka.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name, entity in files.items():
            file.writestr(f"{name}.json", json.dumps(entity))
    import_lore(world, archive, "kanka", publish=True, visibility=Visibility.PUBLIC)
    npc = NPC.objects.get(name="Mira")
    assert (npc.faction, npc.home) == ("Guild", "")
    edges = View(world, PUBLIC).facts().filter(src__name="Mira", source_kind="import")
    assert list(edges.values_list("dst__name", flat=True)) == ["Guild"]
    seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
    assert "Owes" not in seen


def test_foundry_secrets_and_hidden_pages_stay_secret(world: World, tmp_path: Path) -> None:
    journal = {
        "name": "The Quay",
        "ownership": {"default": 2},
        "pages": [
            {
                "name": "Seen",
                "text": {"content": "<p>Wet.</p><section class='secret'><p>Mined.</p></section>"},
            },
            {
                "name": "Unseen",
                "text": {"content": "<p>Trap @UUID[Actor.1]{Mira}</p>"},
                "ownership": {"default": 0},
            },
        ],
    }
    import_file(world, tmp_path, "j.json", journal, "foundry", visibility=Visibility.PUBLIC)
    seen = " ".join(LorePassage.objects.visible_to(PUBLIC).values_list("text", flat=True))
    assert "Wet." in seen
    assert not {"Mined", "Trap"} & set(seen.replace(".", " ").split())
    assert "[[Mira]]" in Lore.objects.get().body


def test_a_foundry_secret_in_a_public_biography_is_not_in_the_description(
    world: World, tmp_path: Path
) -> None:
    """Players read the description whole; the secret stands in the text of the entry."""
    public = "<p>Mends nets.</p><section class='secret'><p>Howls.</p></section>"
    actor = {
        "name": "Tam Reed",
        "type": "npc",
        "prototypeToken": {"actorLink": True},
        "system": {"details": {"biography": {"public": public, "value": ""}}},
    }
    import_file(world, tmp_path, "a.json", actor, "foundry", visibility=Visibility.PUBLIC)
    assert NPC.objects.get().summary == "Mends nets."
    assert LorePassage.objects.get(secret=True).text == "Howls."


def test_a_table(world: World, tmp_path: Path) -> None:
    text = (
        "Title,Body,Kind,Aliases,in_world_at,Mood\nThe Fall,Rain.,event,Collapse|Ruin,12.5,grim\n"
    )
    import_file(world, tmp_path, "t.csv", text, "csv")
    row = Lore.objects.get()
    assert (row.kind, row.aliases, row.in_world_at, row.extra) == (
        "event",
        ["Collapse", "Ruin"],
        12.5,
        {"mood": "grim"},
    )


@pytest.mark.parametrize("format_name", sorted(FORMATS))
@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"entries": 3}', "\x00\x01", "[" * 100_000]
)
def test_invalid_files_are_refused_with_a_message_or_read_as_text(
    world: World, tmp_path: Path, format_name: str, content: str
) -> None:
    suffix = {"obsidian": "md", "markdown": "md", "csv": "csv"}.get(format_name, "json")
    with suppress(Invalid):
        import_file(world, tmp_path, f"garbage.{suffix}", content, format_name)
        return
    assert not Lore.objects.exists()


class TestExporting:
    @pytest.fixture
    def world_with_lore(
        self, world: World, campaign: Campaign, write: Callable[..., Lore]
    ) -> World:
        bell = write(
            "Toll Bell",
            "It strikes.\n\n:::secret party:lanternbearers\nNine.\n:::",
            aliases=["Колокол: «Пошлина»"],
            tags=["a", "b"],
            in_world_at=12.5,
            in_world_label="1 Thaw",
            extra={"mood": ["grim"]},
            kind="item",
        )
        write("Toll Bell", "Sunk.", campaign=campaign, overrides=bell)
        write(
            "The Choir",
            "---\nSings.",
            visibility="revealed",
            known_to=["party:lanternbearers"],
            author="Ana",
        )
        return world

    @pytest.mark.parametrize("format_name", ["json", "markdown"])
    def test_an_export_imports_to_the_same_rows(
        self, world_with_lore: World, tmp_path: Path, format_name: str
    ) -> None:
        path = tmp_path / "export"
        if format_name == "json":
            path = path.with_suffix(".json")
            path.write_text(export_json(world_with_lore), encoding="utf-8")
        else:
            export_markdown(world_with_lore, path)
        assert set(counts(import_lore(world_with_lore, path, format_name))) == {"unchanged"}
        other = World.objects.create(slug="copy", name="Copy", system=world_with_lore.system)
        Campaign.objects.create(world=other, slug="low-water", name="Low Water")
        import_lore(other, path, format_name)
        assert rows(other) == rows(world_with_lore)
        assert Lore.objects.get(world=other, campaign__isnull=False).overrides.world == other

    def test_an_export_refuses_a_folder_that_is_not_empty(
        self, world_with_lore: World, tmp_path: Path
    ) -> None:
        (tmp_path / "mine.txt").write_text("mine")
        with pytest.raises(Invalid, match="not empty"):
            export_markdown(world_with_lore, tmp_path)


def test_html_is_read_as_markdown() -> None:
    text = "<h2>Quay</h2><p>Very <b>wet</b>,<br>cold.</p><ul><li>eel</li><li>rope</li></ul>"
    html = f"{text}<script>alert(1)</script>"
    assert html_to_markdown(html) == "## Quay\n\nVery **wet**,\ncold.\n\n- eel\n- rope"


def test_the_npc_of_a_public_draft_is_hidden_until_the_draft_is_published(
    world: World, tmp_path: Path
) -> None:
    note = "---\ntype: character\n---\nShe keeps the ledger.\n"
    (tmp_path / "Mira Voss.md").write_text(note)
    import_lore(world, tmp_path, "obsidian", visibility="public")
    assert Lore.objects.get().visibility == Visibility.PUBLIC
    assert NPC.objects.get().visibility == Visibility.GM
    assert not NPC.objects.visible_to(PUBLIC).exists()
