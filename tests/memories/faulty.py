"""A plain script that a test runs: `add` under faults, in processes that are killed. Prints one
JSON object.

Usage: python -m tests.memories.faulty FOLDER. Every add runs in a fork, so that its death takes
nothing along; a pipe tells whether it was acknowledged. Afterwards every acknowledged content has
to be in use or in history.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

MOST_STATEMENTS = 40
WRITERS = 8


def main(folder: Path) -> None:
    prepare(folder / "first")
    outcome = {
        "killed": under_faults(folder / "killed", kill),
        "dropped": under_faults(folder / "dropped", drop),
        "concurrent": concurrently(folder / "concurrent"),
    }
    print(json.dumps(outcome))


def prepare(folder: Path) -> None:
    """Import everything here, where no connection is open, and let a fork make the tables: forks
    are then quick.
    """
    from memories.haema import memory, standalone
    from tests.memories import fakes

    assert memory.Memory
    assert fakes.Echo
    assert in_fork(lambda: add(folder, ["the very first"])) == 0
    standalone.IS_SCRIPT = False


def under_faults(folder: Path, fault: Callable[..., Any]) -> dict[str, Any]:
    """Strike before the first statement of an add, then before the second, until an add comes
    through.
    """
    acknowledged, struck = [], 0
    assert in_fork(lambda: add(folder, ["the very first"])) == 0
    acknowledged.append("the very first")
    for number in range(MOST_STATEMENTS):
        contents = [f"content {number}a", f"content {number}b"]
        if in_fork(lambda n=number, texts=contents: add(folder, texts, fault=fault, at=n)) == 0:
            acknowledged += contents
            break
        struck += 1
        assert in_fork(lambda texts=contents: repeat(folder, texts)) == 0, f"struck at {number}"
        acknowledged += contents
    return {"struck": struck, "lost": lost(folder, acknowledged)}


def concurrently(folder: Path) -> dict[str, Any]:
    """Eight processes add to one namespace at once; all their contents lie on top of one
    another.
    """
    in_fork(lambda: add(folder, ["the very first"]))
    texts = [[f"writer {writer} says {n}" for n in range(3)] for writer in range(WRITERS)]
    children = [
        fork(lambda writer=writer: [add(folder, [text]) for text in texts[writer]])
        for writer in range(WRITERS)
    ]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return {"codes": codes, "lost": lost(folder, [text for own in texts for text in own])}


def add(
    folder: Path, contents: list[str], *, fault: Callable[..., Any] | None = None, at: int = -1
) -> None:
    from django.db import connection

    from memories.haema import Memory
    from tests.memories.fakes import Echo, Vectors

    same_place = Vectors({text: [1.0, 0.0] for text in [*contents, "the very first"]})
    memory = Memory(folder, 2, same_place, Echo())
    with ExitStack() as stack:
        if fault:
            stack.enter_context(connection.execute_wrapper(Striking(fault, at)))
        memory.add(contents)


def repeat(folder: Path, contents: list[str]) -> None:
    """All or nothing of the add that was struck is there, and the same again comes through."""
    assert len(standing(folder) & set(contents)) in (0, len(contents)), "half of an add was stored"
    add(folder, contents)


class Striking:
    """Calls `fault` before statement number `at`."""

    def __init__(self, fault: Callable[..., Any], at: int) -> None:
        self.fault, self.left = fault, at

    def __call__(self, execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if self.left == 0:
            self.fault(context)
        self.left -= 1
        return execute(sql, params, many, context)


def kill(_context: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def drop(context: Any) -> None:
    """The server ends our connection, as when it is restarted."""
    from contextlib import suppress

    from psycopg import OperationalError

    with suppress(OperationalError):
        context["connection"].connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def standing(folder: Path) -> set[str]:
    """What is in use, in history, or observed."""
    from memories.haema import Memory
    from tests.memories.fakes import Echo, Vectors

    memory = Memory(folder, 2, Vectors(), Echo())
    found = {text for _id, text, _stamp in memory.records()} | {
        gone.text for gone in memory.history()
    }
    missing_vectors = memory.namespace.memories.active().filter(client_vector=None).count()
    assert missing_vectors == 0, "a memory in use has no vector"
    return found


def lost(folder: Path, acknowledged: list[str]) -> list[str]:
    """Told by a fork, like everything that touches the database: this process must be able to
    fork.
    """
    reader, writer = os.pipe()
    child = fork(
        lambda: os.write(writer, json.dumps(sorted(set(acknowledged) - standing(folder))).encode())
    )
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    missing: list[str] = json.loads(text)
    return missing


def in_fork(act: Callable[[], Any]) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(fork(act), 0)[1])


def fork(act: Callable[[], Any]) -> int:
    if child := os.fork():
        return child
    code = 1
    try:
        act()
        code = 0
    except SystemExit as asked:
        code = int(asked.code or 0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
