"""A plain script that a test runs, and kills: one worker that carries out a reflection in a process
of its own.

Usage: python -m tests.memories.reflecting DATABASE REFLECTION SECONDS [STOP]. It says "ready",
waits for a line, and tries until it has the reflection or somebody has finished it; each try prints
what came of it. With STOP it claims the reflection for SECONDS and stands still: "thinking" before
anything is embedded, "writing" with insights half written.
"""

import json
import os
import sys
import time
from datetime import timedelta
from typing import Any

TRIES, PAUSE = 600, 0.1
FIRST_OF_THE_LAST = 'INSERT INTO "memories_insightsource"'
"""The memory of an insight and the insight are written before it, in the same transaction."""


def main(database: str, pk: str, seconds: float, stop: str) -> None:
    reflection = connected(database, pk)
    from memories.ingest.model_add import Models
    from memories.reflection import run_reflection

    say("ready")
    sys.stdin.readline()
    models = Models(standing_still(stop))
    for _ in range(TRIES):
        made = run_reflection(reflection, models=models, lease=timedelta(seconds=seconds))
        say(made if made is None else [str(one) for one in made])
        if made is not None:
            return
        time.sleep(PAUSE)


def connected(database: str, pk: str) -> Any:
    os.environ["DJANGO_SETTINGS_MODULE"] = "memory_site.settings"
    import django

    django.setup()
    from django.db import connection

    connection.settings_dict["NAME"] = database
    from memories.models import Reflection

    return Reflection.objects.select_related("namespace").get(pk=pk)


def standing_still(stop: str) -> Any:
    from django.db import connection

    from memories.vectors import SiteSource, Vectors

    class Stopping(SiteSource):
        def of_documents(self, texts: list[str]) -> Vectors | None:
            if stop == "thinking":
                stand()
            return super().of_documents(texts)

    def before(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        if stop == "writing" and str(sql).startswith(FIRST_OF_THE_LAST):
            stand()
        return execute(sql, params, many, context)

    connection.execute_wrappers.append(before)
    return Stopping()


def stand() -> None:
    say("stands")
    time.sleep(600)


def say(what: object) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), "".join(sys.argv[4:5]))
