"""An agent fixes a bug, learns from it, and recognizes the error when it occurs again. It needs no
language model: its steps are written here.

    python examples/debugging_agent.py

Needs MEMORY37_URL and a MEMORY37_API_KEY with the scope agent:write and a namespace, as created by
`manage.py make_key --world ferrymark --name debugger --scope agent:write --namespace debugger`.
"""

import asyncio
from typing import Any

from memory37_client import Memory37Client

BROKEN = "fare = row['fare']"
FIXED = "fare = row.get('fare', 0)"
ERROR = {"error_type": "KeyError", "error_message": "'fare'"}


async def record_task(memory: Memory37Client) -> dict[str, Any]:
    """Record the steps of the task, close it, and return what was learned."""
    await memory.call(
        "task_begin",
        {
            "description": "The toll ledger crashes on rows without a fare",
            "plan": ["reproduce", "fix", "test"],
            "project": "ferry",
        },
    )
    for note in (
        {"kind": "step", "tool": "read", "text": BROKEN, "file": "ferry/ledger.py"},
        {"kind": "step", "tool": "run", "text": "1 failed", "file": "ferry/ledger.py", **ERROR},
        {"kind": "hypothesis", "text": "Rows of free crossings have no fare", "confidence": 0.8},
        {"kind": "decision", "text": "Read the fare with a default instead of filling the rows"},
        {
            "kind": "step",
            "tool": "edit",
            "text": "saved",
            "file": "ferry/ledger.py",
            "before": BROKEN,
            "after": FIXED,
        },
        {"kind": "step", "tool": "run", "text": "12 passed", "file": "ferry/ledger.py"},
    ):
        await memory.call("task_note", note)
    return await memory.call(
        "task_close",
        {
            "success": True,
            "outcome": "All tests pass",
            "solution": "row.get('fare', 0): free crossings have no fare",
        },
    )


async def look_up_error(memory: Memory37Client) -> dict[str, Any]:
    """Look up the same kind of error with another message; any later process can do this."""
    return await memory.call(
        "error_lookup", {"error_type": "KeyError", "error_message": "'fare' in toll.py"}
    )


async def main() -> None:
    async with Memory37Client.from_env() as memory:
        lessons = await record_task(memory)
        error = (await look_up_error(memory))["known"][0]
        question = "How did we fix the KeyError in the toll ledger?"
        answer = await memory.call("memory_ask", {"query": question})
    lines = [
        f"errors: {', '.join(lessons['learned_errors'])}",
        f"rules:  {', '.join(lessons['learned_rules'])}",
        f"pivots: {', '.join(lessons['pivots'])}",
        f"known:  {error['error_type']} ({error['score']:.2f}): {error['cause']}. "
        f"Try: {error['solution']}",
        *answer["explanation"],
    ]
    print("\n".join(lines))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
