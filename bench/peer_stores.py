"""The stores of other projects on given texts and vectors: `python bench/peer_stores.py FOLDER`.

Runs in the benches' own environment (requirements-bench.txt), without Django or anything else of
this project. Reads `texts.jsonl` (`{id, text}`), `vectors.npy`, `questions.jsonl` (`{id, text}`)
and `question_vectors.npy` of the folder. Fills the stores, writes `stores.json` (seconds of
building, version, or why a store could not be measured), and prints READY. Then it asks all stores
the question whose place each line of the input names, and prints READY after each, so that another
process can ask its own store in turns. Writes `rankings.jsonl`, one line a question and store
(`{store, question, ids, milliseconds}`). The environment variable PEERS_DATABASE is the address of
an empty PostgreSQL database with pgvector, as `dbname=… user=… host=/socket/folder`.
"""

# ruff: noqa: ARG002 - every store is made and asked alike

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
K = int(os.environ.get("PEERS_K", "10"))
"""How many passages each store is asked for."""
BATCH = 500
WARM_UP = 20
"""Questions that each store is asked before it is measured."""
READY = "ready"


class Store(Protocol):
    def add(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None: ...

    def search(self, text: str, vector: list[float]) -> list[str]: ...


def database_url(driver: str) -> str:
    parts = dict(part.split("=", 1) for part in os.environ["PEERS_DATABASE"].split())
    return f"{driver}://{parts['user']}@/{parts['dbname']}?host={quote(parts['host'], safe='')}"


def empty_database() -> None:
    import psycopg

    with psycopg.connect(os.environ["PEERS_DATABASE"], autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


class Chroma:
    package = "chromadb"

    def __init__(self, folder: Path, dims: int) -> None:
        import chromadb

        client = chromadb.PersistentClient(
            str(folder / f"chroma-{time.time_ns()}"),
            settings=chromadb.Settings(anonymized_telemetry=False),
        )
        space = {"hnsw": {"space": "cosine"}}
        self._rows = client.create_collection(
            "passages", configuration=space, embedding_function=None
        )

    def add(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None:
        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            self._rows.add(
                ids=list(ids[part]), documents=list(texts[part]), embeddings=vectors[part]
            )

    def search(self, text: str, vector: list[float]) -> list[str]:
        return list(self._rows.query(query_embeddings=[vector], n_results=K)["ids"][0])


class LlamaIndex:
    """`PGVectorStore` with its hybrid search and an HNSW index."""

    package = "llama-index-vector-stores-postgres"

    def __init__(self, folder: Path, dims: int) -> None:
        from llama_index.vector_stores.postgres import PGVectorStore

        index = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 100}
        self._store = PGVectorStore(
            connection_string=database_url("postgresql+psycopg2"),
            async_connection_string=database_url("postgresql+asyncpg"),
            table_name="passages",
            schema_name="public",
            embed_dim=dims,
            hybrid_search=True,
            text_search_config="english",
            hnsw_kwargs={**index, "hnsw_dist_method": "vector_cosine_ops"},
        )

    def add(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None:
        from llama_index.core.schema import TextNode

        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            rows = zip(ids[part], texts[part], vectors[part].tolist(), strict=True)
            self._store.add([TextNode(id_=i, text=t, embedding=v) for i, t, v in rows])

    def search(self, text: str, vector: list[float]) -> list[str]:
        from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode

        query = VectorStoreQuery(
            query_embedding=vector,
            query_str=text,
            similarity_top_k=K,
            sparse_top_k=K,
            mode=VectorStoreQueryMode.HYBRID,
        )
        return list(self._store.query(query).ids or [])[:K]


class LangChain:
    """`PGVectorStore` of langchain-postgres with its hybrid search and an HNSW index."""

    package = "langchain-postgres"

    def __init__(self, folder: Path, dims: int) -> None:
        from langchain_core.embeddings import Embeddings
        from langchain_postgres import PGEngine, PGVectorStore
        from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig

        class GivenVectors(Embeddings):
            vector: list[float] = []

            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                raise NotImplementedError

            def embed_query(self, text: str) -> list[float]:
                return self.vector

        self._given = GivenVectors()
        engine = PGEngine.from_connection_string(database_url("postgresql+asyncpg"))
        hybrid = HybridSearchConfig(
            tsv_column="content_tsv", tsv_lang="pg_catalog.english", primary_top_k=K
        )
        engine.init_vectorstore_table(
            "passages", dims, id_column=_text_id(), hybrid_search_config=hybrid
        )
        self._store = PGVectorStore.create_sync(
            engine, self._given, "passages", hybrid_search_config=hybrid, k=K
        )

    def add(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None:
        from langchain_postgres.v2.indexes import HNSWIndex

        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            self._store.add_embeddings(
                list(texts[part]), vectors[part].tolist(), ids=list(ids[part])
            )
        self._store.apply_hybrid_search_index()
        self._store.apply_vector_index(HNSWIndex())

    def search(self, text: str, vector: list[float]) -> list[str]:
        self._given.vector = vector
        return [str(found.id) for found in self._store.similarity_search(text, k=K)]


def _text_id() -> Any:
    from langchain_postgres import Column

    return Column("langchain_id", "VARCHAR")


class Haystack:
    package = "pgvector-haystack"

    def __init__(self, folder: Path, dims: int) -> None:
        from haystack.utils import Secret
        from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
        from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

        self._store = PgvectorDocumentStore(
            connection_string=Secret.from_token(database_url("postgresql")),
            embedding_dimension=dims,
            vector_function="cosine_similarity",
            search_strategy="hnsw",
            hnsw_ef_search=100,
        )
        self._retriever = PgvectorEmbeddingRetriever(document_store=self._store, top_k=K)

    def add(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None:
        from haystack import Document

        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            rows = zip(ids[part], texts[part], vectors[part].tolist(), strict=True)
            self._store.write_documents(
                [Document(id=i, content=t, embedding=v) for i, t, v in rows]
            )

    def search(self, text: str, vector: list[float]) -> list[str]:
        found = self._retriever.run(query_embedding=vector)
        return [document.id for document in found["documents"]]


class Mem0:
    """Memories as they are given (`infer=False`): what it does without a language model. Written
    through its store in batches, because `add` writes one by one; asked through `Memory.search`."""

    package = "mem0ai"
    user = "player"

    def __init__(self, folder: Path, dims: int) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ.setdefault("OPENAI_API_KEY", "unused")
        from mem0 import Memory

        place = folder / f"mem0-{time.time_ns()}"
        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": str(place),
                        "embedding_model_dims": dims,
                        "on_disk": True,
                        "collection_name": "passages",
                    },
                },
                "history_db_path": str(folder / "mem0-history.db"),
            }
        )
        self._vector: list[float] = []
        self._memory.embedding_model.embed = lambda *_text, **_options: self._vector

    def add(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None:
        from uuid import NAMESPACE_URL, uuid5

        self._ids = {str(uuid5(NAMESPACE_URL, id_)): id_ for id_ in ids}
        keys = list(self._ids)
        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            payloads = [{"data": text, "user_id": self.user} for text in texts[part]]
            self._memory.vector_store.insert(
                vectors=vectors[part].tolist(), payloads=payloads, ids=keys[part]
            )

    def search(self, text: str, vector: list[float]) -> list[str]:
        self._vector = vector
        try:
            found = self._memory.search(text, filters={"user_id": self.user}, top_k=K)
        except (TypeError, ValueError):
            found = self._memory.search(text, user_id=self.user, limit=K)
        return [self._ids[str(each["id"])] for each in found["results"]]


class Bm25s:
    """Words alone, with the stop words of its package and no stemmer."""

    package = "bm25s"

    def __init__(self, folder: Path, dims: int) -> None:
        import bm25s

        self._bm25s = bm25s

    def add(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None:
        self._ids = list(ids)
        self._index = self._bm25s.BM25()
        self._index.index(
            self._bm25s.tokenize(list(texts), show_progress=False), show_progress=False
        )

    def search(self, text: str, vector: list[float]) -> list[str]:
        words = self._bm25s.tokenize([text], show_progress=False)
        found, _scores = self._index.retrieve(words, k=min(K, len(self._ids)), show_progress=False)
        return [self._ids[place] for place in found[0]]


STORES: dict[str, Callable[[Path, int], Store]] = {
    "Chroma": Chroma,
    "LlamaIndex PGVectorStore": LlamaIndex,
    "LangChain PGVectorStore": LangChain,
    "Haystack pgvector": Haystack,
    "mem0, infer=False": Mem0,
    "bm25s": Bm25s,
}


def main() -> None:
    folder = Path(sys.argv[1])
    wanted = sys.argv[2:] or list(STORES)
    asked = np.load(folder / "question_vectors.npy").astype(np.float32).tolist()
    questions = read_lines(folder / "questions.jsonl")
    stores = build_stores(folder, wanted, list(zip(questions, asked, strict=True))[:WARM_UP])
    print(READY, flush=True)
    order = deque(stores)
    with (folder / "rankings.jsonl").open("w", encoding="utf-8") as rankings:
        for line in sys.stdin:
            place = int(line)
            order.rotate()
            for name in order:
                ranking = ask_store(stores[name], questions[place], asked[place])
                rankings.write(json.dumps({"store": name, **ranking}) + "\n")
            print(READY, flush=True)


def build_stores(
    folder: Path, wanted: Sequence[str], first: Sequence[tuple[dict[str, Any], list[float]]]
) -> dict[str, Store]:
    """Fill the stores one after the other, and ask each the `first` questions. What they took, and
    why one failed, is printed and written to `stores.json`."""
    vectors = np.load(folder / "vectors.npy").astype(np.float32)
    rows = read_lines(folder / "texts.jsonl")
    ids, texts = [row["id"] for row in rows], [row["text"] for row in rows]
    about: dict[str, Any] = {}
    stores = {}
    empty_database()
    for name in wanted:
        kind: Any = STORES[name]
        about[name] = {"package": f"{kind.package} {version(kind.package)}"}
        try:
            store, started = kind(folder, vectors.shape[1]), time.perf_counter()
            store.add(ids, texts, vectors)
            about[name]["seconds of building"] = time.perf_counter() - started
            for question, vector in first:
                store.search(question["text"], vector)
            stores[name] = store
        except Exception as problem:  # one peer that fails must not stop the others
            about[name]["failed"] = f"{type(problem).__name__}: {problem}"[:500]
        print(f"  {name}: {about[name]}", flush=True)
    (folder / "stores.json").write_text(json.dumps(about, indent=1))
    return stores


def ask_store(store: Store, question: dict[str, Any], vector: list[float]) -> dict[str, Any]:
    started = time.perf_counter()
    ids = store.search(question["text"], vector)
    milliseconds = 1000 * (time.perf_counter() - started)
    return {"question": question["id"], "ids": ids, "milliseconds": milliseconds}


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
