"""A plain script that a test runs: tasks are closed in processes that are killed before the first
statement, then before the second, until one comes through. Prints how many were killed.

Usage: python -m tests.memories.closing DATABASE WORLD NAMESPACE.
"""

import signal
import sys
from contextlib import suppress

from tests.memories.faulty import Striking, in_fork, kill

MOST_STATEMENTS = 200
STEP = 3
"""Every third statement is enough: it spares most of the processes."""


def main(database: str, world: str, name: str) -> None:
    import os

    os.environ["DJANGO_SETTINGS_MODULE"] = "memory_site.settings"
    import django

    django.setup()
    from memories import agent_tools

    assert agent_tools.task_close
    struck = 0
    for number in range(0, MOST_STATEMENTS, STEP):
        code = in_fork(lambda n=number: close_task(database, world, name, at=n))
        if code == 0:
            break
        assert code == -signal.SIGKILL, f"statement {number}: exit code {code}"
        struck += 1
    print(struck)


def close_task(database: str, world: str, name: str, *, at: int) -> None:
    from django.db import connection

    connection.settings_dict["NAME"] = database
    from memories import agent_tools, namespaces
    from retrieval.errors import Conflict
    from worlds.callers import Caller
    from worlds.models import World

    row = World.objects.get(pk=world)
    assert namespaces.get_or_create_namespace(row, name)
    caller = Caller(world=row, namespace=name)
    # The task of a process that was killed is still open.
    with suppress(Conflict):
        agent_tools.task_begin(agent_tools.TaskBeginAsk(description=f"Mend ledger {at}"), caller)
        note = agent_tools.TaskNoteAsk(
            kind="step", text="x", tool="run", error_type="KeyError", error_message=f"fare {at}"
        )
        agent_tools.task_note(note, caller)
    with connection.execute_wrapper(Striking(kill, at)):
        agent_tools.task_close(agent_tools.TaskCloseAsk(success=True, solution="get()"), caller)


if __name__ == "__main__":
    main(*sys.argv[1:])
