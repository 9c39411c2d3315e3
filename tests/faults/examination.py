"""Look at all that a site has stored, in a process of the site: `python -m
tests.faults.examination SECONDS` waits so long for what the worker still has to do, then prints one
line of JSON."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain
from typing import Any

import django
import numpy as np
from PIL import Image

django.setup()

from django.db.models import F  # noqa: E402 - needs the apps that the line above loads

from art.models import Picture  # noqa: E402
from knowledge.graph import cypher, mirror  # noqa: E402
from knowledge.graph.models import GraphEdge  # noqa: E402
from knowledge.graph.neo4j_driver import Neo4j, site_neo4j  # noqa: E402
from knowledge.graph.projection_models import GraphOutbox  # noqa: E402
from knowledge.models import Lore, LorePassage  # noqa: E402
from memories.models import Observation  # noqa: E402
from memory_site.doctor import data  # noqa: E402
from memory_site.doctor.diagnoses import Level  # noqa: E402
from memory_site.management.commands.doctor import examine  # noqa: E402
from npcs.models import DispositionChange  # noqa: E402
from retrieval.embedders import get_embedder  # noqa: E402
from retrieval.indexing import count_words  # noqa: E402
from retrieval.models import (  # noqa: E402
    Passage,
    ScopeStatistics,
    WordStatistics,
    passage_models,
)
from retrieval.tasks import sweep  # noqa: E402

LOOK_EVERY_SECONDS = 1.0
BATCH = 64
OF_KILLED_UPLOADS = "files belong to no row"
"""Files come before their row; the daily task deletes those that got none."""
SWEPT_AFTER = timedelta(seconds=61)
LEAST_COSINE = 0.999
"""Vectors are stored in half precision."""


def main() -> None:
    waiting = wait_for_worker(float(sys.argv[1]))
    neo = site_neo4j()
    assert neo is not None
    print(json.dumps(stored_rows() | derived_data(neo) | {"waiting": waiting}))


def wait_for_worker(seconds: float) -> dict[str, int]:
    """Return how many rows still wait after `seconds` for a vector or to be copied to Neo4j. The
    leases of a killed worker, which last for minutes, end at once."""
    for model in passage_models():
        model._default_manager.filter(embedded_rev__lt=F("rev")).update(embed_after=None)
    sweep()
    deadline = time.monotonic() + seconds
    while any((waiting := rows_that_wait()).values()) and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_SECONDS)
    return waiting


def rows_that_wait() -> dict[str, int]:
    stale = {
        model.__name__: model._default_manager.filter(embedded_rev__lt=F("rev")).count()
        for model in passage_models()
    }
    return stale | {"graph": GraphOutbox.objects.count()}


def stored_rows() -> dict[str, Any]:
    """Return what the clients' writes have left, counted by the names that they gave."""
    changes = DispositionChange.objects.filter(kind="episode", episode__isnull=False)
    facts = GraphEdge.objects.filter(source_kind="episode", dst__name__startswith="Stranger ")
    seen = Observation.objects.filter(text__startswith="Crate ")
    return {
        "entries": dict(Lore.objects.values_list("slug", "body")),
        "passages": dict(LorePassage.objects.values_list("lore__slug", "text")),
        "changes": Counter(changes.values_list("episode__external_id", flat=True)),
        "facts": Counter(facts.values_list("source_ref", flat=True)),
        "observations": Counter(seen.values_list("text", flat=True)),
        "bare_observations": list(seen.filter(evidence=None).values_list("text", flat=True)),
        "pictures": stored_pictures(),
    }


def stored_pictures() -> dict[str, str]:
    """The digest of each picture's file, or nothing where the file is not whole."""
    found = {}
    for picture in Picture.objects.all():
        with picture.file.open() as file, Image.open(file) as image:
            image.load()
            found[str(picture.pk)] = picture.sha256
    return found


def derived_data(neo: Neo4j) -> dict[str, Any]:
    """Compare ledgers, files, word counts, vectors and Neo4j with what they are made of."""
    differences = mirror.find_differences(neo)
    mirrored = graph_in(neo)
    mirror.rebuild_mirror(neo)
    examinations = (data.examine_passages, data.examine_dispositions, data.examine_files)
    words = list(wrong_word_counts())  # the doctor comes after the worker's sweep
    findings = [each.text for each in examine(examinations) if each.level != Level.OK]
    return {
        "mirror": differences,
        "mirror_after_rebuild": [] if mirrored == graph_in(neo) else ["differs from a rebuild"],
        "words": words,
        "vectors": [name for model in passage_models() for name in wrong_vectors(model)],
        "doctor": [text for text in findings if OF_KILLED_UPLOADS not in text],
    }


def graph_in(neo: Neo4j) -> list[str]:
    records = [mirror.fetch_all(neo, each) for each in (cypher.ALL_NODES, cypher.ALL_EDGES)]
    return sorted(json.dumps(record, sort_keys=True, default=str) for record in chain(*records))


def wrong_word_counts() -> Iterator[str]:
    """Let the worker's sweep count, as if a minute had passed, and compare with a count of all."""
    ScopeStatistics.objects.update(refreshed_at=F("refreshed_at") - SWEPT_AFTER)
    sweep()
    for model in passage_models():
        swept = word_counts(model)
        count_words(model)
        if different := sorted(swept ^ word_counts(model)):
            yield f"{model.__name__}: {len(different)} counts differ, such as {different[:4]}"


def word_counts(model: type[Passage]) -> set[tuple[str, str, int]]:
    rows = WordStatistics.objects.filter(domain=model.search_config.domain)
    return set(rows.values_list("scope", "word", "rows"))


def wrong_vectors(model: type[Passage]) -> Iterator[str]:
    """Embed each text again, past the table of vectors, and compare with what is stored."""
    embedder = get_embedder(model.search_config.domain).inner
    rows = list(model._default_manager.only("text", "context", "embedding", "embedded_rev"))
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        fresh = embedder.embed_document([row.indexed_text for row in batch])
        for row, vector in zip(batch, fresh, strict=True):
            stored = vector * 0 if row.embedding is None else np.asarray(row.embedding)
            length = np.linalg.norm(stored) * np.linalg.norm(vector)
            if not length or stored @ vector / length < LEAST_COSINE:
                yield f"{model.__name__} {row.pk}: its vector is of another text"


if __name__ == "__main__":
    main()
