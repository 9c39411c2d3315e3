"""Rules seen in one change of code: what the new lines do that the old did not."""

import ast
import difflib
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from memories.code_rules.rule import CodeRule, PatternType, RuleCategory

MOST_CHARACTERS = 20_000
LONGEST_PATTERN = 2_000


@dataclass(frozen=True)
class Hunk:
    """Lines that went and lines that came in their place."""

    before: str
    after: str


@dataclass(frozen=True)
class LineSign:
    """A regular expression that the new lines match more often than the old, and what that means."""

    name: str
    category: RuleCategory
    description: str
    pattern: str


SIGNS = (
    LineSign(
        "check for None",
        RuleCategory.NULL_SAFETY,
        "Checks for nothing before use.",
        r"\bis (not )?None\b|\bif not \w+:|\bOptional\[|\?\.|\?\?|!== ?(null|undefined)|!= ?null",
    ),
    LineSign(
        "safe lookup",
        RuleCategory.NULL_SAFETY,
        "Asks a mapping with a default.",
        r"\.get\(|\bgetattr\(\w+, [^,]+, ",
    ),
    LineSign(
        "catch errors",
        RuleCategory.ERROR_HANDLING,
        "Handles the error where it can arise.",
        r"\bexcept\b|\bcatch\b",
    ),
    LineSign(
        "name the error", RuleCategory.ERROR_HANDLING, "Catches a named error.", r"\bexcept \(?\w+"
    ),
    LineSign(
        "raise early",
        RuleCategory.ERROR_HANDLING,
        "Refuses wrong input.",
        r"\braise \w+|\bthrow new\b",
    ),
    LineSign(
        "close what was opened",
        RuleCategory.ERROR_HANDLING,
        "Uses a context manager.",
        r"^\s*(async )?with\b",
    ),
    LineSign(
        "comprehension",
        RuleCategory.PERFORMANCE,
        "Builds in one expression.",
        r"[\[{(].+ for .+ in .+[\]})]",
    ),
    LineSign("cache", RuleCategory.PERFORMANCE, "Keeps results.", r"@(functools\.)?(lru_)?cache\b"),
    LineSign(
        "set lookup", RuleCategory.PERFORMANCE, "Looks up in a set.", r"\b(frozen)?set\(| in \{"
    ),
    LineSign(
        "fetch together",
        RuleCategory.PERFORMANCE,
        "Fewer queries.",
        r"select_related|prefetch_related|bulk_create",
    ),
    LineSign(
        "type hints", RuleCategory.READABILITY, "Says the types.", r"def \w+\(.*:\s*\w+.*\)|-> ?\w+"
    ),
    LineSign("docstring", RuleCategory.READABILITY, "Explains itself.", r"\"\"\"|'''"),
    LineSign("f-string", RuleCategory.READABILITY, "Formats in place.", r"\bf[\"']"),
    LineSign(
        "named constant", RuleCategory.READABILITY, "Names a number.", r"^[A-Z][A-Z0-9_]{2,}\s*="
    ),
    LineSign(
        "parameters for SQL",
        RuleCategory.SECURITY,
        "Keeps values out of the statement.",
        r"execute\([^,]*%s[^,]*,|execute\([^,]*\?[^,]*,|%\(\w+\)s",
    ),
    LineSign(
        "safe loader",
        RuleCategory.SECURITY,
        "Loads without running code.",
        r"safe_load|literal_eval|json\.loads",
    ),
    LineSign(
        "no shell",
        RuleCategory.SECURITY,
        "Runs a program without a shell.",
        r"shlex\.quote|shell=False|run\(\[",
    ),
    LineSign(
        "secret from outside",
        RuleCategory.SECURITY,
        "Takes secrets from the environment.",
        r"environ|getenv|secrets\.",
    ),
)


def detect_code_rules_from_patch(
    before: str, after: str, *, language: str = "python"
) -> list[CodeRule]:
    """Return the rules seen in the change. Code that does not parse is compared by lines alone; no change, no rules."""
    before, after = before[:MOST_CHARACTERS], after[:MOST_CHARACTERS]
    found: dict[tuple[str, RuleCategory], CodeRule] = {}
    for hunk in hunks(before, after):
        for sign in SIGNS:
            if _more(sign.pattern, hunk):
                rule = _rule(sign.name, sign.category, sign.description, hunk, language)
                found.setdefault((rule.name, rule.category), rule)
    for rule in _by_syntax(before, after) if language == "python" else []:
        found[rule.name, rule.category] = rule
    return list(found.values())


def hunks(before: str, after: str) -> list[Hunk]:
    old, new = before.splitlines(), after.splitlines()
    steps = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    return [
        Hunk(_block(old[one:two]), _block(new[three:four]))
        for kind, one, two, three, four in steps
        if kind != "equal"
    ]


def _block(lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines)).strip("\n")[:LONGEST_PATTERN]


def _more(pattern: str, hunk: Hunk) -> bool:
    count = re.compile(pattern, re.MULTILINE).findall
    return len(count(hunk.after)) > len(count(hunk.before))


def _rule(
    name: str, category: RuleCategory, description: str, hunk: Hunk, language: str
) -> CodeRule:
    return CodeRule(
        name=name,
        category=category,
        description=description,
        before_pattern=hunk.before,
        after_pattern=hunk.after,
        languages=(language,),
    )


def _by_syntax(before: str, after: str) -> list[CodeRule]:
    """Changes of shape, for Python that parses: the pattern then is the tree, and finds the same shape elsewhere."""
    old, new = _parsed(before), _parsed(after)
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
        for change in CHANGES
        if change.count(old) > change.count(new)
    ]


@dataclass(frozen=True)
class SyntaxChange:
    """Something that stands in the old tree more often than in the new."""

    name: str
    category: RuleCategory
    description: str
    before: str
    after: str
    is_it: Callable[[ast.AST], bool]

    def count(self, tree: ast.AST) -> int:
        return sum(self.is_it(node) for node in ast.walk(tree))


def _compares_with_none(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
    )


def _is_bare_except(node: ast.AST) -> bool:
    return isinstance(node, ast.ExceptHandler) and node.type is None


def _has_mutable_default(node: ast.AST) -> bool:
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, functions) and any(
        isinstance(default, ast.List | ast.Dict | ast.Set) for default in node.args.defaults
    )


def _calls_eval(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("eval", "exec")
    )


CHANGES = (
    SyntaxChange(
        "None by identity",
        RuleCategory.NULL_SAFETY,
        "Compares with None by `is`.",
        "_x == None",
        "_x is None",
        _compares_with_none,
    ),
    SyntaxChange(
        "no bare except",
        RuleCategory.ERROR_HANDLING,
        "Names the errors that are caught.",
        "try:\n    _x\nexcept:\n    _y",
        "try:\n    _x\nexcept ValueError:\n    _y",
        _is_bare_except,
    ),
    SyntaxChange(
        "no mutable default",
        RuleCategory.ERROR_HANDLING,
        "A default that is not shared between calls.",
        "[]",
        "None",
        _has_mutable_default,
    ),
    SyntaxChange(
        "no eval",
        RuleCategory.SECURITY,
        "Runs no code from data.",
        "eval(_x)",
        "ast.literal_eval(_x)",
        _calls_eval,
    ),
)


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(textwrap.dedent(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
