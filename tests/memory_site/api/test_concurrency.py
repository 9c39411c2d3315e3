"""The same write at the same moment, many times over: it happens once, and everybody hears
something true.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from knowledge.models import Lore
from worlds.models import Reveal

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(120)]


def test_concurrent_replays_write_once(site: dict[str, Any]) -> None:
    headers = {"Authorization": f"Bearer {site['key']}", "Idempotency-Key": "all-at-once"}
    entry = {"title": "Eel Market", "slug": "eel-market", "body": "Eels.", "status": "published"}
    httpx2.put(
        f"{site['url']}/api/v1/world/lore",
        json=entry,
        headers={"X-API-Key": site["key"]},
        timeout=60,
    )
    body = {
        "kind": "lore",
        "id": str(Lore.objects.get(slug="eel-market").pk),
        "audience": "npc:odo",
    }

    def send(_number: int) -> httpx2.Response:
        return httpx2.post(
            f"{site['url']}/api/v1/world/reveals", json=body, headers=headers, timeout=60
        )

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    done = [answer for answer in answers if answer.status_code == 201]
    assert len({answer.text for answer in done}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in done) == 1
    assert Reveal.objects.filter(audience="npc:odo").count() == 1
    for answer in answers:
        assert answer.status_code == 201 or answer.json()["code"] == "idempotency_in_flight"
