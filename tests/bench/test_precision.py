"""The adapter serves the contract of PrecisionMemBench, and the cases of our own are sound."""

import json
from pathlib import Path
from threading import Thread

import pytest

from bench.labelled_sets import DATA, load_rows
from bench.precision import AdapterClient, CaseResult, rows_of_stores, run_cases
from bench.precision_adapter import PrecisionStore, make_server


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reader", ["ask", "search"])
def test_the_adapter_adds_searches_and_resets_over_http(tmp_path: Path, reader: str) -> None:
    server = make_server(PrecisionStore(reader=reader, results=tmp_path), port=0)
    Thread(target=server.serve_forever, daemon=True).start()
    client = AdapterClient(server.server_address[1])
    try:
        results = run_cases(ROWS, client)
        assert [(one.id, one.found) for one in results if not one.passed] == []
        with pytest.raises(RuntimeError, match="422"):
            client.call("POST /search", {"query": "Redis"})
        with pytest.raises(RuntimeError, match="404"):
            client.call("POST /nothing", {})
        client.call("DELETE /reset", {})
        assert client.search({"query": "Redis", "user": "one"}) == []
    finally:
        client.connection.close()
        server.shutdown()
        server.server_close()
    lines = [json.loads(line) for line in (tmp_path / "searches.jsonl").read_text().splitlines()]
    assert [line["query"] for line in lines][:2] == ["Redis eviction policy", "Redis"]
    assert lines[0]["results"][0]["metadata"]["beliefId"] == "redis"
    assert lines[0]["results"][0]["memory"] == "redis_cache Redis"


ROWS = [
    {"kind": "memory", "id": "redis", "user": "one", "text": "redis_cache Redis"},
    {"kind": "memory", "id": "mongo", "user": "one", "text": "mongo_store MongoDB"},
    {"kind": "memory", "id": "other", "user": "two", "text": "redis_cache Redis"},
    *(
        {
            "kind": "case",
            "category": "",
            "id": query,
            "user": user,
            "query": query,
            "wanted": wanted,
        }
        for user, query, wanted in (
            ("one", "Redis eviction policy", ["redis"]),
            ("two", "Redis", ["other"]),
            ("nobody", "Redis", []),
            ("one", " ", []),
            ("one", "bread recipe", []),
        )
    ),
    # The same belief with one more alias replaces the former text.
    {"kind": "memory", "id": "mongo", "user": "one", "text": "mongo_store MongoDB elephant"},
    {
        "kind": "case",
        "category": "",
        "id": "after the update",
        "user": "one",
        "query": "feed the elephant",
        "wanted": ["mongo"],
    },
]


@pytest.mark.parametrize(("name", "least"), [("named_labels", 60), ("named_labels_second", 40)])
def test_our_cases_want_what_was_added_before_them(name: str, least: int) -> None:
    known: dict[str, set[str]] = {}
    ids = []
    for row in load_rows(DATA / f"{name}.jsonl"):
        own = known.setdefault(row["user"], set())
        if row["kind"] == "memory":
            own.add(row["id"])
        else:
            ids.append(row["id"])
            assert set(row["wanted"]) | set(row.get("drift", ())) <= own, row
    assert len(ids) == len(set(ids)) >= least


def test_a_case_passes_only_if_nothing_else_is_found() -> None:
    one = CaseResult("1", "", "q", ["a", "b"], ["b", "a", "c"])
    assert (one.passed, one.precision) == (False, 2 / 3)
    assert CaseResult("2", "", "q", [], []).passed
    assert CaseResult("2", "", "q", [], []).precision is None


def test_another_authors_stores_are_read_as_cases(tmp_path: Path) -> None:
    store = {"kind": "store", "store": "s", "memories": [{"id": "m", "text": "The bell."}]}
    asked = {"kind": "question", "store": "s", "id": "q", "text": "Which?", "answer": ["m"]}
    path = tmp_path / "stores.jsonl"
    path.write_text(f"{json.dumps(store)}\n{json.dumps(asked)}\n")
    memory, case = rows_of_stores(path)
    assert (memory["user"], memory["id"], case["user"], case["wanted"]) == ("s", "m", "s", ["m"])
