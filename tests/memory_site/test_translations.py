"""The site speaks Russian and Korean: the catalogues are complete, and the pages use them."""

import gettext
import re
import struct

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from tests.memory_site.catalogues import PLACEHOLDER, Entry, asked, catalogue, read_po
from worlds.models import Membership, World

AFTER = "Write it into memory_site/locale (make messages), compile, and commit .po and .mo."
languages = pytest.mark.parametrize("language", ["ru", "ko"])


@languages
def test_every_text_of_the_site_is_in_the_catalogue(language: str) -> None:
    known = {entry.source for entry in read_po(catalogue(language))}
    assert sorted(asked() - known) == [], AFTER


@languages
def test_every_text_is_translated_and_none_is_a_guess(language: str) -> None:
    entries = read_po(catalogue(language))
    assert [
        entry.source for entry in entries if entry.fuzzy or not all(entry.translations)
    ] == [], AFTER


@languages
def test_a_translation_keeps_every_placeholder(language: str) -> None:
    lost = [
        (entry.source, text)
        for entry in read_po(catalogue(language))
        for text in entry.translations
        if sorted(PLACEHOLDER.findall(text))
        != sorted(PLACEHOLDER.findall(entry.plural or entry.source))
    ]
    assert lost == []


@languages
def test_the_compiled_catalogue_says_what_the_written_one_says(language: str) -> None:
    entries, compiled = read_po(catalogue(language)), catalogue(language).with_suffix(".mo")
    with compiled.open("rb") as file:
        spoken = gettext.GNUTranslations(file)
    assert [
        entry.source for entry in entries if _says(spoken, entry) != set(entry.translations)
    ] == [], AFTER
    assert struct.unpack("<I", compiled.read_bytes()[8:12])[0] == len(entries) + 1, (
        AFTER
    )  # and the header


def _says(spoken: gettext.GNUTranslations, entry: Entry) -> set[str]:
    if entry.context:
        return {spoken.pgettext(entry.context, entry.source)}
    if not entry.plural:
        return {spoken.gettext(entry.source)}
    return {spoken.ngettext(entry.source, entry.plural, count) for count in range(30)}


@pytest.mark.parametrize(
    ("accepted", "language", "words"),
    [
        ("ru", "ru", "Войти"),
        ("ko-KR,ko;q=0.9", "ko", "로그인"),
        ("fr, ru;q=0.5", "ru", "Войти"),
        ("fr", "en", "Sign in"),
    ],
)
def test_the_browser_chooses_the_language_of_the_login_page(
    db: None, client: Client, accepted: str, language: str, words: str
) -> None:
    page = client.get("/login/", headers={"accept-language": accepted}).content.decode()
    assert f'<html lang="{language}"' in page
    assert f"<h1>{words}</h1>" in page


@pytest.fixture
def master(demo: World, client: Client) -> Client:
    anna = get_user_model().objects.create_superuser("anna")
    Membership.objects.create(user=anna, world=demo, role="gm")
    client.force_login(anna)
    return client


def test_a_game_master_reads_the_npcs_and_the_admin_in_their_language(master: Client) -> None:
    for language, heading, regard in (("ru", "Роль", "настороженное"), ("ko", "역할", "경계")):
        speaking = {"accept-language": language}
        npcs = master.get("/w/ferrymark/npcs/", headers=speaking).content.decode()
        assert f'<th scope="col">{heading}</th>' in npcs
        assert f"<b>{regard}</b>" in npcs
        assert "Sessions" not in npcs
        admin = master.get("/admin/", headers=speaking).content.decode()
        assert re.findall(r"[а-яё가-힣]+s\b", admin) == [], "an English plural of a translated name"
        assert ">World<" not in master.get("/admin/npcs/npc/", headers=speaking).content.decode()
