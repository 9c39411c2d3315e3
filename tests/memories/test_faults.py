"""Whatever fails, an acknowledged content is found again: the fault matrix."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memories.haema import Memory
from tests.memories.fakes import Echo, Vectors

ROOT = Path(__file__).parent.parent.parent
STEPS = ["PreMemorySplitResponse", "MemoryReconstructionResponse", "CoreUpdateResponse"]
GARBAGE = {"memories": 5, "contents": 5, "should_update": "?"}
MODEL_FAULTS: dict[str, Any] = {
    "errs": ValueError("no"),
    "times out": TimeoutError(),
    "loses the line": ConnectionError(),
    "breaks": RuntimeError("x"),
    "runs out": MemoryError(),
    "says nothing": {},
    "says garbage": GARBAGE,
    "says it is incomplete": {
        "memories": ["x"],
        "coverage": "incomplete",
        "contents": [],
        "should_update": False,
    },
    "is empty": {"memories": [], "coverage": "complete", "contents": [], "should_update": False},
    "holds a NUL": {
        "memories": ["\x00"],
        "coverage": "complete",
        "contents": ["\x00"],
        "should_update": False,
    },
}
VECTOR_FAULTS: dict[str, Any] = {
    "errs": OSError("down"),
    "one row short": np.zeros((0, 4)),
    "another width": np.zeros((1, 3)),
    "not a number": np.full((1, 4), np.nan),
}


def found(memory: Memory) -> set[str]:
    searched = {text for known in memory.records() for text in memory.search(known[1], 50)}
    return searched | {gone.text for gone in memory.history()}


@pytest.mark.django_db
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", MODEL_FAULTS)
def test_no_fault_of_the_model_loses_a_content(tmp_path: Path, step: str, fault: str) -> None:
    memory = Memory(tmp_path, 4, Vectors(), Echo())
    memory.add(["known before"])
    answer = MODEL_FAULTS[fault]
    memory.llm_client = Echo(**{step: lambda _prompt: answer})
    acknowledged = ["known before"]
    for contents in ("raw text", ["known before", "another"]):
        try:
            memory.add(contents)
        except (RuntimeError, MemoryError):
            continue
        acknowledged += [contents] if isinstance(contents, str) else contents
    assert set(acknowledged) <= found(memory)


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["embed_query", "embed_document"])
@pytest.mark.parametrize("fault", VECTOR_FAULTS)
def test_no_fault_of_the_embedder_stores_half_an_add(tmp_path: Path, way: str, fault: str) -> None:
    vectors = Vectors()
    memory = Memory(tmp_path, 4, vectors, Echo())
    memory.add(["known before"])

    def failing(texts: Any, dims: int) -> Any:
        if isinstance(VECTOR_FAULTS[fault], Exception):
            raise VECTOR_FAULTS[fault]
        return VECTOR_FAULTS[fault]

    setattr(vectors, way, failing)
    with pytest.raises((OSError, ValueError)):
        memory.add(["never acknowledged"])
    delattr(vectors, way)
    assert found(memory) == {"known before"}
    assert memory.namespace.observations.count() == 1


pytestmark = pytest.mark.timeout(
    1000
)  # 48 seconds on a busy machine, far more on an overloaded one


@pytest.fixture(scope="module")
def outcome() -> Iterator[dict[str, Any]]:
    """One run of the script on a server of its own: also what a fresh clone does, tables and
    all.
    """
    folder = Path(tempfile.mkdtemp(prefix="m37-faults-"))
    folder.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.memories.faulty", str(folder / "stores")],
        cwd=ROOT,
        capture_output=True,
        env={**inherited, "MEMORY37_VAR": str(folder / "var"), "EMBEDDER": "hashing"},
        text=True,
        timeout=900,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    yield {**json.loads(ran.stdout.splitlines()[-1]), "var": folder / "var"}
    shutil.rmtree(folder, ignore_errors=True)


def test_a_kill_between_any_two_statements_loses_nothing(outcome: dict[str, Any]) -> None:
    assert outcome["killed"]["lost"] == []
    assert outcome["killed"]["struck"] > 10


def test_a_database_that_drops_before_any_statement_loses_nothing(outcome: dict[str, Any]) -> None:
    assert outcome["dropped"]["lost"] == []
    assert outcome["dropped"]["struck"] > 10


def test_eight_writers_at_once_lose_nothing(outcome: dict[str, Any]) -> None:
    assert outcome["concurrent"] == {"codes": [0] * 8, "lost": []}


SCRIPT = """
import sys
from memories.haema import Memory
memory = Memory(sys.argv[1])
memory.add(["Mira Voss owns three ferries."])
assert memory.search("ferries", 1) == ["Mira Voss owns three ferries."]
"""


def test_a_plain_script_that_searched_leaves_no_server_behind(
    tmp_path: Path, outcome: dict[str, Any]
) -> None:
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment = {**inherited, "MEMORY37_VAR": str(outcome["var"]), "EMBEDDER": "hashing"}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "store")]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    data = outcome["var"] / "postgres" / "data"
    assert (data / "PG_VERSION").exists()
    assert not (data / "postmaster.pid").exists()
