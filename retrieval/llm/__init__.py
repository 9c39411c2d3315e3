"""The language model: structured answers. Other apps import from this package."""

from retrieval.llm.client import LanguageModel, get_llm
from retrieval.llm.structured import AnswerFormat, InvalidAnswer, request_for

__all__ = ["AnswerFormat", "InvalidAnswer", "LanguageModel", "get_llm", "request_for"]
