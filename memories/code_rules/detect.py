"""Detection of code rules in one change: by its lines in any language, by syntax tree in Python."""

import ast
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from memories.code_rules.match import parse_python
from memories.code_rules.rule import CodeRule, PatternType, RuleCategory
from retrieval.text import common_parts

SIGNS_FILE = Path(__file__).parent / "signs.yaml"
# Line matching takes quadratic time in the worst case, so long files are cut.
MAX_CHARACTERS, MAX_PATTERN_CHARACTERS = 20_000, 2_000


@dataclass(frozen=True)
class Hunk:
    """Lines removed, and the lines added in their place."""

    before: str
    after: str


@dataclass(frozen=True)
class LineSign:
    """A regular expression that the new lines match more often than the old, and the rule shown."""

    name: str
    category: RuleCategory
    description: str
    pattern: re.Pattern[str]

    def is_in(self, hunk: Hunk) -> bool:
        count = self.pattern.findall
        return len(count(hunk.after)) > len(count(hunk.before))


@dataclass(frozen=True)
class SyntaxChange:
    """A construct that the old tree has more often than the new, and the rule shown."""

    name: str
    category: RuleCategory
    description: str
    before: str
    after: str
    is_construct: Callable[[ast.AST], bool]

    def is_in(self, old: ast.AST, new: ast.AST) -> bool:
        counts = [sum(map(self.is_construct, ast.walk(tree))) for tree in (old, new)]
        return counts[0] > counts[1]


def detect_code_rules_from_patch(
    before: str, after: str, *, language: str = "python"
) -> list[CodeRule]:
    """Return the rules that the change from `before` to `after` shows; none for no change. Python
    that does not parse is compared by its lines alone."""
    before, after = before[:MAX_CHARACTERS], after[:MAX_CHARACTERS]
    rules: dict[tuple[str, RuleCategory], CodeRule] = {}
    for hunk in _hunks(before, after):
        for sign in load_signs():
            if sign.is_in(hunk):
                rule = CodeRule(
                    name=sign.name,
                    category=sign.category,
                    description=sign.description,
                    before_pattern=hunk.before,
                    after_pattern=hunk.after,
                    languages=(language,),
                )
                rules.setdefault((rule.name, rule.category), rule)
    # A rule by syntax replaces one by lines: its pattern also matches other names.
    if language == "python":
        rules |= {(rule.name, rule.category): rule for rule in _detect_by_syntax(before, after)}
    return list(rules.values())


@cache
def load_signs() -> list[LineSign]:
    data = yaml.safe_load(SIGNS_FILE.read_text(encoding="utf-8"))
    return [
        LineSign(
            row["name"],
            RuleCategory(category),
            row["description"],
            re.compile(row["pattern"], re.MULTILINE),
        )
        for category, rows in data.items()
        for row in rows
    ]


def _hunks(before: str, after: str) -> list[Hunk]:
    old, new = before.splitlines(), after.splitlines()

    def block(lines: list[str]) -> str:
        return textwrap.dedent("\n".join(lines)).strip("\n")[:MAX_PATTERN_CHARACTERS]

    hunks = []
    i = k = 0
    for part in common_parts(old, new):
        if part.a > i or part.b > k:
            hunks.append(Hunk(block(old[i : part.a]), block(new[k : part.b])))
        i, k = part.a + part.size, part.b + part.size
    return hunks


def _detect_by_syntax(before: str, after: str) -> list[CodeRule]:
    """Compare the syntax trees; empty if one of both does not parse."""
    old, new = (parse_python(textwrap.dedent(code)) for code in (before, after))
    if old is None or new is None:
        return []
    return [
        CodeRule(
            name=change.name,
            category=change.category,
            description=change.description,
            before_pattern=change.before,
            after_pattern=change.after,
            pattern_type=PatternType.AST,
        )
        for change in SYNTAX_CHANGES
        if change.is_in(old, new)
    ]


def is_comparison_with_none(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
    )


def has_mutable_default(node: ast.AST) -> bool:
    mutable = ast.List | ast.Dict | ast.Set
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
        isinstance(default, mutable) for default in node.args.defaults
    )


def is_eval_call(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Name) and function.id in ("eval", "exec")


# In the patterns a name of the form `_x` matches any expression.
SYNTAX_CHANGES = (
    SyntaxChange(
        "None by identity",
        RuleCategory.NULL_SAFETY,
        "Compares with None by `is`.",
        before="_x == None",
        after="_x is None",
        is_construct=is_comparison_with_none,
    ),
    SyntaxChange(
        "no bare except",
        RuleCategory.ERROR_HANDLING,
        "Names the errors that are caught.",
        before="try:\n    _x\nexcept:\n    _y",
        after="try:\n    _x\nexcept ValueError:\n    _y",
        is_construct=lambda node: isinstance(node, ast.ExceptHandler) and node.type is None,
    ),
    SyntaxChange(
        "no mutable default",
        RuleCategory.ERROR_HANDLING,
        "A default that is not shared between calls.",
        before="[]",
        after="None",
        is_construct=has_mutable_default,
    ),
    SyntaxChange(
        "no eval",
        RuleCategory.SECURITY,
        "Runs no code from data.",
        before="eval(_x)",
        after="ast.literal_eval(_x)",
        is_construct=is_eval_call,
    ),
)
