"""Any OpenAI-compatible embedding server, through the official client.

Calls for documents wait out a full quota or a restart; calls for a query give up soon, because
search goes on by words.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import openai
from django.conf import settings

from retrieval.embedders.base import Vectors, check_rows, record_embedding
from retrieval.errors import EmbedderDown
from retrieval.provider import (
    RateLimiter,
    call_with_retries,
    describe_error,
    make_client,
    timeout_of,
)
from retrieval.text import encodable

MAX_TEXTS, MAX_TOKENS = 256, 100_000  # of one call; the provider's own limits are 2048 and 300,000
MAX_TEXT_TOKENS = 8000
# Gives an upper bound on tokens without the tokenizer: English has 4 bytes per token,
# Korean 2.6.
BYTES_PER_TOKEN = 2.5
QUERY_TRIES, DOCUMENT_TRIES = 2, 5
DOCUMENT_PATIENCE = 120.0
PROBE_TIMEOUT = 2.0


def max_token_count(text: str) -> int:
    return int(len(text.encode()) / BYTES_PER_TOKEN) + 1


class HostedEmbedder:
    """The model `settings.EMBEDDING_MODEL` in `dims` dimensions.

    `EMBEDDING_DIMS` names the width of a model that has only one; `dimensions` is then not sent.
    """

    def __init__(self, dims: int) -> None:
        self.model: str = settings.EMBEDDING_MODEL
        self.dims = settings.EMBEDDING_DIMS or dims
        self.name = f"{self.model}@{self.dims}"
        self._options: dict[str, Any] = {} if settings.EMBEDDING_DIMS else {"dimensions": self.dims}
        self._client = make_client(
            base_url=settings.OPENAI_BASE_URL,
            api_key=settings.OPENAI_API_KEY,
            timeout=settings.EMBEDDING_TIMEOUT,
        )
        self._calls, self._tokens = (
            RateLimiter(settings.EMBEDDING_RPM),
            RateLimiter(settings.EMBEDDING_TPM),
        )
        self._retry_at = 0.0

    def embed_query(self, texts: list[str]) -> Vectors:
        if time.monotonic() < self._retry_at:
            raise EmbedderDown(
                f"{self.name} did not answer a moment ago; it is asked again in a few seconds."
            )
        try:
            return self._embed(
                texts, op="query", tries=QUERY_TRIES, within=settings.EMBEDDING_QUERY_TIMEOUT
            )
        except EmbedderDown:
            self._retry_at = time.monotonic() + settings.EMBEDDING_REST
            raise

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed(texts, op="document", tries=DOCUMENT_TRIES, within=DOCUMENT_PATIENCE)

    def probe(self) -> None:
        """Ask for the list of models: free everywhere; a server without that page is there all the
        same."""
        try:
            self._client.with_options(timeout=PROBE_TIMEOUT).models.list()
        except openai.NotFoundError:
            return
        except openai.OpenAIError as error:
            raise EmbedderDown(f"{self.name}: {describe_error(error)}.") from error

    def _embed(self, texts: list[str], *, op: str, tries: int, within: float) -> Vectors:
        rows = [np.zeros((0, self.dims), dtype=np.float32)]
        for batch in _batches([make_acceptable(text) for text in texts]):
            with record_embedding(self.name, op=op, texts=len(batch)) as usage:
                answer = self._answer(batch, tries=tries, within=within)
                usage.tokens = token_usage(answer) or sum(map(max_token_count, batch))
                sent_rows = rows_in_order(answer, self.name)
                rows.append(check_rows(sent_rows, count=len(batch), dims=self.dims, name=self.name))
        return np.concatenate(rows)

    def _answer(self, batch: list[str], *, tries: int, within: float) -> Any:
        self._wait_for_quota(sum(map(max_token_count, batch)), within=within)
        create = self._client.with_options(
            timeout=timeout_of(min(within, settings.EMBEDDING_TIMEOUT))
        ).embeddings.create
        ask = partial(create, model=self.model, input=batch, **self._options)
        try:
            return call_with_retries(ask, tries=tries, within=within)
        except openai.OpenAIError as error:
            raise EmbedderDown(f"{self.name}: {describe_error(error)}.") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise EmbedderDown(
                f"{self.name} answered with something that is not an embedding answer."
            ) from error

    def _wait_for_quota(self, tokens: int, *, within: float) -> None:
        waits = [self._calls.reserve(within=within), self._tokens.reserve(tokens, within=within)]
        if None in waits:
            raise EmbedderDown(
                f"{self.name}: our own rate limit is used up for more than {within:.0f} s."
            )
        time.sleep(max(wait or 0.0 for wait in waits))


def make_acceptable(text: str) -> str:
    """Return what the provider takes: not empty, and not longer than the model reads."""
    clean = encodable(text)
    if max_token_count(clean) > MAX_TEXT_TOKENS:
        clean = clean.encode()[: int(MAX_TEXT_TOKENS * BYTES_PER_TOKEN)].decode(errors="ignore")
    return clean or " "


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = max_token_count(text)
        if batch and (len(batch) == MAX_TEXTS or tokens + size > MAX_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch


def token_usage(answer: Any) -> int:
    usage = getattr(answer, "usage", None)
    return int(getattr(usage, "total_tokens", 0) or 0)


def rows_in_order(answer: Any, name: str) -> list[Any]:
    """Return the rows in the order of the texts: the answer says which is which by `index`."""
    try:
        rows = {item.index: item.embedding for item in answer.data}
        return [rows[index] for index in range(len(answer.data))]
    except (AttributeError, TypeError, KeyError) as error:
        raise EmbedderDown(
            f"{name} answered with something that is not an embedding answer."
        ) from error
