"""The language model: structured answers. Other apps import from this package."""

from retrieval.llm.allowance import AllowanceSpent
from retrieval.llm.material import in_tags, split_long_text, windows_of_items
from retrieval.llm.purpose_model import PurposeModel, get_llm
from retrieval.llm.purposes import Purpose
from retrieval.llm.structured import AnswerFormat, InvalidAnswer, request_for
from retrieval.llm.time_budget import TimeBudget

__all__ = [
    "AllowanceSpent",
    "AnswerFormat",
    "InvalidAnswer",
    "Purpose",
    "PurposeModel",
    "TimeBudget",
    "get_llm",
    "in_tags",
    "request_for",
    "split_long_text",
    "windows_of_items",
]
