"""An embedder that takes a second for each call, as a local model does for long texts."""

import time

from retrieval.embedders import HashingEmbedder, Vectors


class SlowEmbedder(HashingEmbedder):
    name = "slow@256"
    texts_per_call = 8

    def embed_document(self, texts: list[str]) -> Vectors:
        time.sleep(1)
        return super().embed_document(texts)
