"""The short way of ruling a pair out says the same as the long one."""

import pytest

from bench.labelled_sets import DATA, load_rows
from memories.similarity.compare import similarity_of, upper_bound


@pytest.mark.parametrize("similarity", [0.65, 0.8, 1.0])
def test_no_pair_is_more_alike_than_the_quick_look_allows(similarity: float) -> None:
    ruled_out = 0
    texts = [(row["a"], row["b"]) for row in load_rows(DATA / "pairs.jsonl")]
    for one, other in [
        *texts,
        *zip((a for a, _ in texts), (b for _, b in texts[1:]), strict=False),
    ]:
        most = upper_bound(one, other, similarity=similarity)
        assert similarity_of(one, other, similarity=similarity) <= most
        ruled_out += most < 0.72
    assert ruled_out or similarity > 0.65
