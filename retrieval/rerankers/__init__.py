"""Re-rankers: models that read a question and a passage together and say how well they fit."""

from retrieval.rerankers.base import BUILT_IN, Reranker, get_reranker, reranker_path

__all__ = ["BUILT_IN", "Reranker", "get_reranker", "reranker_path"]
