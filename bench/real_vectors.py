"""Write the vectors of the rules and the demo world: `python -m bench.real_vectors FILE.npy`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.scratch import connect

if TYPE_CHECKING:
    from retrieval.embedders import Vectors
    from retrieval.models import Passage


def main() -> None:
    connect()
    from bench.own_questions import load_rules_and_demo
    from knowledge.models import LorePassage, RulePassage
    from retrieval.embedders import unit_rows

    load_rules_and_demo()
    vectors = np.concatenate([stored_vectors(model) for model in (RulePassage, LorePassage)])
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, unit_rows(vectors))


def stored_vectors(model: "type[Passage]") -> "Vectors":
    """Return the vectors of the embedder in use, one row a passage, in the order of the ids."""
    from retrieval.embedders import get_embedder

    embedder = get_embedder(model.search_config.domain)
    rows = model._default_manager.filter(embedding_model=embedder.name).order_by("pk")
    return np.array(list(rows.values_list("embedding", flat=True)), dtype=np.float32)


if __name__ == "__main__":
    main()
