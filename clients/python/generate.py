"""Write the parts of the client that follow from the server's OpenAPI document: the models of the
answers, and one method for each tool, async and sync.

    python generate.py openapi.json                 # renew src/memory37_client/generated/
    python generate.py openapi.json --folder DIR    # write elsewhere

Needs datamodel-code-generator.
"""

import argparse
import json
import keyword
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from datamodel_code_generator import DataModelType, InputFileType, PythonVersion, generate
from datamodel_code_generator.format import Formatter

PACKAGE = Path(__file__).resolve().parent / "src" / "memory37_client"
HERE = PACKAGE / "generated"
REFERENCE = "#/components/schemas/"
NOISE = ("title", "examples", "example", "pattern", "maxLength", "minLength", "maximum", "minimum")
"""Members of a schema that would make the models longer or stricter: a client takes what comes."""
PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "Mapping[str, Any]",
}
LINE = 96
ASYNC_MODULES = ("async_client.py", "async_transport.py")
"""Written by hand; their sync forms are made of them."""
SYNC_WORDS = {
    "AsyncIterator": "Iterator",
    "AsyncClient": "SyncClient",
    "httpx2.SyncClient": "httpx2.Client",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncHttpTransport": "SyncHttpTransport",
    "AsyncTransport": "SyncTransport",
    "AsyncTools": "SyncTools",
    "memory37_client.async_transport": "memory37_client.generated.sync_transport",
    "generated.async_tools": "generated.sync_tools",
    "import asyncio": "import time",
    "asyncio.sleep": "time.sleep",
    "async with": "with",
    "async for": "for",
    "async def": "def",
    "await ": "",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "aread": "read",
}
"""What differs between the async and the sync form, replaced in this order."""


@dataclass(frozen=True)
class ToolOperation:
    """A tool as the document describes it."""

    name: str
    description: str
    arguments: dict[str, Any]
    answer: str
    """Name of the answer's model."""


def tool_operations(document: dict[str, Any]) -> Iterator[ToolOperation]:
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        name = path.rsplit("/tools/", 1)[-1]
        operation = methods.get("post", {})
        if operation.get("operationId") != name:
            continue
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
        # What follows the first paragraph is about headers and errors.
        description = operation.get("description", operation["summary"]).split("\n\n")[0]
        arguments = schemas[schema_name(body)]
        yield ToolOperation(name, " ".join(description.split()), arguments, schema_name(answer))


def schema_name(reference: dict[str, str]) -> str:
    return reference["$ref"].removeprefix(REFERENCE)


