"""Re-rankers: models that read a question and a passage together and say how well they fit."""

from retrieval.rerankers.base import Reranker, get_reranker

__all__ = ["Reranker", "get_reranker"]
