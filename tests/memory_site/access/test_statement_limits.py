"""No statement of a request runs longer than its time; those of tasks and migrations may."""

import os
import subprocess
import sys

import pytest
from django.db import OperationalError, connection
from psycopg.errors import QueryCanceled

from memory_site.errors import problem_answer
from memory_site.settings import statement_limit

OPTIONS = "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS'])"


@pytest.mark.django_db
def test_a_statement_that_takes_too_long_is_ended_and_answered_with_503() -> None:
    limited = connection.copy()
    own = {
        name: value for name, value in limited.settings_dict["OPTIONS"].items() if name != "pool"
    }
    limited.settings_dict["OPTIONS"] = {**own, **statement_limit(0.2)}
    try:
        with pytest.raises(OperationalError) as found, limited.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(20)")
    finally:
        limited.close()
    assert isinstance(found.value.__cause__, QueryCanceled)
    assert problem_answer(found.value, "")[0] == 503


def options_of(start: str, **environment: str) -> str:
    command = [sys.executable, "-c", f"{start}; {OPTIONS}"]
    own = {"DJANGO_SETTINGS_MODULE": "memory_site.settings", **environment}
    done = subprocess.run(
        command, env={**os.environ, **own}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_web_processes_have_a_limit_and_others_do_not() -> None:
    web = "from memory_site.web_server import limit_statements; limit_statements()"
    assert "statement_timeout=60000" in options_of(web)
    assert "statement_timeout=5000" in options_of(web, STATEMENT_SECONDS="5")
    assert "statement_timeout" not in options_of(web, DATABASE_POOLER="true")
    assert "statement_timeout" not in options_of("pass")
