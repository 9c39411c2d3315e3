"""Korean words in the index: stems, beginnings of compounds, pairs of syllables."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


def words(text: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT unnest(tsvector_to_array(memory37_words('ko', %s)))", [text])
        return {word for (word,) in cursor.fetchall()}


@pytest.mark.parametrize("form", ["여관은", "여관에서는", "여관까지", "여관"])
def test_forms_of_a_word_share_its_stem_and_nothing_else(form: str) -> None:
    assert words(form) == words("여관")
    assert "ㅡ여관" in words(form)


def test_a_compound_is_found_by_its_beginning_and_by_its_parts() -> None:
    assert words("화염저항을") & words("화염") == {"ㅗ화염", "화염"}
    assert words("화염저항을") & words("저항") == {"저항"}


def test_one_syllable_is_a_word_and_keeps_its_particle() -> None:
    assert "검" in words("검")
    assert "검을" in words("검을")


def test_a_stem_is_no_word_of_another_script() -> None:
    assert words("旅館") == {"旅館"}
    assert "gold" in words("Gold 금화를")
