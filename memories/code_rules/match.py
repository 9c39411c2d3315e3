"""Matching a rule's pattern in code: literally, by regular expression, or by syntax tree."""

import ast

import regex

from memories.code_rules.rule import CodeRule, PatternType
from retrieval.errors import Invalid

REGEX_TIMEOUT_SECONDS = 0.25
MAX_CODE_CHARACTERS = 200_000


class PatternTooSlow(Invalid):
    code, title = "pattern_too_slow", "The rule's regular expression takes too long"


def matches(rule: CodeRule, code: str) -> bool:
    """Whether the rule's pattern occurs in `code`. Raise `Invalid` for too much code or an invalid
    pattern, `PatternTooSlow` for a regular expression that backtracks too long."""
    if len(code) > MAX_CODE_CHARACTERS:
        raise Invalid(f"{len(code)} characters of code; at most {MAX_CODE_CHARACTERS} are matched.")
    if rule.pattern_type is PatternType.REGEX:
        return _matches_regex(rule.before_pattern, code)
    if rule.pattern_type is PatternType.AST:
        return _matches_tree(rule.before_pattern, code)
    return bool(rule.before_pattern.strip()) and rule.before_pattern in code


def _matches_regex(pattern: str, code: str) -> bool:
    try:
        # The `regex` package, because the standard library cannot stop a search.
        return regex.search(pattern, code, timeout=REGEX_TIMEOUT_SECONDS) is not None
    except TimeoutError:
        raise PatternTooSlow(
            f"No result after {REGEX_TIMEOUT_SECONDS} s: write it without nested repeats."
        ) from None
    except regex.error as error:
        raise Invalid(f"This is not a regular expression: {error}.") from None


def _matches_tree(pattern: str, code: str) -> bool:
    """`pattern` is Python in which names of the form `_x` match any expression."""
    pattern_tree, tree = parse_python(pattern), parse_python(code)
    if pattern_tree is None:
        raise Invalid("The rule's pattern is not Python.")
    shape: ast.AST = pattern_tree.body[0] if pattern_tree.body else pattern_tree
    # `_x == None` parses as a statement; in the code it is an expression inside one.
    shape = shape.value if isinstance(shape, ast.Expr) else shape
    return tree is not None and any(has_shape(node, shape) for node in ast.walk(tree))


def has_shape(node: object, shape: object) -> bool:
    if isinstance(shape, ast.Name) and shape.id.startswith("_"):
        return isinstance(node, ast.expr)
    if isinstance(shape, ast.AST):
        # `ctx` tells reading from assignment, which no pattern is about.
        return type(shape) is type(node) and all(
            has_shape(getattr(node, name, None), getattr(shape, name, None))
            for name in shape._fields
            if name != "ctx"
        )
    if isinstance(shape, list):
        return (
            isinstance(node, list) and len(shape) == len(node) and all(map(has_shape, node, shape))
        )
    return shape == node


def parse_python(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    # Deep nesting ends in RecursionError or MemoryError, a NUL in ValueError.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
