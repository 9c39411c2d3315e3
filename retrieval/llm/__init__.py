"""The language model: structured answers, streamed text and tool calls. Other apps import from this
package."""

from retrieval.llm.client import LanguageModel, Reply, RequestedCall, get_llm
from retrieval.llm.structured import AnswerFormat, InvalidAnswer, request_for

__all__ = [
    "AnswerFormat",
    "InvalidAnswer",
    "LanguageModel",
    "Reply",
    "RequestedCall",
    "get_llm",
    "request_for",
]
