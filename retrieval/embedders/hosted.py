"""Any OpenAI-compatible embedding server, through the official client.

Calls for documents wait out a full quota or a restart; calls for a query give up soon, because search goes on by words.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import openai
from django.conf import settings

from retrieval.embedders.base import Vectors
from retrieval.embedders.telemetry import embedding
from retrieval.embedders.vectors import trusted_rows
from retrieval.errors import EmbedderDown
from retrieval.provider import Pace, connect, described, limit, patiently
from retrieval.text import encodable

MAX_TEXTS, MAX_TOKENS = 256, 100_000  # of one call; the provider's own limits are 2048 and 300,000
MAX_TEXT_TOKENS = 8000
BYTES_PER_TOKEN = 2.5  # an upper bound on tokens without the model's tokenizer: English has 4 bytes a token, Korean 2.6
QUERY_TRIES, DOCUMENT_TRIES = 2, 5
DOCUMENT_PATIENCE = 120.0
PROBE_TIMEOUT = 2.0


def estimated_tokens(text: str) -> int:
    return int(len(text.encode()) / BYTES_PER_TOKEN) + 1


class HostedEmbedder:
    """The model `settings.EMBEDDING_MODEL` in `dims` dimensions.

    `EMBEDDING_DIMS` names the width of a model that has only one; `dimensions` is then not sent.
    """

    def __init__(self, dims: int) -> None:
        self.model: str = settings.EMBEDDING_MODEL
        self.dims = settings.EMBEDDING_DIMS or dims
        self.name = f"{self.model}@{self.dims}"
        self._asked: dict[str, Any] = {} if settings.EMBEDDING_DIMS else {"dimensions": self.dims}
        self._client = connect(
            base_url=settings.OPENAI_BASE_URL,
            api_key=settings.OPENAI_API_KEY,
            timeout=settings.EMBEDDING_TIMEOUT,
        )
        self._calls, self._tokens = Pace(settings.EMBEDDING_RPM), Pace(settings.EMBEDDING_TPM)
        self._resting_until = 0.0

    def embed_query(self, texts: list[str]) -> Vectors:
        if time.monotonic() < self._resting_until:
            raise EmbedderDown(
                f"{self.name} did not answer a moment ago; it is asked again in a few seconds."
            )
        try:
            return self._embed(
                texts, op="query", tries=QUERY_TRIES, within=settings.EMBEDDING_QUERY_TIMEOUT
            )
        except EmbedderDown:
            self._resting_until = time.monotonic() + settings.EMBEDDING_REST
            raise

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed(texts, op="document", tries=DOCUMENT_TRIES, within=DOCUMENT_PATIENCE)

    def probe(self) -> None:
        """Ask for the list of models: free everywhere; a server without that page is there all the same."""
        try:
            self._client.with_options(timeout=PROBE_TIMEOUT).models.list()
        except openai.NotFoundError:
            return
        except openai.OpenAIError as error:
            raise EmbedderDown(f"{self.name}: {described(error)}.") from error

    def _embed(self, texts: list[str], *, op: str, tries: int, within: float) -> Vectors:
        rows = [np.zeros((0, self.dims), dtype=np.float32)]
        for batch in _batches([_acceptable(text) for text in texts]):
            with embedding(self.name, op=op, texts=len(batch)) as usage:
                answer = self._answer(batch, tries=tries, within=within)
                usage.tokens = _tokens_used(answer) or sum(map(estimated_tokens, batch))
                answered = _in_order(answer, self.name)
                rows.append(
                    trusted_rows(answered, count=len(batch), dims=self.dims, name=self.name)
                )
        return np.concatenate(rows)

    def _answer(self, batch: list[str], *, tries: int, within: float) -> Any:
        self._keep_pace(sum(map(estimated_tokens, batch)), within=within)
        create = self._client.with_options(
            timeout=limit(min(within, settings.EMBEDDING_TIMEOUT))
        ).embeddings.create
        ask = partial(create, model=self.model, input=batch, **self._asked)
        try:
            return patiently(ask, tries=tries, within=within)
        except openai.OpenAIError as error:
            raise EmbedderDown(f"{self.name}: {described(error)}.") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise EmbedderDown(
                f"{self.name} answered with something that is not an embedding answer."
            ) from error

    def _keep_pace(self, tokens: int, *, within: float) -> None:
        waits = [self._calls.reserve(within=within), self._tokens.reserve(tokens, within=within)]
        if None in waits:
            raise EmbedderDown(
                f"{self.name}: our own rate limit is used up for more than {within:.0f} s."
            )
        time.sleep(max(wait or 0.0 for wait in waits))


def _acceptable(text: str) -> str:
    """Return what the provider takes: not empty, and not longer than the model reads."""
    clean = encodable(text)
    if estimated_tokens(clean) > MAX_TEXT_TOKENS:
        clean = clean.encode()[: int(MAX_TEXT_TOKENS * BYTES_PER_TOKEN)].decode(errors="ignore")
    return clean or " "


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = estimated_tokens(text)
        if batch and (len(batch) == MAX_TEXTS or tokens + size > MAX_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch


def _tokens_used(answer: Any) -> int:
    usage = getattr(answer, "usage", None)
    return int(getattr(usage, "total_tokens", 0) or 0)


def _in_order(answer: Any, name: str) -> list[Any]:
    """Return the rows in the order of the texts: the answer says which is which by `index`."""
    try:
        rows = {item.index: item.embedding for item in answer.data}
        return [rows[index] for index in range(len(answer.data))]
    except (AttributeError, TypeError, KeyError) as error:
        raise EmbedderDown(
            f"{name} answered with something that is not an embedding answer."
        ) from error
