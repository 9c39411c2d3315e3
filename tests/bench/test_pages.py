"""The pages that `bench.pages` measures do not read more in a larger world."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench.pages import addresses, build_world

# It commits, because a search reads word statistics that are counted after the commit.
pytestmark = pytest.mark.django_db(transaction=True)


def test_no_page_takes_more_queries_in_a_larger_world(client: Client) -> None:
    client.force_login(User.objects.create_superuser("bench"))
    build_world("few", entries=24, npcs=8)
    few = query_counts(client, "few")
    build_world("many", entries=96, npcs=32)
    many = query_counts(client, "many")
    assert {name: (few[name], many[name]) for name in few if many[name] > few[name]} == {}


def query_counts(client: Client, world: str) -> dict[str, int]:
    counts = {}
    for name, address in addresses(world).items():
        # The first request fills caches.
        assert client.get(address).status_code == 200, address
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        counts[name] = len(queries)
    return counts
