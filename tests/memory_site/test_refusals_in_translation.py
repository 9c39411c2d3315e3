"""A page says in its own language why it refuses something."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import translation

from knowledge.bulk_changes import BulkChange, undo_change
from knowledge.entry_store import CONSTRAINTS, save_entry
from knowledge.models import Lore
from memories.curation.lifecycle import find_memory
from memories.models import Namespace
from npcs.change_states import why_no_ruling
from npcs.dispositions import check_delta, require_reason, set_score
from npcs.models import NPC
from retrieval.errors import Problem
from tests.memory_site.catalogues import PACKAGES, catalogue, read_po
from tests.memory_site.refusals import untranslated_refusals
from worlds.invitations import open_invitation
from worlds.lookup import find_party
from worlds.models import Membership, Party, World
from worlds.versions import require_version

LETTERS = {"ru": "[а-яё]{3}", "ko": "[가-힣]{2}"}


def test_no_service_behind_a_page_raises_a_problem_with_an_english_text() -> None:
    assert untranslated_refusals() == [], "Wrap the text in gettext, with named placeholders."


@pytest.mark.parametrize("language", ["ru", "ko"])
def test_refusals_of_services_are_in_the_language_of_the_page(demo: World, language: str) -> None:
    npc, party = NPC.objects.filter(world=demo)[0], Party.objects.filter(world=demo)[0]
    twin = Lore.objects.filter(world=demo, campaign=None)[0]
    memory = Namespace.objects.create(world=demo, name="of a test")
    refused: list[Callable[[], object]] = [
        lambda: check_delta(0, 200),
        lambda: require_reason(" "),
        lambda: set_score(npc, party, to=500, reason="a test", made_by="anna"),
        lambda: require_version(twin, 99),
        lambda: require_version(None, 1),
        lambda: save_entry(Lore(world=demo, slug=twin.slug, title="Twin", kind="place", body="T")),
        lambda: find_memory(memory, "nothing"),
        lambda: open_invitation("nothing"),
        lambda: find_party(demo, "nothing"),
        lambda: undo_change(BulkChange(world=demo), by="anna"),
    ]
    for call in refused:
        with translation.override(language), pytest.raises(Problem) as problem:
            call()
        assert re.search(LETTERS[language], problem.value.detail), problem.value.detail
    with translation.override(language):
        assert re.search(LETTERS[language], why_no_ruling(1, "counts", "restoration"))
        assert all(re.search(LETTERS[language], str(text)) for text in CONSTRAINTS.values())


@pytest.mark.parametrize("language", ["ru", "ko"])
def test_the_page_of_an_npc_shows_a_refusal_in_its_language(
    demo: World, client: Client, language: str
) -> None:
    anna = get_user_model().objects.create_user("anna")
    Membership.objects.create(user=anna, world=demo, role="gm")
    client.force_login(anna)
    npc = NPC.objects.filter(world=demo)[0]
    party = Party.objects.filter(world=demo)[0]
    page = client.post(
        f"/w/{demo.slug}/npcs/{npc.slug}/correct/",
        {"party": party.slug, "delta": "0", "as": "step", "reason": "x"},
        headers={"accept-language": language},
        follow=True,
    )
    shown = [str(message) for message in page.context["messages"]]
    assert shown
    assert re.search(LETTERS[language], shown[0])


@pytest.mark.parametrize("language", ["ru", "ko"])
def test_what_is_not_found_is_named_in_the_language_of_the_page(language: str) -> None:
    known = {entry.source for entry in read_po(catalogue(language))}
    base = Path(settings.BASE_DIR)
    modules = [path for package in PACKAGES for path in (base / package).rglob("*.py")]
    named = {
        keyword.value.value
        for path in modules
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "what" and isinstance(keyword.value, ast.Constant)
    }
    assert named - known == set()
