"""Every operation of the document, walked through in the order of an engine's day: what is read has
an `ETag` and is not sent twice, and no row is changed that has changed since it was read."""

from typing import Any

import pytest
from django.db import transaction

from memory_site.api_reference.headers import NO_IF_MATCH
from memory_site.openapi import operations
from tests.api_document import api_document
from tests.memory_site.api.day.run import Call, Day
from tests.memory_site.api.test_whole_day import STEPS, addresses_in

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(480)]
NO_ETAG = {"vault_export": "it is made anew for each request"}
"""Reads whose answers have no tag, and why."""
STALE = '"read-long-ago"'


class WalkingDay(Day):
    """Sends each call with a stale tag, without any effect, before it is carried out; and repeats
    each read with the tag of its answer."""

    def __init__(self, addresses: dict[str, tuple[str, str]]) -> None:
        super().__init__(addresses)
        self.wrong: dict[str, str] = {}

    def send(self, step: Call) -> None:
        method, address = self.addresses[step.operation]
        if method == "GET":
            super().send(step)
            if step.operation not in NO_ETAG:
                self.check_read(step)
            return
        if changes_a_row(method, address) and step.operation not in NO_IF_MATCH:
            self.check_write(step)
        super().send(step)

    def check_read(self, step: Call) -> None:
        first = self.ask(step)
        again = self.ask(step, **{"If-None-Match": first.get("ETag", "none")})
        if again.status_code != 304 or b"".join(again):
            self.wrong[step.operation] = f"{again.status_code} with ETag {first.get('ETag')}"

    def check_write(self, step: Call) -> None:
        with transaction.atomic():
            answer = self.ask(step, **{"If-Match": STALE})
            transaction.set_rollback(True)
        if answer.status_code != 412:
            self.wrong[step.operation] = f"{answer.status_code} with a stale If-Match"


def changes_a_row(method: str, address: str) -> bool:
    """Whether the address names a row, or the body of a PUT does."""
    return method != "POST" or "{" in address


def test_reads_have_tags_and_stale_writes_are_refused() -> None:
    document: dict[str, Any] = api_document()
    day = WalkingDay(addresses_in(document))
    day.carry_out(STEPS)
    assert day.wrong == {}


def test_the_document_offers_if_match_where_it_is_heeded() -> None:
    document: dict[str, Any] = api_document()
    reference = {"$ref": "#/components/parameters/If-Match"}
    offered = {
        operation["operationId"]
        for _method, _path, operation in operations(document)
        if reference in operation["parameters"]
    }
    assert not offered & set(NO_IF_MATCH)
    heeding = {
        operation["operationId"]
        for method, path, operation in operations(document)
        if method != "GET" and changes_a_row(method, path)
    }
    assert heeding - set(NO_IF_MATCH) == offered
