"""Where a rule's pattern stands in code: literally, by regular expression (with a time limit), or by syntax tree."""

import ast

import regex

from memories.code_rules.rule import CodeRule, PatternType
from retrieval.errors import Invalid

SECONDS = 0.25
LONGEST_CODE = 200_000


class PatternTooSlow(Invalid):
    code, title = "pattern_too_slow", "The rule's regular expression takes too long"


def matches(rule: CodeRule, code: str) -> bool:
    """Whether the rule has something to say about `code`. Raise `Invalid` for a pattern that is none or explodes."""
    if len(code) > LONGEST_CODE:
        raise Invalid(f"{len(code)} characters of code; at most {LONGEST_CODE} are looked at.")
    if rule.pattern_type is PatternType.REGEX:
        return _found(rule.before_pattern, code)
    if rule.pattern_type is PatternType.AST:
        return _has_shape(rule.before_pattern, code)
    return bool(rule.before_pattern.strip()) and rule.before_pattern in code


def _found(pattern: str, code: str) -> bool:
    try:
        return regex.search(pattern, code, timeout=SECONDS) is not None
    except TimeoutError:
        raise PatternTooSlow(
            f"It ran for {SECONDS} s without an answer: write it without nested repeats."
        ) from None
    except regex.error as error:
        raise Invalid(f"This is not a regular expression: {error}.") from None


def _has_shape(pattern: str, code: str) -> bool:
    """`pattern` is code in which names of the form `_x` stand for any expression."""
    wanted = _tree(pattern)
    if wanted is None:
        raise Invalid("The rule's pattern is not Python.")
    tree = _tree(code)
    shape = _single(wanted)
    return tree is not None and any(_same(shape, node) for node in ast.walk(tree))


def _tree(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _single(tree: ast.Module) -> ast.AST:
    first: ast.AST = tree.body[0] if tree.body else tree
    return first.value if isinstance(first, ast.Expr) else first


def _same(shape: object, node: object) -> bool:
    if isinstance(shape, ast.Name) and shape.id.startswith("_"):
        return isinstance(node, ast.expr)
    if isinstance(shape, ast.AST):
        return type(shape) is type(node) and all(
            _same(getattr(shape, name, None), getattr(node, name, None))
            for name in shape._fields
            if name != "ctx"
        )
    if isinstance(shape, list):
        return isinstance(node, list) and len(shape) == len(node) and all(map(_same, shape, node))
    return shape == node
