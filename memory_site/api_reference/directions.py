"""What a schema says differently about what is sent and what is answered.

Some generators of types take `default` to mean "always there". Of an answer that is true, and
said with `required`, which all generators know. Of what is sent it is wrong: there the default is
said in words.
"""

from typing import Any

from memory_site.api_reference.schema_names import reachable_schemas


def apply_directions(document: dict[str, Any]) -> None:
    """Describe the schemas of `document` as those who send or read them need it. One that is both
    sent and answered counts as sent."""
    schemas = document["components"]["schemas"]
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    sent = reachable_schemas([each.get("requestBody") for each in operations], schemas)
    for name, schema in schemas.items():
        if name in sent:
            say_defaults_in_words(schema)
        elif "properties" in schema:
            schema["required"] = list(schema["properties"])


def say_defaults_in_words(schema: dict[str, Any]) -> None:
    for name, node in schema.get("properties", {}).items():
        if name in schema.get("required", ()) or "default" not in node:
            continue
        default = node.pop("default")
        words = node.get("description", "")
        is_told = "default" in words.lower() or not isinstance(default, (str, int, float))
        if default not in ("", None) and not is_told:
            value = str(default).lower() if isinstance(default, bool) else default
            node["description"] = f"{words} Default: `{value}`.".strip()
