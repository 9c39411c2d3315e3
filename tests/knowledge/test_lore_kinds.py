"""Kinds of a world's own: written over REST, exported, imported, and kept in the history."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowledge.entry_store import save_entry
from knowledge.export import export_json, export_markdown
from knowledge.kind_templates import HEADINGS, starting_text
from knowledge.lore_kinds import LoreKind
from knowledge.models import Lore, LorePassage
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from retrieval.errors import Conflict
from tests import cast
from tests.conftest import ApiClient
from worlds.models import World


@pytest.fixture
def deity(world: World) -> LoreKind:
    return LoreKind.objects.create(world=world, slug="deity", name="Deity", template="## Domain\n")


def write(engine: ApiClient, **fields: Any) -> tuple[int, Any]:
    return engine.put("world/lore", {"title": "Mother Eel", "body": "She hears.", **fields})


def test_an_entry_of_a_kind_of_the_worlds_own(engine: ApiClient, deity: LoreKind) -> None:
    write(engine, custom_kind="deity")
    entry = Lore.objects.get()
    assert (entry.kind, entry.custom_kind, entry.kind_name) == ("custom", deity, "Deity")
    assert engine.get("world/lore/mother-eel")[1]["custom_kind"] == "deity"
    assert entry.history.latest().custom_kind_id == deity.pk


def test_a_built_in_kind_takes_the_own_kind_away(engine: ApiClient, deity: LoreKind) -> None:
    write(engine, custom_kind="deity")
    write(engine, body="She listens.")
    assert Lore.objects.get().custom_kind == deity
    write(engine, kind="place")
    assert (Lore.objects.get().kind, Lore.objects.get().custom_kind) == ("place", None)


def test_an_unknown_kind_is_refused_with_the_known_ones(engine: ApiClient, deity: LoreKind) -> None:
    LoreKind.objects.create(world=cast.create_world(slug="other"), slug="ship", name="Ship")
    status, problem = write(engine, custom_kind="ship")
    assert (status, problem["candidates"][0]) == (404, "deity")
    assert "ship" not in problem["candidates"]


def test_only_custom_entries_have_a_kind_of_the_worlds_own(world: World, deity: LoreKind) -> None:
    entry = Lore(world=world, slug="eel", title="Eel", kind="place", custom_kind=deity)
    with pytest.raises(Conflict, match="kind custom"):
        save_entry(entry)


def test_a_search_can_ask_for_one_kind(
    engine: ApiClient, deity: LoreKind, client_with_key: Callable[..., ApiClient]
) -> None:
    write(engine, custom_kind="deity", status="published", visibility="public")
    write(engine, slug="eel-feast", title="Mother Eel's feast", status="published")

    def ask(client: ApiClient, kind: str) -> tuple[int, Any]:
        return client.tool("lore_search", query="Mother Eel", filters={"kind": kind})

    assert [hit["id"] for hit in ask(engine, "deity")[1]["hits"]] == ["mother-eel"]
    assert LorePassage.objects.filter(metadata__has_key="custom_kind").count() == 1
    assert "place" in ask(engine, "places")[1]["candidates"]
    player = client_with_key(audience="public")
    assert [hit["id"] for hit in ask(player, "deity")[1]["hits"]] == ["mother-eel"]
    assert ask(player, "lich-king") == ask(player, "nonsense")


@pytest.mark.parametrize("format", ["json", "markdown"])
def test_an_export_brings_the_kind_to_another_world(
    engine: ApiClient, deity: LoreKind, tmp_path: Path, format: str
) -> None:
    write(engine, custom_kind="deity")
    path = tmp_path / "lore.json"
    if format == "json":
        path.write_text(export_json(deity.world), encoding="utf-8")
    else:
        path = tmp_path / "vault"
        export_markdown(deity.world, path)
    other = cast.create_world(slug="other", name="Other")
    import_path(other, path, ImportOptions(format=format))
    kind = Lore.objects.get(world=other).custom_kind
    assert kind is not None
    assert (kind.world, kind.slug, kind.name) == (other, "deity", "Deity")


@pytest.mark.parametrize("kind", [kind for kind in Lore.Kind if kind != Lore.Kind.CUSTOM])
def test_each_kind_begins_with_headings_and_a_secret(kind: str) -> None:
    text = starting_text(kind)
    assert text.count("## ") == len(HEADINGS[kind]) >= 3
    assert ":::secret\n" in text
    assert text.rstrip().endswith(":::")


def test_a_kind_of_the_worlds_own_begins_with_its_template(deity: LoreKind) -> None:
    assert starting_text("custom", custom_kind=deity) == "## Domain\n"
    assert starting_text("custom") == starting_text("nonsense") == ""


def test_a_kind_in_use_is_not_deleted_but_goes_with_its_world(
    engine: ApiClient, deity: LoreKind
) -> None:
    write(engine, custom_kind="deity")
    with pytest.raises(Exception, match="restricted"):
        deity.delete()
    deity.world.delete()
    assert not LoreKind.objects.exists()
