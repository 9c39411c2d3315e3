"""The upper bound that excludes a pair quickly is never below its similarity."""

import pytest

from bench.labelled_sets import DATA, load_rows
from memories.similarity.compare import similarity_of, upper_bound


@pytest.mark.parametrize("similarity", [0.65, 0.8, 1.0])
def test_no_pair_is_more_similar_than_the_upper_bound(similarity: float) -> None:
    excluded_count = 0
    texts = [(row["a"], row["b"]) for row in load_rows(DATA / "pairs.jsonl")]
    for one, other in [
        *texts,
        *zip((a for a, _ in texts), (b for _, b in texts[1:]), strict=False),
    ]:
        most = upper_bound(one, other, similarity=similarity)
        assert similarity_of(one, other, similarity=similarity) <= most
        excluded_count += most < 0.72
    assert excluded_count or similarity > 0.65
