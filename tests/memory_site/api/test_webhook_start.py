"""Where a webhook begins: after an event of the log."""

from uuid import uuid4

import pytest

from memory_site.api import api
from tests.conftest import ApiClient
from worlds.models import World

pytestmark = pytest.mark.django_db


def test_an_event_that_is_not_in_the_log_is_refused_as_documented(world: World) -> None:
    admin = ApiClient(world, scopes=["admin"])
    url = "https://engine.example.org/hooks"
    entry = {"name": "engine", "url": url, "audience": "gm", "since": str(uuid4())}
    status, problem = admin.post("world/webhooks", entry)
    assert (status, problem["code"]) == (410, "events_gone")
    document = dict(api.get_openapi_schema())
    answer = document["paths"]["/api/v1/world/webhooks"]["post"]["responses"][410]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
    assert "`events_gone`" in str(answer)
