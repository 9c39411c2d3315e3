"""Saving lore: row, version, history and passages in one step; secrets keep to those who know
them.
"""

import pytest

from knowledge.entry_store import save_all, save_entry
from knowledge.models import Lore, LorePassage
from retrieval.errors import Conflict, Invalid
from worlds.audiences import GM, PUBLIC, Audience, Visibility
from worlds.models import Party, World
from worlds.reveals import reveal, undo_reveal

BODY = """She keeps the ledger of the ferry.

:::secret party:lanternbearers
She forged the ninth page.
:::

:::secret
Her brother lives.
:::

She never sleeps far from the water.
"""


@pytest.fixture
def mira(world: World) -> Lore:
    entry = Lore(
        world=world, slug="mira-voss", title="Mira Voss", kind=Lore.Kind.BIOGRAPHY, body=BODY
    )
    entry.status, entry.visibility = Lore.Status.PUBLISHED, Visibility.PUBLIC
    entry.aliases = ["Мира Восс"]
    assert save_entry(entry, reason="first draft") == "created"
    return entry


def seen_by(audience: Audience) -> set[str]:
    return set(LorePassage.objects.visible_to(audience).values_list("text", flat=True))


def test_a_secret_block_is_seen_by_whom_it_names_and_by_the_game_master(mira: Lore) -> None:
    assert seen_by(PUBLIC) == {
        "She keeps the ledger of the ferry.\n\nShe never sleeps far from the water."
    }
    assert seen_by(Audience("party", "lanternbearers")) - seen_by(PUBLIC) == {
        "She forged the ninth page."
    }
    assert seen_by(Audience("party", "gilded-oath")) == seen_by(PUBLIC)
    assert "Her brother lives." in seen_by(GM)


def test_saving_the_same_again_changes_nothing(mira: Lore) -> None:
    before = list(LorePassage.objects.values_list("pk", "rev", "version", "updated_at"))
    assert save_entry(Lore.objects.get(pk=mira.pk)) == "unchanged"
    assert list(LorePassage.objects.values_list("pk", "rev", "version", "updated_at")) == before
    assert mira.history.count() == 1


def test_a_change_raises_the_version_and_keeps_the_passages_that_stay(mira: Lore) -> None:
    secret = LorePassage.objects.get(text="Her brother lives.")
    LorePassage.objects.filter(pk=secret.pk).update(embedding=[1.0, 0.0], embedded_rev=secret.rev)
    mira.body = mira.body.replace("never sleeps far", "sleeps well away")
    assert save_entry(mira, reason="she moved") == "changed"
    assert mira.version == 2
    kept = LorePassage.objects.get(text="Her brother lives.")
    assert (kept.pk, kept.embedded_rev) == (secret.pk, kept.rev)
    assert kept.embedding is not None
    changed = LorePassage.objects.get(text__contains="sleeps well away")
    assert changed.embedded_rev < changed.rev
    assert mira.history.first().history_change_reason == "she moved"


def test_hiding_the_entry_hides_every_block_of_it(mira: Lore) -> None:
    mira.visibility = Visibility.GM
    save_entry(mira)
    assert seen_by(Audience("party", "lanternbearers")) == set()


def test_revealing_a_hidden_entry_shows_its_open_text_and_not_its_secrets(
    mira: Lore, gilded_oath: Party
) -> None:
    mira.visibility = Visibility.GM
    save_entry(mira)
    entry = reveal(mira, Audience("party", "gilded-oath"))
    assert seen_by(Audience("party", "gilded-oath")) == {
        "She keeps the ledger of the ferry.\n\nShe never sleeps far from the water."
    }
    undo_reveal(entry)
    assert seen_by(Audience("party", "gilded-oath")) == set()


def test_a_revealed_secret_stays_revealed_when_its_wording_changes(mira: Lore) -> None:
    oath = Audience("party", "gilded-oath")
    reveal(LorePassage.objects.get(text="Her brother lives."), oath)
    assert "Her brother lives." in seen_by(oath)
    mira.body = mira.body.replace("Her brother lives.", "Her brother lives still.")
    save_entry(mira)
    assert "Her brother lives still." in seen_by(oath)


def test_a_new_secret_does_not_inherit_the_reveal_of_a_deleted_one(mira: Lore) -> None:
    oath = Audience("party", "gilded-oath")
    reveal(LorePassage.objects.get(text="Her brother lives."), oath)
    mira.body = mira.body.replace("Her brother lives.", "The Guild is bankrupt.")
    save_entry(mira)
    assert "The Guild is bankrupt." not in seen_by(oath)


def test_a_draft_has_passages_that_are_not_published(world: World) -> None:
    save_entry(
        Lore(world=world, slug="quay", title="The Quay", body="Wet.", visibility=Visibility.PUBLIC)
    )
    assert not LorePassage.objects.only_published().exists()


def test_an_entry_without_text_is_found_by_its_title(world: World) -> None:
    save_entry(Lore(world=world, slug="quay", title="The Quay"))
    assert LorePassage.objects.get().text == "The Quay"


def test_many_entries_are_stored_all_or_none(world: World) -> None:
    twice = [Lore(world=world, slug=slug, title=slug) for slug in ("quay", "market", "quay")]
    with pytest.raises(Conflict, match="slug is taken"):
        save_all(twice)
    assert not Lore.objects.exists()
    assert not LorePassage.objects.exists()


def test_a_field_that_does_not_fit_is_named(world: World) -> None:
    with pytest.raises(Invalid) as caught:
        save_entry(Lore(world=world, slug="quay", title="x" * 300))
    assert caught.value.errors[0]["loc"] == [0, "title"]
