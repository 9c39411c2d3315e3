"""YAML front matter of a Markdown text."""

import re
from typing import Any

import yaml

from retrieval.errors import Invalid

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few lines of them can stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Take YAML front matter off `text`; what is not a YAML object stays in the text."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    try:
        fields = yaml.load(match[1] or "", Loader=_PlainLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise Invalid(
            f"The front matter is not YAML: {(str(problem) or 'too deep').splitlines()[0]}."
        ) from problem
    if not isinstance(fields, dict):
        return {}, text
    return {str(key): value for key, value in fields.items()}, text[match.end() :]
