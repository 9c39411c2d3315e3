"""The commands of docs/api.md, carried out as they are written there, against the running site."""

import base64
import contextlib
import json
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.conf import settings
from standardwebhooks import Webhook

from episodes.models import Episode
from npcs.models import DispositionChange
from worlds import keys
from worlds.keys import Scope

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]
GUIDE = Path(settings.BASE_DIR) / "docs" / "api.md"
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def commands() -> list[list[str]]:
    """Return the words of each `curl` command of the guide."""
    texts = [text for block in BLOCK.findall(GUIDE.read_text()) for text in split_commands(block)]
    # A backslash at the end of a line joins it with the next.
    joined = [text.replace("\\\n", " ") for text in texts]
    return [shlex.split(text) for text in joined if text.startswith("curl")]


def split_commands(block: str) -> list[str]:
    return re.split(r"\n(?=curl|export)", block.strip())


def send(words: list[str], url: str, key: str) -> httpx2.Response:
    """Send what `curl` would send with these words."""
    method, address, headers, body = "", "", {}, None
    rest = iter(word.replace("$HOST", f"{url}/api/v1").replace("$KEY", key) for word in words[1:])
    for word in rest:
        if word == "-X":
            method = next(rest)
        elif word == "-H":
            name, _colon, value = next(rest).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(rest)
        elif word != "-s":
            address = word
    method = method or ("POST" if body else "GET")
    return httpx2.request(method, address, headers=headers, content=body, timeout=60)


def test_the_guide_leads_from_a_key_to_a_scene(site: dict[str, Any]) -> None:
    _key, key = keys.create_key(None, name="engine", scopes=[Scope.ADMIN], audience="gm")
    written = commands()
    assert len(written) >= 10
    for words in written:
        answer = send(words, site["url"], key)
        assert answer.status_code in (200, 201), (words, answer.text)
        if "events?" in " ".join(words):
            told = [each["kind"] for each in answer.json()["events"]]
            assert told == ["npc", "episode", "disposition"]
        if "/world/keys " in " ".join(words):
            player = answer.json()
    assert Episode.objects.filter(world__slug="salt-coast", external_id="ep-1").exists()
    assert DispositionChange.objects.get(npc__slug="ada-crane").delta == 12
    profile = httpx2.post(
        f"{site['url']}/api/v1/tools/npc_profile",
        headers={"Authorization": f"Bearer {player['text']}"},
        json={"npc_id": "ada-crane"},
        timeout=60,
    )
    assert profile.status_code == 200
    assert "sold the charts" not in profile.text


PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Run the guide's receiver of webhooks; yield its address and the file of what it prints."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    [program] = PYTHON.findall(GUIDE.read_text())
    (tmp_path / "receiver.py").write_text(program.replace("9000", str(port)))
    printed = tmp_path / "printed"
    with printed.open("w") as output:
        command = [sys.executable, str(tmp_path / "receiver.py"), SECRET]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}/", printed
    finally:
        process.kill()
        process.wait()


SECRET = f"whsec_{base64.b64encode(b'a secret of the test, 32 bytes..').decode()}"


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError("The receiver does not listen.")


def test_the_receiver_of_the_guide_believes_signed_messages_alone(
    receiver: tuple[str, Path],
) -> None:
    address, printed = receiver
    now = datetime.now(UTC)
    body = json.dumps({"type": "disposition.created", "data": {"ref": "ada-crane"}})
    headers = {"webhook-id": "m1", "webhook-timestamp": str(int(now.timestamp()))}
    signed = headers | {"webhook-signature": Webhook(SECRET).sign("m1", now, body)}
    forged = headers | {"webhook-signature": "v1,AAAA"}
    assert httpx2.post(address, content=body, headers=forged).status_code == 400
    assert printed.read_text() == ""
    assert httpx2.post(address, content=body, headers=signed).status_code == 204
    assert printed.read_text() == "disposition.created {'ref': 'ada-crane'}\n"
