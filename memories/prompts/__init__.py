"""Prompts for language models: the texts are Markdown files in this folder, this module inserts the
input.

Every input is one `- ` line between tags. Line breaks inside it become spaces and its tags are
escaped, so that no input can close its block or pose as an instruction.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
TAGS = (
    "raw_input",
    "related_memories",
    "new_contents",
    "current_core_markdown",
    "candidate_new_memories",
    "asked_question",
    "found_memories",
)
TAG = re.compile(rf"<(/?\s*(?:{'|'.join(TAGS)})\s*)>", re.IGNORECASE)
ESCAPED_TAG = re.compile(rf"‹(/?\s*(?:{'|'.join(TAGS)})\s*)›", re.IGNORECASE)
NO_LINES = "- (none)"


@dataclass(frozen=True)
class Prompt:
    system: str
    user: str


@cache
def load_text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def fill_template(name: str, **blocks: str) -> str:
    # One pass: a `{name}` inside an inserted block is not replaced again.
    return re.sub(r"\{(\w+)\}", lambda match: blocks[match[1]], load_text(name))


def single_block_prompt(name: str, texts: list[str]) -> Prompt:
    """Return the prompt `name` with `texts` as the lines of its only block."""
    return Prompt(load_text(name), fill_template(f"{name}_task", raw_input=list_lines(texts)))


def split_prompt(raw: str) -> Prompt:
    return single_block_prompt("split", [raw])


def reconstruction_prompt(*, related: list[str], contents: list[str]) -> Prompt:
    blocks = {"related_memories": list_lines(related), "new_contents": list_lines(contents)}
    return Prompt(load_text("reconstruct"), fill_template("reconstruct_task", **blocks))


def refinement_prompt(first: Prompt) -> Prompt:
    return Prompt(first.system, f"{first.user}\n\n{load_text('refine_task')}")


def core_prompt(*, core: str, memories: list[str]) -> Prompt:
    blocks = {
        "current_core_markdown": escape_tags(core),
        "candidate_new_memories": list_lines(memories),
    }
    return Prompt(load_text("core"), fill_template("core_task", **blocks))


def check_prompt(question: str, memories: list[str]) -> Prompt:
    """Return the prompt that asks which of `memories`, numbered from 1, answers `question`."""
    lines = (f"{number}. {one_line(text)}" for number, text in enumerate(memories, start=1))
    blocks = {"asked_question": one_line(question), "found_memories": "\n".join(lines) or NO_LINES}
    return Prompt(load_text("check"), fill_template("check_task", **blocks))


def list_lines(texts: list[str]) -> str:
    return "\n".join(f"- {one_line(text)}" for text in texts) or NO_LINES


def one_line(text: str) -> str:
    return escape_tags(" ".join(text.split()))


def escape_tags(text: str) -> str:
    return TAG.sub(r"‹\1›", text)


def unescape_tags(text: str) -> str:
    """Undo `escape_tags` in a model's answer, so that the stored text has the original tags."""
    return ESCAPED_TAG.sub(r"<\1>", text)
