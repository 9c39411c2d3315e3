"""Vectors of the caller's own client for memories that were written without one."""

from pgvector import Vector

from memories.models import ClientVector, Namespace
from memories.vectors import VectorSource
from retrieval.copied_rows import copy_rows

BATCH = 256


def embed_missing(namespace: Namespace, vectors: VectorSource) -> int:
    """Give client vectors to memories in use that have none (imported, written by hand). Return
    how many had none."""
    if not namespace.has_own_vectors:
        return 0
    missing = list(namespace.memories.active().filter(client_vector=None).values_list("pk", "text"))
    for start in range(0, len(missing), BATCH):
        ids, texts = zip(*missing[start : start + BATCH], strict=True)
        batch = vectors.of_documents(list(texts))
        if batch is not None:
            rows = zip(ids, map(Vector, batch), strict=True)
            copy_rows(ClientVector, ["memory", "vector"], rows, namespace=namespace.pk)
    return len(missing)
