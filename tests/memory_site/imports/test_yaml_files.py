"""YAML of uploads: whole files may be longer than the front matter of a note, and none ends the
process that reads it."""

from pathlib import Path

import pytest
import yaml

from retrieval.errors import Invalid
from retrieval.text import load_yaml, split_front_matter
from tests.memory_site.imports.uploads import drafts_by_title, read_files


def journal(*, characters: int) -> str:
    text = "<p>The tide decides, and nobody else does.</p>" * (characters // 46)
    page = {"name": "Tides", "type": "text", "text": {"content": text}}
    return yaml.safe_dump({"_id": "a", "name": "Tides", "pages": [page]})


def test_a_long_journal_of_a_pack_is_read(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"rules/tides.yml": journal(characters=400_000)})
    assert reading.problems == []
    assert "The tide decides" in drafts_by_title(reading)["Tides"].entry.body


def test_a_file_that_is_too_long_is_called_so(tmp_path: Path) -> None:
    reading = read_files(tmp_path, {"rules/tides.yml": journal(characters=1_100_000)})
    assert [problem.message for problem in reading.problems] == [
        "This is too long: YAML may have at most 1,000,000 characters."
    ]


def test_front_matter_that_is_too_long_is_called_so() -> None:
    with pytest.raises(Invalid, match="front matter cannot be read"):
        split_front_matter(f"---\na: {'b' * 200_001}\n---\n")


@pytest.mark.parametrize("mark", ["- ", "? ", ": ", "-\t"])
def test_lists_in_lists_do_not_overflow_the_stack(mark: str) -> None:
    with pytest.raises(Invalid, match="lists begin in one line"):
        load_yaml(mark * 50_000 + "a")
    assert load_yaml("- - - a") == [[["a"]]]
