"""A secret that is misspelt, never closed or names nobody is refused wherever it is written."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from knowledge.entry_store import save_all, save_entry
from knowledge.markup_check import check_fences, check_markup
from knowledge.models import Lore, Rule
from knowledge.proposals import accept, propose
from knowledge.schemas import LoreIn, ProposalIn
from memory_site.imports.direct import import_path
from memory_site.imports.options import ImportOptions
from npcs.models import NPC
from retrieval.errors import Invalid
from retrieval.indexing import normalize_lore
from tests.admin_forms import save_form
from tests.conftest import ApiClient
from tests.knowledge.test_knowledge_admin import form_of
from tests.knowledge.test_knowledge_rest import client_of, post, put
from worlds.models import Party, World

UNCLOSED = "Open.\n\n:::secret\nShe forged it.\n"
Write = Callable[..., Lore]


def lines(text: str) -> list[int]:
    return [problem.line for problem in check_fences(text)]


class TestFences:
    @pytest.mark.parametrize(
        "text",
        [
            "No fence at all. A ratio of 3:1, and C++ has a::b.",
            ":::secret\nHidden.\n:::",
            "Calm. :::secret He is dead. ::: Quiet.",
            "> :::secret\n> Hidden.\n> :::",
            ":::Secret\nOuter.\n:::secret party:lanternbearers\nInner.\n:::\nMore.\n:::",
            "Left ::: right",
        ],
    )
    def test_a_sound_text_has_no_problem(self, text: str) -> None:
        assert check_fences(text) == []

    @pytest.mark.parametrize(
        "opening",
        [
            "::: secrt",
            "::secret",
            ":::secrets",
            ":::секрет",
            "：：：secret",
            ":::secret{x}",
            ":::비밀",
        ],
    )
    def test_a_misspelt_fence_is_found(self, opening: str) -> None:
        problems = check_fences(f"Open.\n{opening}\nHidden.\n:::")
        assert problems[0].line == 2
        assert opening in problems[0].message
        assert ":::secret" in problems[0].message

    def test_a_block_of_another_site_is_named(self) -> None:
        assert "“::: warning”" in check_fences("::: warning\nMind the gap.\n:::")[0].message

    def test_a_secret_that_is_never_closed_is_found_at_its_first_line(self) -> None:
        assert lines(UNCLOSED) == [3]
        assert lines(":::secret\n:::secret\nInner.\n:::\nOuter.") == [1]

    def test_a_closing_fence_that_closes_nothing_is_found(self) -> None:
        assert lines(":::secret\nHidden.\n:::\n:::\n") == [4]

    def test_secrets_nested_too_deep_are_refused(self) -> None:
        text = ":::secret\n" * 9 + "x\n" + ":::\n" * 9
        assert lines(text) == [9]

    @pytest.mark.parametrize(
        "text",
        [
            ":::secret\n" * 10_000,
            ":::\n" * 10_000,
            ":::secret\nx\n:::\n" * 5_000,
            ":::secret party:a\n" * 10_000 + ":::\n" * 10_000,
            ":" * 400_000,
            "::::" + " " * 200_000 + ":::",
        ],
        ids=["opened", "closed", "both", "nested", "colons", "spaces"],
    )
    def test_ten_thousand_fences_take_little_time(self, text: str) -> None:
        began = time.process_time()
        check_fences(text)
        normalize_lore({"title": "Fences", "text": text})
        assert time.process_time() - began < 10


class TestAudiences:
    def test_parties_and_npcs_of_the_world_are_known(
        self, lanternbearers: Party, mira: NPC
    ) -> None:
        text = ":::secret party:lanternbearers npc:mira-voss\nHidden.\n:::"
        assert check_markup(lanternbearers.world, text) == []

    @pytest.mark.parametrize(
        "audiences",
        [
            "party:lanternbearer",
            "party:Lantern-Bearers",
            "npc:lanternbearers",
            "party:lanternbearers,",
            "partie:lanternbearers",
            "party: lanternbearers",
        ],
    )
    def test_an_unknown_one_is_found_with_the_one_that_was_meant(
        self, lanternbearers: Party, audiences: str
    ) -> None:
        problems = check_markup(lanternbearers.world, f"Open.\n:::secret {audiences}\nHidden.\n:::")
        assert [problem.line for problem in problems] == [2]
        assert "Did you mean" in problems[0].message
        assert problems[0].candidates[0] == "party:lanternbearers"

    def test_an_npc_is_suggested_by_its_alias(self, mira: NPC) -> None:
        [problem] = check_markup(mira.world, ":::secret npc:мира-восс\nHidden.\n:::")
        assert problem.candidates == ("npc:mira-voss",)

    def test_those_of_another_world_are_unknown(self, lanternbearers: Party) -> None:
        other = World.objects.create(slug="saltmere", name="Saltmere")
        [problem] = check_markup(other, ":::secret party:lanternbearers\nHidden.\n:::")
        assert problem.candidates == ()

    def test_words_of_the_secret_are_no_audience(self, lanternbearers: Party) -> None:
        assert (
            check_markup(lanternbearers.world, ":::secret The plan: she lies.\nHidden.\n:::") == []
        )

    def test_many_secrets_take_a_constant_number_of_queries(
        self, lanternbearers: Party, mira: NPC, django_assert_num_queries: Any
    ) -> None:
        block = ":::secret party:lanternbearers npc:mira-voss\nHidden.\n:::\n"
        with django_assert_num_queries(2):
            assert check_markup(lanternbearers.world, block * 100) == []


MERGE = "Wet.\n<<<<<<< yours\nDry.\n=======\nDamp.\n>>>>>>> stored\n"


class TestUnfinishedMerges:
    def test_the_first_marker_is_named_by_its_line(self) -> None:
        assert [(each.line, "<<<<<<<" in each.message) for each in check_markup(None, MERGE)] == [
            (2, True)
        ]
        assert check_markup(None, "The end.\n>>>>>>> stored")[0].line == 2

    def test_headings_quotes_and_arrows_are_no_markers(self) -> None:
        for text in (
            "Harbour\n=======\nWet.",
            "> > > > > > > Deep.",
            "<<<<<<<<< left",
            "a <<<<<<< b",
        ):
            assert check_markup(None, text) == []

    def test_no_writer_stores_one(self, engine: ApiClient, write: Write) -> None:
        quay = write("The Quay", "Wet.")
        for path, body in (
            ("world/lore", {"title": "The Quay", "slug": quay.slug, "body": MERGE}),
            ("world/rules", {"rule_id": "house/x", "title": "X", "body": MERGE}),
            ("world/lore/proposals", {"entry": {"title": "Y", "body": MERGE}}),
            ("world/npcs", {"npc_id": "mira-voss", "name": "Mira", "summary": MERGE}),
        ):
            method = "POST" if path.endswith("proposals") else "PUT"
            status, answer = engine.send(method, path, body)
            assert (status, "ine 2" in answer["detail"]) == (422, True), (path, answer)
        quay.refresh_from_db()
        assert (quay.body, NPC.objects.count(), Rule.objects.filter(world=quay.world).count()) == (
            "Wet.",
            0,
            0,
        )


class TestWrites:
    def test_the_api_refuses_it_and_names_the_line(self, world: World) -> None:
        for path, fields in (("/lore", {}), ("/rules", {"rule_id": "house/forging"})):
            answer = put(client_of(world), path, {"title": "Mira", "body": UNCLOSED, **fields})
            assert answer.status_code == 422
            assert "Line 3" in answer.json()["detail"]
            assert answer.json()["errors"][0]["loc"] == ["body", 3]
        assert (Lore.objects.count(), Rule.objects.count()) == (0, 0)

    def test_the_api_refuses_an_unknown_audience_with_candidates(
        self, lanternbearers: Party
    ) -> None:
        body = ":::secret party:lanternbearer\nHidden.\n:::"
        answer = put(client_of(lanternbearers.world), "/lore", {"title": "Mira", "body": body})
        assert answer.status_code == 422
        assert answer.json()["candidates"] == ["party:lanternbearers"]

    def test_one_of_many_is_refused_and_named(self, world: World) -> None:
        entries = [{"title": "The Quay", "body": "Wet."}, {"title": "Mira", "body": UNCLOSED}]
        report = post(client_of(world), "/lore/bulk", {"entries": entries}).json()
        assert [item["code"] for item in report["items"]] == ["", "invalid"]

    def test_every_writer_refuses_a_broken_fence(self, world: World) -> None:
        entry = Lore(world=world, slug="mira", title="Mira", body=UNCLOSED)
        with pytest.raises(Invalid, match="Line 3"):
            save_all([entry])

    def test_a_stored_flaw_does_not_block_a_change_of_other_fields(self, write: Write) -> None:
        mira = write("Mira Voss", "She keeps the ledger.")
        Lore.objects.filter(pk=mira.pk).update(body=UNCLOSED)
        mira.refresh_from_db()
        mira.tags = ["clerk"]
        assert save_entry(mira) == "changed"
        mira.body += "More."
        with pytest.raises(Invalid):
            save_entry(mira)

    def test_the_admin_form_shows_it_at_the_field(
        self, admin_client: Client, write: Write, lanternbearers: Party
    ) -> None:
        quay = write("The Quay", "Wet.")
        url = reverse("admin:knowledge_lore_change", args=[quay.pk])
        body = "Wet.\n\n:::secret party:lanternbearer\nMined.\n:::\n\n::: secrt\nDeep.\n:::"
        answer = save_form(admin_client, url, form_of(quay, body=body))
        assert answer.status_code == 200
        errors = answer.context["adminform"].form.errors["body"]
        assert errors[0].startswith("Line 3:")
        assert "party:lanternbearers" in errors[0]
        assert errors[1].startswith("Line 7:")
        quay.refresh_from_db()
        assert quay.body == "Wet."

    def test_an_import_names_the_file_and_stores_nothing(
        self, world: World, tmp_path: Path
    ) -> None:
        (tmp_path / "Mira.md").write_text(UNCLOSED)
        (tmp_path / "Quay.md").write_text("Wet.")
        with pytest.raises(Invalid, match=r"Mira\.md:3: .*never closed"):
            import_path(world, tmp_path, ImportOptions(bad_files="refuse"))
        assert not Lore.objects.exists()

    def test_an_import_reports_an_audience_that_does_not_exist_yet(
        self, world: World, tmp_path: Path
    ) -> None:
        (tmp_path / "Mira.md").write_text(":::secret party:lanternbearers\nHidden.\n:::")
        report = import_path(world, tmp_path, ImportOptions())
        note = str(report.problems[0])
        assert "Mira.md:1: This world has no party:lanternbearers" in note

    def test_a_proposal_is_refused_without_naming_who_exists(self, lanternbearers: Party) -> None:
        body = ":::secret party:lanternbearer\nHidden.\n:::"
        proposal = ProposalIn(entry=LoreIn(title="Mira", body=body))
        stored = propose(lanternbearers.world, proposal)
        with pytest.raises(Invalid, match="party:lanternbearers"):
            accept(stored, by="anna")
        broken = ProposalIn(entry=LoreIn(title="Mira", body=UNCLOSED))
        with pytest.raises(Invalid, match="never closed"):
            propose(lanternbearers.world, broken)
