"""The OpenAPI document, as those who generate clients from it read it."""

from typing import Any

import pytest

from memory_site.api import api
from memory_site.api_reference.schema_names import NAMES, PREFIX, schema_name, walk


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(api.get_openapi_schema())


def test_every_schema_has_a_name_that_says_what_it_is(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert not [name for name in schemas if name.endswith(("Out", "In", "Ask")) or name[-1] in "23"]
    references = {node["$ref"] for node in walk(document) if "$ref" in node}
    names = {each.removeprefix(PREFIX) for each in references if each.startswith(PREFIX)}
    assert names <= set(schemas)
    assert set(NAMES.values()) <= set(schemas), "a name that no schema has"


def test_a_schema_without_a_name_for_clients_is_refused() -> None:
    assert schema_name("CampaignOut") == "Campaign"
    with pytest.raises(ValueError, match="Give BargeIn a name"):
        schema_name("BargeIn")
