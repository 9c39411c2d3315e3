"""The language model: structured answers, streamed text and tool calls. Other apps import from this package."""

from retrieval.llm.client import LanguageModel, Reply, ToolCall, get_llm
from retrieval.llm.structured import InvalidAnswer, Way, request_for

__all__ = [
    "get_llm",
    "InvalidAnswer",
    "LanguageModel",
    "Reply",
    "request_for",
    "ToolCall",
    "Way",
]
