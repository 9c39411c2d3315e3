"""What a process of the site loads before it does anything."""

import subprocess
import sys

FOR_FEW = {"openai", "httpx2", "openpyxl", "opentelemetry.exporter.otlp"}
"""They take a third of the time of a start, and are loaded where they are used. No module that is
named `provider` may need them: allauth loads that module of each app."""
START = """
import gc, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "memory_site.settings"
import django
django.setup()
import memory_site.urls
print(gc.get_threshold()[0], *sys.modules)
"""


def test_a_process_loads_no_client_that_few_of_them_use() -> None:
    command = [sys.executable, "-c", START]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    threshold, *modules = ran.stdout.split()
    assert "memory_site.urls" in modules
    assert sorted(FOR_FEW & set(modules)) == []
    # Else a quarter of the time of a start goes to looking for objects that are in a cycle.
    assert int(threshold) >= 50_000
