"""Examples of bodies and answers: what one small world said on an engine's day. The file is written
by `pytest tests/memory_site/api/test_whole_day.py --write-examples`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("examples.json")


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return `body` and `answer` by the operation's id."""
    stored: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return stored


def add_examples(operation: dict[str, Any]) -> None:
    example = examples().get(operation["operationId"], {})
    for content in operation.get("requestBody", {}).get("content", {}).values():
        if example.get("body") is not None:
            content["example"] = example["body"]
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json")
        if content is not None and int(status) < 300 and "answer" in example:
            content["example"] = example["answer"]
