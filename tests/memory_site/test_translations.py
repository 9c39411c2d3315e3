"""The site speaks Russian and Korean: the catalogues are complete, and the pages use them."""

import gettext
import re
import struct
from datetime import datetime
from typing import NamedTuple

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import translation
from django.utils.formats import date_format

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


class Term(NamedTuple):
    """A row of the list of terms: its translation, and words that must not stand for it."""

    english: str
    translation: str
    rejected: list[str]


def _terms(language: str) -> list[Term]:
    page = (settings.BASE_DIR / "docs/translating.md").read_text()
    rows = [[cell.strip() for cell in line[1:].split("|")] for line in page.splitlines()]
    column = {"ru": 1, "ko": 2}[language]
    return [
        Term(row[0], row[column], [word for word in row[column + 2].split(", ") if word])
        for row in rows
        if len(row) == 6 and row[0] not in ("English", "---")
    ]


def _uses(text: str, word: str) -> bool:
    """Whether `text` has the word; Korean words are followed by particles, `*` by any ending."""
    if re.search("[가-힣]", word):
        return word in text
    pattern = re.escape(word).replace(r"\*", r"\w*")
    flags = 0 if word.isupper() else re.IGNORECASE
    return bool(re.search(rf"(?<!\w){pattern}(?!\w)", text, flags))


@languages
def test_a_term_has_one_translation(language: str) -> None:
    entries, terms = read_po(catalogue(language)), _terms(language)
    assert len(terms) > 20
    other = [
        (entry.source, word)
        for entry in entries
        for term in terms
        if re.search(rf"\b{term.english.removesuffix('y')}(s|y|ies)?\b", entry.source, re.I)
        for word in term.rejected
        if any(_uses(text, word) for text in entry.translations)
    ]
    assert other == []


@languages
def test_a_term_alone_is_translated_as_listed(language: str) -> None:
    listed = {term.english.lower(): term.translation for term in _terms(language)}
    wrong = [
        (entry.source, entry.translations)
        for entry in read_po(catalogue(language))
        if (wanted := listed.get(entry.source.lower()))
        and [text.lower() for text in entry.translations] != [wanted.lower()]
    ]
    assert wrong == []


@languages
def test_a_text_has_every_plural_form_of_its_language(language: str) -> None:
    path = catalogue(language)
    count = int(re.findall(r"nplurals=(\d)", path.read_text())[0])
    entries = [entry for entry in read_po(path) if entry.plural]
    assert [entry.source for entry in entries if len(entry.translations) != count] == []


BARE_PARTICLE = re.compile(
    r"(%\(\w+\)[a-z]|\{\w+\})[’'”\"]?(은|는|이|가|을|를|와|과|로|으로|이라|이라는|라는)(?![가-힣(])"
)


def test_a_korean_particle_after_a_placeholder_is_written_in_both_forms() -> None:
    assert [
        (entry.source, text)
        for entry in read_po(catalogue("ko"))
        for text in entry.translations
        if BARE_PARTICLE.search(text)
    ] == []


@pytest.mark.parametrize(("language", "others"), [("ru", "[“”‘’]"), ("ko", "[“”«»]")])
def test_a_translation_has_the_quotation_marks_of_its_language(language: str, others: str) -> None:
    assert [
        text
        for entry in read_po(catalogue(language))
        for text in entry.translations
        if re.search(others, text)
    ] == []


def test_in_korean_the_half_of_the_day_stands_before_the_hour() -> None:
    with translation.override("ko"):
        text = date_format(datetime(2026, 3, 14, 19, 5), "DATETIME_FORMAT")
    assert text == "2026년 3월 14일 오후 7:05"


@languages
def test_the_label_and_the_day_of_a_date_are_called_differently(language: str) -> None:
    """They stand side by side in the forms of sessions and episodes."""
    with translation.override(language):
        assert translation.gettext("In-world date") != translation.gettext("In-world day")
