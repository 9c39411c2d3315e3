"""Write the vectors of the rules and the demo world: `python -m bench.real_vectors FILE.npy`."""

import sys
from pathlib import Path

import numpy as np

from bench.scratch import connect


def main() -> None:
    connect()
    from bench.own_questions import load_rules_and_demo
    from knowledge.models import LorePassage, RulePassage
    from retrieval.embedders import get_embedder, unit_rows

    load_rules_and_demo()
    rows = [
        vector
        for model in (RulePassage, LorePassage)
        for vector in model.objects.filter(
            embedding_model=get_embedder(model.search_config.domain).name
        )
        .order_by("pk")
        .values_list("embedding", flat=True)
    ]
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, unit_rows(np.array(rows, dtype=np.float32)))


if __name__ == "__main__":
    main()
