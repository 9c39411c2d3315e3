"""The default of earlier versions: installations use it until their vectors are replaced."""

import numpy as np
import pytest

from retrieval.embedders.minilm import MINILM_DIMS, MiniLMEmbedder
from retrieval.embedders.vector_cache import BUILT_IN, SHIPPED

FIRST_NUMBERS = [0.00234, 0.06133, -0.02281, 0.08958]
"""Of the question below, computed with version 1.0."""


def test_its_vectors_are_those_that_earlier_versions_stored() -> None:
    minilm = MiniLMEmbedder()
    assert SHIPPED[minilm.name] == BUILT_IN["minilm"]
    russian, english = minilm.embed_query(["Где спит дракон?", "Where does the dragon sleep?"])
    assert not russian[:MINILM_DIMS].any()
    assert np.linalg.norm(english[:MINILM_DIMS]) == pytest.approx(0.7**0.5, abs=1e-3)
    assert np.linalg.norm(russian) == pytest.approx(1)
    assert english[:4] == pytest.approx(FIRST_NUMBERS, abs=0.004)
