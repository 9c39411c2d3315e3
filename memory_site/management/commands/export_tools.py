"""`manage.py export_tools --format openai|mcp --profile scene`: the tools' contracts, as JSON or
YAML.
"""

import json
from argparse import ArgumentParser
from typing import Any

import yaml
from django.core.management.base import BaseCommand

from memory_site.mcp import to_mcp_tool
from memory_site.openai_schemas import Form, function_schema
from memory_site.toolbox import TOOLS, Profile, Tool


class Command(BaseCommand):
    help = "Print the tools as OpenAI function schemas or as an MCP tool list."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["openai", "mcp"], default="openai")
        parser.add_argument(
            "--profile", choices=list(Profile), help="Only the tools of this profile."
        )
        parser.add_argument(
            "--form", choices=list(Form), default=Form.RESPONSES, help="For openai: which API."
        )
        parser.add_argument("--yaml", action="store_true", help="YAML instead of JSON.")

    def handle(self, *_args: Any, **options: Any) -> None:
        chosen = [
            tool
            for tool in TOOLS
            if options["profile"] is None or options["profile"] in tool.profiles
        ]
        contracts = [_contract(tool, options["format"], Form(options["form"])) for tool in chosen]
        if options["yaml"]:
            self.stdout.write(yaml.safe_dump(contracts, sort_keys=False, allow_unicode=True))
        else:
            self.stdout.write(json.dumps(contracts, indent=2, ensure_ascii=False))


def _contract(tool: Tool, wanted: str, form: Form) -> dict[str, Any]:
    if wanted == "mcp":
        return to_mcp_tool(tool).model_dump(mode="json", by_alias=True, exclude_none=True)
    return function_schema(tool, form)