# --- The models of the answers
def answer_schemas(document: dict[str, Any], tools: list[ToolOperation]) -> dict[str, Any]:
    """Return the schemas that the tools' answers consist of, by their names."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    waiting, found = [tool.answer for tool in tools], {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = without_noise(schemas[name])
            waiting.extend(references(schemas[name]))
    return dict(sorted(found.items()))


def references(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from references(item)
    elif isinstance(node, dict):
        if "$ref" in node:
            yield schema_name(node)
        for item in node.values():
            yield from references(item)


def without_noise(schema: Any) -> Any:
    if isinstance(schema, list):
        return [without_noise(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {key: without_noise(item) for key, item in schema.items() if key not in NOISE}
    if "properties" in schema:  # names of fields are not keywords of JSON Schema
        cleaned["properties"] = {
            name: without_noise(item) for name, item in schema["properties"].items()
        }
        # Answers of servers that are older than the client lack fields.
        cleaned["required"] = [
            name for name in schema.get("required", ()) if not has_default(schema, name)
        ]
    if schema.get("additionalProperties") is False:
        del cleaned["additionalProperties"]
    return cleaned


def has_default(schema: dict[str, Any], name: str) -> bool:
    node = schema["properties"][name]
    return "default" in node or {"type": "null"} in node.get("anyOf", ())


def models_module(schemas: dict[str, Any]) -> str:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "answers", "version": "1"},
        "paths": {},
        "components": {"schemas": schemas},
    }
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "answers.py"
        generate(
            json.dumps(document),
            input_file_type=InputFileType.OpenAPI,
            output=target,
            output_model_type=DataModelType.PydanticV2BaseModel,
            target_python_version=PythonVersion.PY_311,
            base_class="memory37_client.base.OpenModel",
            custom_file_header='"""The answers of the tools. Generated by generate.py."""',
            disable_timestamp=True,
            field_constraints=True,
            ignore_enum_constraints=True,
            strict_nullable=True,
            use_schema_description=True,
            use_field_description=True,
            use_standard_collections=True,
            use_union_operator=True,
            formatters=[Formatter.BUILTIN],
        )
        return target.read_text()


# --- The methods
def methods_module(tools: list[ToolOperation], *, is_async: bool) -> str:
    answers = sorted({tool.answer for tool in tools})
    kind = "async" if is_async else "sync"
    lines = [
        f'"""The tools as {kind} methods. Generated by generate.py."""',
        "",
        "from collections.abc import Mapping, Sequence",
        "from datetime import datetime",
        "from typing import Any, Literal, TypeVar",
        "",
        "from pydantic import BaseModel",
        "",
        "from memory37_client.generated.answers import (",
        *(f"    {answer}," for answer in answers),
        ")",
        "",
        'Answer = TypeVar("Answer", bound=BaseModel)',
        "",
        "",
        f"class {kind.capitalize()}Tools:",
        f"    {prefix(is_async)}def _ask(self, model: type[Answer], tool: str, /, **arguments: Any)"
        " -> Answer:",
        "        raise NotImplementedError",
    ]
    for tool in tools:
        lines += method(tool, is_async=is_async)
    return "\n".join(lines) + "\n"


def prefix(is_async: bool) -> str:
    return "async " if is_async else ""


def method(tool: ToolOperation, *, is_async: bool) -> list[str]:
    names = list(tool.arguments["properties"])
    required = [name for name in names if name in tool.arguments.get("required", ())]
    others = [name for name in names if name not in required]
    # Without required arguments the one that says what is asked comes first.
    first = required or [name for name in others if name in ("term", "query")][:1]
    rest = [name for name in others if name not in first]
    signature = ["self", *(parameter(tool, name) for name in first)]
    if rest:
        signature += ["*", *(parameter(tool, name) for name in rest)]
    wait = "await " if is_async else ""
    return [
        "",
        f"    {prefix(is_async)}def {tool.name}(",
        *(f"        {each}," for each in signature),
        f"    ) -> {tool.answer}:",
        *docstring(tool),
        f"        return {wait}self._ask(",
        f"            {tool.answer},",
        f'            "{tool.name}",',
        *(f"            {python_name(name)}={python_name(name)}," for name in (*first, *rest)),
        "        )",
    ]


def parameter(tool: ToolOperation, name: str) -> str:
    hint = type_of(tool.arguments["properties"][name])
    if name in tool.arguments.get("required", ()):
        return f"{python_name(name)}: {hint}"
    return f"{python_name(name)}: {hint.removesuffix(' | None')} | None = None"


def python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def type_of(schema: dict[str, Any]) -> str:
    """Return the annotation of an argument."""
    if "anyOf" in schema:
        hints = {type_of(each): None for each in schema["anyOf"]}
        return " | ".join(sorted(hints, key=lambda hint: hint == "None"))
    if "$ref" in schema:
        return "Mapping[str, Any]"
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    if schema.get("type") == "array":
        return f"Sequence[{type_of(schema.get('items', {}))}]"
    if schema.get("type") == "null":
        return "None"
    if schema.get("format") == "date-time":
        return "datetime | str"
    return PYTHON_TYPES.get(str(schema.get("type")), "Any")


def docstring(tool: ToolOperation) -> list[str]:
    text = wrap(tool.description, LINE - 8)
    for name, schema in tool.arguments["properties"].items():
        if about := schema.get("description"):
            about = " ".join(about.split())
            line = f"{python_name(name)}: {about}"
            text += ["", *wrap(line, LINE - 8, subsequent_indent="    ")]
    return [
        '        """' + text[0],
        *(f"        {line}".rstrip() for line in text[1:]),
        '        """',
    ]


def sync_module(name: str) -> str:
    """Return the sync form of a module written for async."""
    text = (PACKAGE / name).read_text()
    for word, replacement in SYNC_WORDS.items():
        text = text.replace(word, replacement)
    _title, rest = text.split("\n", 1)
    return f'"""The sync form of {name}. Generated by generate.py."""\n{rest}'


def modules(document: dict[str, Any]) -> dict[str, str]:
    """Return the generated modules by their file names."""
    tools = list(tool_operations(document))
    return {
        "__init__.py": '"""What follows from the OpenAPI document. Generated by generate.py."""\n',
        "answers.py": models_module(answer_schemas(document, tools)),
        "async_tools.py": methods_module(tools, is_async=True),
        "sync_tools.py": methods_module(tools, is_async=False),
        **{name.removeprefix("a"): sync_module(name) for name in ASYNC_MODULES},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "document", type=Path, help="manage.py export_openapi_schema > openapi.json"
    )
    parser.add_argument("--folder", type=Path, default=HERE)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, text in modules(json.loads(options.document.read_text())).items():
        (options.folder / name).write_text(text)


if __name__ == "__main__":
    main()
