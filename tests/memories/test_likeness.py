"""The short way of ruling a pair out says the same as the long one."""

import pytest

from bench.labelled import DATA, rows
from memories.similarity.compare import _at_most, likeness


@pytest.mark.parametrize("similarity", [0.65, 0.8, 1.0])
def test_no_pair_is_more_alike_than_the_quick_look_allows(similarity: float) -> None:
    ruled_out = 0
    texts = [(row["a"], row["b"]) for row in rows(DATA / "pairs.jsonl")]
    for one, other in [
        *texts,
        *zip((a for a, _ in texts), (b for _, b in texts[1:]), strict=False),
    ]:
        most = _at_most(one, other, similarity=similarity)
        assert likeness(one, other, similarity=similarity) <= most
        ruled_out += most < 0.72
    assert ruled_out or similarity > 0.65
