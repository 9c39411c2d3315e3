"""Whatever an upload holds, it is read, or what is wrong with it is said.

Files are made of the words that the readers look for, in shapes that they do not expect. CI tries
few; `FUZZ_EXAMPLES=2000` tries more, other ones each time.
"""

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import knowledge.importers
from knowledge.importers.field_map import ImportMapping
from knowledge.importers.formats import FORMATS
from knowledge.importers.run import read_upload
from retrieval.errors import Problem

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
BOUNDS = {"max_examples": EXAMPLES or 6, "derandomize": not EXAMPLES, "database": None}
SOURCES = Path(knowledge.importers.__file__).parent.glob("*.py")
WORDS = sorted(
    {word for file in SOURCES for word in re.findall(r'"([\w:@ /-]{1,30})"', file.read_text())}
)
"""Every short string in the readers: the keys and values that they look for are among them."""
TEXTS = st.one_of(
    st.sampled_from(WORDS),
    st.text(max_size=30),
    st.sampled_from(["[[", "{{", ":::secret", "<b", "[b]", "&#99999999;", "{@dice", "1" * 400]),
)
LEAVES = st.one_of(
    TEXTS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), st.just(10**400)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner, max_size=6),
    ),
    max_leaves=25,
)
MARKUP = st.lists(
    TEXTS | st.sampled_from(["---\n", "# ", "\n", "| ", ": ", "- ", "```", "\t", ","]), max_size=40
).map("".join)


def content(suffix: str) -> Any:
    """Files of this suffix: half of them begin as its readers expect."""
    as_text = MARKUP.map(str.encode)
    if suffix in (".json", ".db", ".lorebook", ".lk"):
        return VALUES.map(lambda value: json.dumps(value).encode()) | as_text
    return as_text | st.binary(max_size=300)


@pytest.mark.parametrize("text", ["title,body\rInn,By the pier.", '"' + "a" * 2_000_000, "\r\x01"])
def test_a_table_of_another_system_or_without_an_end_is_no_fault_of_ours(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode())
    reading = read_upload(file, mapping=ImportMapping())
    titles = [draft.entry.title for draft in reading.drafts]
    assert titles == ["Inn"] if "Inn" in text else reading.problems


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_any_file_is_read_or_its_fault_is_named(name: str) -> None:
    suffixes = FORMATS[name].suffixes

    @settings(**BOUNDS)
    @given(st.data())
    def read_one(data: Any) -> None:
        suffix = data.draw(st.sampled_from(suffixes))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"upload{suffix}"
            file.write_bytes(data.draw(content(suffix)))
            try:
                reading = read_upload(file, format=name, mapping=ImportMapping())
            except Problem:
                return
            # What was read can be stored: no text of it is refused by the database.
            stored = [draft.entry.model_dump_json() for draft in reading.drafts]
            assert not any("\\u0000" in text for text in stored)

    read_one()
