"""Rules learned from changes of code: detected in patches, reinforced by what came of them."""

from memories.code_rules.detect import detect_code_rules_from_patch
from memories.code_rules.rule import (
    CodeRule,
    cleanup_weak_rules,
    merge_duplicate_rules,
    reinforce_rule,
)

__all__ = [
    "CodeRule",
    "cleanup_weak_rules",
    "detect_code_rules_from_patch",
    "merge_duplicate_rules",
    "reinforce_rule",
]
