"""Precision of reads: whether a question that wants one memory gets that one and nothing else.

    python -m bench.precision [--second] [--reader ask|search] [--results FOLDER]
    python -m bench.precision --stores FILE        # another author's memories in sentences

Without `--stores`, the cases of `bench/data/named_labels.jsonl`, or with `--second` those of
`named_labels_second.jsonl`, are sent over HTTP to `bench.precision_adapter`, in the style that
PrecisionMemBench's README describes: memories that are names with their aliases, questions that
name them in some form, questions that name nothing, and a session that drifts from one subject to
the next. A case passes if exactly what it wants is found. `drift` is the share of what was found in
the session that belongs to an earlier subject. With `--results`, each case has a line in
`FOLDER/cases.jsonl`.
"""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

from bench.labelled_sets import DATA, load_rows
from bench.precision_adapter import READERS, PrecisionStore, make_server
from bench.scratch import connect

LIMIT = 20


@dataclass(frozen=True)
class CaseResult:
    """What a case wanted and got, by the ids of the set."""

    id: str
    category: str
    query: str
    wanted: Sequence[str]
    found: Sequence[str]
    drift: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        return set(self.wanted) == set(self.found)

    @property
    def precision(self) -> float | None:
        """None where nothing was found."""
        right = [one for one in self.found if one in self.wanted]
        return len(right) / len(self.found) if self.found else None


class AdapterClient:
    """Calls the adapter over one connection."""

    def __init__(self, port: int) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=120)

    def call(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send `body`; `what` is method and path. Raise RuntimeError for an error."""
        method, path = what.split()
        self.connection.request(method, path, json.dumps(body).encode())
        response = self.connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"{what}: {response.status} {answer}")
        return answer

    def add(self, row: dict[str, Any]) -> None:
        body = {"text": row["text"], "user_id": row["user"], "metadata": {"beliefId": row["id"]}}
        self.call("POST /add", body)

    def search(self, row: dict[str, Any]) -> list[str]:
        body = {"query": row["query"], "user_id": row["user"], "limit": LIMIT}
        results = self.call("POST /search", body)["results"]
        return [one["metadata"]["beliefId"] for one in results]


def run_cases(rows: Sequence[dict[str, Any]], client: AdapterClient) -> list[CaseResult]:
    """Send the rows in their order: a memory is added, a case is asked."""
    client.call("DELETE /reset", {})
    results = []
    for row in rows:
        if row["kind"] == "memory":
            client.add(row)
            continue
        fields = {name: row.get(name, ()) for name in ("id", "category", "query", "wanted")}
        found = client.search(row)
        results.append(CaseResult(**fields, found=found, drift=row.get("drift", ())))
    return results


def rows_of_stores(path: Path) -> list[dict[str, Any]]:
    """Read another author's stores and questions as rows of `run_cases`."""
    rows = []
    for line in load_rows(path):
        if line["kind"] == "store":
            rows += [
                {"kind": "memory", "user": line["store"], "id": one["id"], "text": one["text"]}
                for one in line["memories"]
            ]
        else:
            category = "active" if line["answer"] else "silence"
            case = {"kind": "case", "id": line["id"], "category": category, "query": line["text"]}
            rows.append({**case, "user": line["store"], "wanted": line["answer"]})
    return rows


def print_summary(results: Sequence[CaseResult]) -> None:
    by_category: dict[str, list[CaseResult]] = defaultdict(list)
    for one in results:
        by_category[one.category].append(one)
    for category, own in by_category.items():
        print(f"{category:<10} {sum(one.passed for one in own)} of {len(own)}")
    active = [one for one in results if one.wanted]
    silent = [one for one in results if not one.wanted]
    precisions = [one.precision for one in active if one.precision is not None]
    recalled = [len(set(one.wanted) & set(one.found)) / len(one.wanted) for one in active]
    print(
        f"passed {sum(one.passed for one in results)} of {len(results)}, "
        f"active {sum(one.passed for one in active)} of {len(active)}, "
        f"silent {sum(one.passed for one in silent)} of {len(silent)}; "
        f"precision {sum(precisions) / max(len(precisions), 1):.3f}, "
        f"recall {sum(recalled) / max(len(recalled), 1):.3f}, "
        f"found for each {sum(len(one.found) for one in results) / max(len(results), 1):.1f}"
    )
    shares = [
        len(set(one.found) & set(one.drift)) / len(one.found)
        for one in results
        if one.category == "session" and one.found
    ]
    if shares:
        print(f"drift {sum(shares) / len(shares):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stores", type=Path)
    parser.add_argument("--second", action="store_true")
    parser.add_argument("--reader", choices=READERS, default="ask")
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    os.environ["LLM_MODEL"] = ""
    connect("memory37_precision_bench")
    own = "named_labels_second.jsonl" if options.second else "named_labels.jsonl"
    rows = rows_of_stores(options.stores) if options.stores else load_rows(DATA / own)
    server = make_server(PrecisionStore(reader=options.reader, results=options.results), port=0)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        results = run_cases(rows, AdapterClient(server.server_address[1]))
    finally:
        server.shutdown()
    print_summary(results)
    if options.results:
        lines = [json.dumps({**asdict(one), "passed": one.passed}) for one in results]
        (options.results / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
