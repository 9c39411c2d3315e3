"""Any server with the usual `/rerank` API: Cohere, Jina, vLLM, text-embeddings-inference."""

import os
from collections.abc import Sequence
from functools import lru_cache

import httpx
from django.conf import settings
from pydantic import BaseModel, Field, ValidationError

from retrieval.errors import RerankerDown

KEEP_SECONDS = 4.0
"""How long an unused connection stays open: less than the 5 seconds after which common servers
close it, so that no request is sent on one that is just being closed."""


class _Scored(BaseModel):
    index: int = Field(ge=0)
    relevance_score: float = Field(allow_inf_nan=False)


class _Answer(BaseModel):
    results: list[_Scored]


class HostedReranker:
    """`RERANK_MODEL` on `RERANK_URL` (the address before `/rerank`)."""

    @property
    def name(self) -> str:
        return str(settings.RERANK_MODEL)

    def knows(self, query: str) -> bool:  # noqa: ARG002 - hosted models know many languages
        return True

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> list[float] | None:
        body = {"model": self.name, "query": query, "documents": list(texts), "top_n": len(texts)}
        key = settings.RERANK_API_KEY
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        address = settings.RERANK_URL.rstrip("/") + "/rerank"
        try:
            response = _client(os.getpid()).post(
                address, json=body, headers=headers, timeout=seconds
            )
            response.raise_for_status()
            answer = _Answer.model_validate_json(response.content)
        except httpx.TimeoutException:
            return None
        except (httpx.HTTPError, httpx.InvalidURL, ValidationError) as error:
            raise RerankerDown(f"{self.name} cannot re-rank: {error}"[:300]) from error
        scores = {row.index: row.relevance_score for row in answer.results}
        if set(scores) != set(range(len(texts))):
            raise RerankerDown(f"{self.name} scored other documents than it was sent.")
        return [scores[number] for number in range(len(texts))]


@lru_cache(maxsize=1)
def _client(_pid: int) -> httpx.Client:
    """Return the client of this process: a forked child must not share its parent's sockets. A new
    one for each call would read all certificates again (about 30 ms) and open a new connection."""
    return httpx.Client(limits=httpx.Limits(keepalive_expiry=KEEP_SECONDS))
