"""Serve the contract of PrecisionMemBench's external providers over agent memory.

    python -m bench.precision_adapter --port 8110 --results FOLDER [--reader ask|search]

The benchmark itself is not shipped: register `http://localhost:8110` as a provider by its README,
and run it unmodified. `POST /add` stores a text for a user, and a later text with the same
`beliefId` replaces it; `POST /search` asks; `DELETE /reset` deletes the memories of all users. No
language model is used. `FOLDER/searches.jsonl` gets one line for each search: the question, what
was found, and the time that it took.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

from bench.scratch import connect

MOST_BODY = 1_000_000
"""Bytes of a request."""
NAMESPACE = "precision {user}"
Body = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """A memory as the benchmark reads it."""

    id: str
    text: str
    metadata: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "memory": self.text, "metadata": dict(self.metadata)}


def ask_pipeline(namespace: Any, query: str, limit: int) -> list[Found]:
    """What the tool `memory_ask` shows."""
    from memories.buckets.read_pipeline import ReadPipeline
    from retrieval.search import Rerank

    pipeline = ReadPipeline(namespace, rerank=Rerank.FAST, make_checker=lambda _namespace: None)
    memories = [one.memory for one in pipeline.query(query, limit=limit).memories]
    return [Found(str(one.id), one.text, one.metadata) for one in memories if not one.formerly]


def search_archive(namespace: Any, query: str, limit: int) -> list[Found]:
    """What the tool `archival_memory_search` shows."""
    from memories.search import recall
    from memories.search.relevant import MENTIONS

    result = recall.search(
        namespace, query, limit=limit, share=MENTIONS, former=False, sources=False
    )
    return [Found(str(one.id), one.text, one.metadata) for one in result.memories]


READERS: dict[str, Callable[[Any, str, int], list[Found]]] = {
    "ask": ask_pipeline,
    "search": search_archive,
}


class PrecisionStore:
    """The memories of the benchmark's users, one namespace each."""

    def __init__(self, *, reader: str = "ask", results: Path | None = None) -> None:
        self.read = READERS[reader]
        self.results = results / "searches.jsonl" if results else None
        self.lock = Lock()
        if self.results:
            self.results.parent.mkdir(parents=True, exist_ok=True)
            self.results.write_text("", encoding="utf-8")

    def add(self, body: Body) -> dict[str, Any]:
        """Store the text; its id is that of the memory that says it."""
        from memories.ingest.add import add_batch
        from memories.ledger.plan import Particulars
        from memories.namespaces import get_or_create_namespace
        from memories.vectors import SiteSource

        metadata = dict(body.get("metadata") or {})
        about = Particulars(metadata=metadata, key=str(metadata.get("beliefId", "")))
        name = NAMESPACE.format(user=body["user_id"])
        namespace = get_or_create_namespace(bench_world(), name)
        outcome = add_batch(namespace, [body["text"]], [about], vectors=SiteSource())[0]
        return {"id": str(outcome.memory)}

    def search(self, body: Body) -> dict[str, Any]:
        """Return what is found; of an empty question and an unknown user, nothing."""
        from memories.models import Namespace

        query, limit = str(body["query"]), int(body.get("limit", 20))
        name = NAMESPACE.format(user=body["user_id"])
        namespace = Namespace.objects.filter(world=bench_world(), name=name).first()
        started = time.perf_counter()
        is_asked = namespace and query.strip() and limit > 0
        found = self.read(namespace, query, limit) if is_asked else []
        results = [one.as_json() for one in found]
        line = {**body, "results": results, "ms": round(1000 * (time.perf_counter() - started), 1)}
        if self.results:
            with self.lock, self.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return {"results": results}

    def reset(self, _body: Body) -> dict[str, Any]:
        from django.db import connection, transaction

        from memories.models import Namespace

        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('memory37.deletion', 'for good', true)")
            rows = Namespace.objects.filter(world=bench_world())
            rows.filter(name__startswith=NAMESPACE.format(user="")).delete()
        return {"ok": True}


def bench_world() -> Any:
    from worlds.models import World

    return World.objects.get_or_create(slug="precision", defaults={"name": "Precision"})[0]


def make_server(store: PrecisionStore, *, port: int) -> ThreadingHTTPServer:
    """Return a server on localhost that is not serving yet; port 0 takes a free one."""
    actions: dict[tuple[str, str], Callable[[Body], dict[str, Any]]] = {
        ("POST", "/add"): store.add,
        ("POST", "/search"): store.search,
        ("DELETE", "/reset"): store.reset,
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            from django.db import connection

            action = actions.get((self.command, self.path))
            length = min(int(self.headers.get("Content-Length") or 0), MOST_BODY)
            body = self.rfile.read(length)
            try:
                if action is None:
                    status, result = 404, {"detail": "unknown path"}
                else:
                    status, result = 200, action(json.loads(body) if body else {})
            except (KeyError, TypeError, ValueError) as error:
                status, result = 422, {"detail": repr(error)}
            finally:
                if not connection.in_atomic_block:
                    connection.close()
            text = json.dumps(result, ensure_ascii=False).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, *_arguments: Any) -> None:
            """Write no line for each request: the results have one."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8110)
    parser.add_argument("--reader", choices=READERS, default="ask")
    parser.add_argument("--results", type=Path, required=True)
    options = parser.parse_args()
    os.environ["LLM_MODEL"] = ""
    connect("memory37_precision_bench")
    store = PrecisionStore(reader=options.reader, results=options.results)
    server = make_server(store, port=options.port)
    print(f"http://127.0.0.1:{options.port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
