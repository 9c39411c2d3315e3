"""An agent debugs, learns, and knows the error when it meets it again. No language model: what it
does is written here.

    python examples/debugging_agent.py

The memory is MEMORY37_URL with MEMORY37_API_KEY: a key with the scope agent:write that names its
namespace, from `manage.py make_key --world ferrymark --name debugger --scope agent:write
--namespace debugger`.
"""

import asyncio
from typing import Any

from memory_site.client import Memory37Client

BROKEN = "fare = row['fare']"
MENDED = "fare = row.get('fare', 0)"
ERROR = {"error_type": "KeyError", "error_message": "'fare'"}


async def work(memory: Memory37Client) -> dict[str, Any]:
    """Go through the session: reproduce, suppose, decide, mend, run again, close. Return what was
    learned.
    """
    await memory.call(
        "task_begin",
        {
            "description": "The toll ledger crashes on rows without a fare",
            "plan": ["reproduce", "mend", "test"],
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
            "after": MENDED,
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


async def meet_again(memory: Memory37Client) -> dict[str, Any]:
    """Later, and in another process if you like: the same kind of error, in other words."""
    return await memory.call(
        "error_lookup", {"error_type": "KeyError", "error_message": "'fare' in toll.py"}
    )


async def main() -> None:
    async with Memory37Client.from_env() as memory:
        closed = await work(memory)
        known = (await meet_again(memory))["known"][0]
        told = await memory.call(
            "memory_ask", {"query": "How did we fix the KeyError in the toll ledger?"}
        )
    lines = [
        f"learned: {', '.join(closed['learned_errors'])}",
        f"rules:   {', '.join(closed['learned_rules'])}",
        f"turned:  {', '.join(closed['pivots'])}",
        f"known:   {known['error_type']} ({known['score']:.2f}): {known['cause']}. "
        f"Try: {known['solution']}",
        *told["explanation"],
    ]
    print("\n".join(lines))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
