"""The prompts: files for the words, this module for the boundaries.

Every piece of input is one `- ` line between tags. Line breaks inside it become spaces, and a tag inside it is made
harmless, so that no content can end its block or pose as an instruction.
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
NONE = "- (none)"


@dataclass(frozen=True)
class Prompt:
    system: str
    user: str


@cache
def load_text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def split_prompt(raw: str) -> Prompt:
    return Prompt(load_text("split"), fill_template("split_task", raw_input=_lines([raw])))


def reconstruction_prompt(*, related: list[str], contents: list[str]) -> Prompt:
    user = fill_template(
        "reconstruct_task", related_memories=_lines(related), new_contents=_lines(contents)
    )
    return Prompt(load_text("reconstruct"), user)


def refinement_prompt(first: Prompt) -> Prompt:
    return Prompt(first.system, f"{first.user}\n\n{load_text('refine_task')}")


def core_prompt(*, core: str, memories: list[str]) -> Prompt:
    user = fill_template(
        "core_task",
        current_core_markdown=escape_tags(core),
        candidate_new_memories=_lines(memories),
    )
    return Prompt(load_text("core"), user)


def check_prompt(question: str, memories: list[str]) -> Prompt:
    """`memories` are numbered from 1."""
    numbered = "\n".join(
        f"{number}. {_line(text)}" for number, text in enumerate(memories, start=1)
    )
    return Prompt(
        load_text("check"),
        fill_template(
            "check_task", asked_question=_line(question), found_memories=numbered or NONE
        ),
    )


def prompt(name: str, texts: list[str]) -> Prompt:
    """A prompt of one block of input: the words of `name`, with `texts` as its lines."""
    return Prompt(load_text(name), fill_template(f"{name}_task", raw_input=_lines(texts)))


def escape_tags(text: str) -> str:
    return TAG.sub(r"‹\1›", text)


def unescape_tags(text: str) -> str:
    """Undo `escape_tags` in a model's answer, so that what is stored is what was said."""
    return ESCAPED_TAG.sub(r"<\1>", text)


def _lines(texts: list[str]) -> str:
    return "\n".join(f"- {_line(text)}" for text in texts) or NONE


def _line(text: str) -> str:
    return escape_tags(" ".join(text.split()))


def fill_template(name: str, **blocks: str) -> str:
    filled = load_text(name)
    return re.sub(r"\{(\w+)\}", lambda match: blocks[match[1]], filled)
