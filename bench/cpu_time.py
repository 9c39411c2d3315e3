"""CPU time of processes: on a machine that does other work it says more than the clock."""

import os
from collections.abc import Iterable
from pathlib import Path

from django.db import connection

BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU time that these processes of this computer have used so far, as Linux counts
    it, to 0.01 s. A process that is gone, or runs elsewhere, counts nothing."""
    return sum(map(_cpu_ticks, pids)) / os.sysconf("SC_CLK_TCK")


def _cpu_ticks(pid: int) -> int:
    try:
        # After the name of the program, which may hold spaces.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def database_pids() -> list[int]:
    """Return the processes that serve the connections to this database, this one among them."""
    with connection.cursor() as cursor:
        cursor.execute(BACKENDS)
        return [pid for (pid,) in cursor.fetchall()]
