"""What a process of the site loads before it does anything."""

import os
import subprocess
import sys
from pathlib import Path

FOR_FEW = {"openai", "httpx2", "openpyxl", "opentelemetry.exporter.otlp"}
"""They take a third of the time of a start, and are loaded where they are used. No module that is
named `provider` may need them: allauth loads that module of each app."""
NOT_ASKED = "postgres://nobody@localhost/none"
START = """
import gc, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "memory_site.settings"
import django
django.setup()
import memory_site.urls
from django.core.wsgi import get_wsgi_application
get_wsgi_application()
print(gc.get_threshold()[0], *sys.modules)
"""


def test_a_process_loads_what_it_needs_and_warns_of_nothing(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", START]
    environment = {**os.environ, "MEMORY37_VAR": str(tmp_path), "DATABASE_URL": NOT_ASKED}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    threshold, *modules = ran.stdout.split()
    assert "memory_site.urls" in modules
    assert sorted(FOR_FEW & set(modules)) == []
    # Else a quarter of the time of a start goes to looking for objects that are in a cycle.
    assert int(threshold) >= 50_000
    assert ran.stderr == ""
