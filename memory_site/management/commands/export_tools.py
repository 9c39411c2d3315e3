"""`manage.py export_tools --format openai|mcp --profile scene`: print the tools' contracts."""

import json
from argparse import ArgumentParser
from typing import Any

import yaml
from django.core.management.base import BaseCommand

from memory_site.mcp import to_mcp_tool
from memory_site.openai_schemas import Form, function_schema
from memory_site.toolbox import TOOLS, Profile


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
        profile, form = options["profile"], Form(options["form"])
        tools = [tool for tool in TOOLS if profile is None or profile in tool.profiles]
        if options["format"] == "mcp":
            contracts = [
                to_mcp_tool(tool).model_dump(mode="json", by_alias=True, exclude_none=True)
                for tool in tools
            ]
        else:
            contracts = [function_schema(tool, form) for tool in tools]
        if options["yaml"]:
            self.stdout.write(yaml.safe_dump(contracts, sort_keys=False, allow_unicode=True))
        else:
            self.stdout.write(json.dumps(contracts, indent=2, ensure_ascii=False))
