"""Compose file, image, systemd units, dashboard and alerts name what the product really has."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from memory_site.process_supervisor import process_commands
from memory_site.site_metrics import DURATION_BOUNDARIES

ROOT = Path(settings.BASE_DIR)
DEPLOY = ROOT / "docs" / "deploy"
BACKING = {"postgres", "redis", "neo4j", "otel"}
PROGRAM = """
import django
django.setup()
from django.test import Client
from opentelemetry import metrics
from retrieval.embedders import base
from retrieval.search import engine
from knowledge.graph.read_metrics import count_read
count_read("postgres", "path")
base._calls.add(1, {"model": "m"}), base._tokens.add(1, {"model": "m"})
engine._requests.add(1, {"domain": "lore"}), engine._hits.add(1, {"domain": "lore"})
client = Client(SERVER_NAME="localhost")
client.get("/health/live")
print(client.get("/metrics").content.decode())
"""


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def test_every_service_starts_again_and_the_site_is_confined(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped"), name
        if name not in BACKING:
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name


def test_compose_runs_the_processes_of_make_up(compose: dict[str, Any]) -> None:
    commands = process_commands("0.0.0.0", 8000)
    for name in ("web", "worker", "beat"):
        own = compose["services"][name]["command"]
        start = own.index("-A" if "-A" in own else "-m")
        assert set(own[start:]) - {"0.0.0.0"} <= set(commands[name]), name
        unit = (DEPLOY / "systemd" / f"memory37-{name}.service").read_text()
        options = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
        assert set(options.split()[1:]) - set(commands[name]) <= {"${WEB_HOST}", "${WEB_PORT}"}, (
            name
        )
        assert "Restart=always" in unit


@pytest.mark.parametrize("path", sorted((DEPLOY / "systemd").iterdir()), ids=lambda path: path.name)
def test_systemd_understands_the_units(path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd is not installed")
    done = subprocess.run(
        [program, "verify", "--man=no", str(path)], capture_output=True, text=True, check=False
    )
    # The code is not in /srv here, and two keys are of a newer systemd than Debian's.
    expected = r"Restart(Steps|MaxDelaySec)|is not executable|Failed to load|bus|^\s*$"
    faults = [line for line in done.stderr.splitlines() if not re.search(expected, line)]
    assert not faults


def test_a_migration_before_the_start_has_the_time_that_it_takes() -> None:
    unit = (DEPLOY / "systemd" / "memory37-web.service").read_text()
    assert "manage.py migrate" in unit
    assert "TimeoutStartSec=infinity" in unit.splitlines()


def test_prometheus_is_told_of_every_web_process_with_its_token(tmp_path: Path) -> None:
    folder = DEPLOY / "prometheus"
    scrape = yaml.safe_load((folder / "prometheus.yaml").read_text())
    assert scrape["rule_files"] == ["alerts.yaml"]
    job = scrape["scrape_configs"][0]
    assert job["job_name"] in (folder / "alerts.yaml").read_text()
    assert job["authorization"]["type"] == "Bearer"


@pytest.fixture
def promtool(tmp_path: Path) -> Callable[..., str]:
    """Run `promtool` in a copy of the folder of Prometheus; return what it said."""
    program = shutil.which("promtool")
    if program is None:
        why = "promtool is not installed (Debian's package prometheus)"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    folder = tmp_path / "prometheus"
    shutil.copytree(DEPLOY / "prometheus", folder)
    (folder / "metrics_token").write_text("token")

    def run(*arguments: str, **files: str) -> str:
        for name, text in files.items():
            (folder / f"{name}.yaml").write_text(text)
        done = subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_prometheus_understands_its_configuration_and_every_alert(
    promtool: Callable[..., str],
) -> None:
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())
    count = sum(len(group["rules"]) for group in rules["groups"])
    assert f"{count} rules found" in promtool("check", "config", "prometheus.yaml")


def test_alerts_fire_for_a_site_in_trouble_and_for_no_other(promtool: Callable[..., str]) -> None:
    promtool("test", "rules", "story.yaml", story=yaml.safe_dump(STORY_OF_TWO_HOURS))


def series(name: str, values: str) -> dict[str, str]:
    return {"series": name, "values": values}


def firing_at(time: str, *alerts: str) -> dict[str, Any]:
    samples = [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(alerts)]
    expression = 'sort(count by (alertname) (ALERTS{alertstate="firing"}))'
    return {"eval_time": time, "expr": expression, "exp_samples": samples}


IN_TROUBLE = ("Down", "PartDown", "Errors", "Slow")
DURATION = "memory37_http_duration_seconds"
STORY_OF_TWO_HOURS = {
    "rule_files": ["alerts.yaml"],
    "evaluation_interval": "1m",
    "tests": [
        {
            "interval": "1m",
            "input_series": [
                series('up{job="memory37"}', "1x60 0x60"),
                series('memory37_part_up{part="vector"}', "1x60 0x60"),
                series(DURATION + '_count{status="2xx"}', "0+60x120"),
                series(DURATION + '_count{status="5xx"}', "0x60 0+6x60"),
                series(DURATION + '_bucket{le="0.1"}', "0+60x60 3600x60"),
                series(DURATION + '_bucket{le="5.0"}', "0+60x120"),
                series(DURATION + '_bucket{le="+Inf"}', "0+60x120"),
            ],
            "promql_expr_test": [
                firing_at("59m"),
                firing_at("65m", "Memory37Down", "Memory37PartDown"),
                firing_at("90m", *(f"Memory37{each}" for each in IN_TROUBLE)),
            ],
        }
    ],
}


def test_every_variable_of_the_compose_file_is_a_setting(compose: dict[str, Any]) -> None:
    documented = re.findall(r"^\| `(\w+)`", (ROOT / "docs" / "settings.md").read_text(), re.M)
    for name in ("web", "worker", "beat"):
        assert set(compose["services"][name]["environment"]) <= set(documented)


def test_a_setting_that_the_compose_file_does_not_name_reaches_the_site(
    compose: dict[str, Any],
) -> None:
    """Compose reads .env for itself alone: without this, a mail server or SECRET_KEY_FALLBACKS
    that are written there would be ignored."""
    for name in ("migrate", "web", "worker", "beat"):
        service = compose["services"][name]
        assert service["env_file"] == [{"path": ".env", "required": False}], name
        assert service["environment"]["MEMORY37_VAR"] == "/data", "the volume is there"


def test_the_image_runs_without_root_and_knows_every_requirement() -> None:
    image = (ROOT / "Dockerfile").read_text()
    assert re.findall(r"^USER (\S+)", image, re.M) == ["10001:10001"]
    for name in ("", "-models", "-redis", "-rabbitmq", "-s3"):
        assert f"requirements{name}.txt" in image


@pytest.fixture(scope="module")
def metric_names() -> set[str]:
    """The names at /metrics of a process that has counted everything once."""
    own = {"METRICS": "true", "METRICS_TOKEN": "", "DJANGO_SETTINGS_MODULE": "memory_site.settings"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **own, "EMBEDDER": "hashing"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    return set(re.findall(r"^(memory37_\w+)[{ ]", done.stdout, re.M))


def test_times_of_requests_have_boundaries_in_seconds() -> None:
    """With those of milliseconds every request under five seconds would count as 4.75 s."""
    assert len([each for each in DURATION_BOUNDARIES if each < 2]) >= 5
    alerts = (DEPLOY / "prometheus" / "alerts.yaml").read_text()
    limits = re.findall(r"histogram_quantile\(.*\) > ([\d.]+)", alerts)
    assert limits
    assert {float(each) for each in limits} <= set(DURATION_BOUNDARIES)


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\bmemory37_\w+", text))


def test_dashboard_and_alerts_use_metrics_that_exist(metric_names: set[str]) -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "memory37.json").read_text())
    used = names_in(json.dumps(dashboard["panels"]))
    alerts = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    used |= names_in(" ".join(rule["expr"] for rule in rules))
    # The tables of the database that the process uses may be missing: gauges that ask it are named.
    gauges = {"memory37_part_up", "memory37_passages_waiting", "memory37_passages_parked"}
    assert used - metric_names - gauges == set()
    assert {"memory37_http_duration_seconds_bucket", "memory37_part_up"} <= used
    for rule in rules:
        assert rule["annotations"]["remedy"]
