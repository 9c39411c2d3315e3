"""The admin of memories: lists, one memory with its history, and the pages of a namespace."""

import pytest
from django.test import Client
from django.urls import reverse

from memories import core
from memories.admin_pages import PAGES, Page
from memories.curation import edits
from memories.models import Namespace
from tests.memories.conftest import remember

pytestmark = pytest.mark.django_db


def test_a_memory_is_shown_with_its_observations_links_and_states(
    mira: Namespace, admin_client: Client
) -> None:
    (memory_id,) = remember(mira, "The ferry leaves at dawn.").ids
    newer = edits.edit(mira, memory_id, "The ferry leaves at noon.", by="tobin", reason="a slip")
    url = reverse("admin:memories_memoryitem_change", args=[newer.pk])
    page = admin_client.get(url).content.decode()
    assert "The ferry leaves at dawn." in page
    assert f"{newer.created_at:%Y-%m-%d %H:%M}" in page


@pytest.mark.parametrize("model", ["memoryitem", "observation", "message", "erasurereceipt"])
def test_the_lists_open(mira: Namespace, admin_client: Client, model: str) -> None:
    remember(mira, "The ferry leaves at dawn.")
    assert admin_client.get(reverse(f"admin:memories_{model}_changelist")).status_code == 200


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.slug)
def test_the_pages_of_a_namespace_open(mira: Namespace, admin_client: Client, page: Page) -> None:
    core.write_by_hand(mira, "# SOUL\n\n# TOOLS\n\n# RULE\n\n# USER\n- Likes tea.\n", reason="")
    url = reverse(f"admin:{page.url_name}", args=[mira.pk])
    assert mira.name in admin_client.get(url).content.decode()
