"""Counters, spans and logs: counts and names, the request id, and never a player's words."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings as site
from django.test import Client

from worlds import keys
from worlds.models import World

PROGRAM = """
import json, logging, os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_site.settings")
import django
django.setup()
from django.test import Client
from memory_site.logs import log_context
with log_context("req-1", "abc", "lore_search"):
    logging.getLogger("memory_site.toolbox").info("a call")
from opentelemetry import metrics
metrics.get_meter("memory37").create_counter("memory37.search.requests").add(3, {"domain": "lore"})
sesame = {"Authorization": "Bearer sesame"}
print(Client(SERVER_NAME="localhost", headers=sesame).get("/metrics").content.decode())
print("CLOSED", Client(SERVER_NAME="localhost").get("/metrics").status_code)
"""


@pytest.fixture(scope="module")
def enabled() -> subprocess.CompletedProcess[str]:
    """A process of its own: providers are set once in a process."""

    environment = {
        **os.environ,
        "METRICS": "true",
        "METRICS_TOKEN": "sesame",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "INFO",
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
        env=environment,
        cwd=site.BASE_DIR,
    )


def test_metrics_are_prometheus_text_behind_their_token(
    enabled: subprocess.CompletedProcess[str],
) -> None:
    assert 'memory37_search_requests_total{domain="lore"' in enabled.stdout
    assert "CLOSED 401" in enabled.stdout


def test_log_lines_are_json_with_the_call_they_belong_to(
    enabled: subprocess.CompletedProcess[str],
) -> None:
    lines = [json.loads(line) for line in enabled.stderr.splitlines() if line.startswith("{")]
    line = next(line for line in lines if line["message"] == "a call")
    assert (line["request_id"], line["key"], line["tool"]) == ("req-1", "abc", "lore_search")


def test_a_token_in_other_letters_is_refused_like_any_other(client: Client, settings: Any) -> None:
    settings.METRICS, settings.METRICS_TOKEN = True, "sesame"
    for header in ("", "Bearer sésame", "Bearer сезам"):
        answer = client.get("/metrics", headers={"Authorization": header})
        assert answer.status_code == 401, header


def test_metrics_are_off_unless_asked_for(client: Client) -> None:
    assert client.get("/metrics").status_code == 404


def test_a_host_name_of_a_stranger_takes_one_line_of_the_log(client: Client, caplog: Any) -> None:
    assert client.get("/login/", headers={"Host": "evil.example"}).status_code == 400
    records = [each for each in caplog.records if "evil.example" in each.getMessage()]
    assert [each.exc_info for each in records] == [None]


def test_the_log_line_of_a_call_has_no_words_of_the_player(world: World, caplog: Any) -> None:
    _key, text = keys.create_key(world, name="engine")
    client = Client(headers={"Authorization": f"Bearer {text}", "X-Request-ID": "req-7"})
    with caplog.at_level("INFO"):
        client.post(
            "/api/v1/tools/lore_search",
            '{"query": "my darkest secret"}',
            content_type="application/json",
        )
    assert "lore_search over rest: 200" in caplog.text
    assert "darkest" not in caplog.text
