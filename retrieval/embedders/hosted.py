"""Any OpenAI-compatible embedding server, through the official client.

Calls for documents wait while a quota is full or the server restarts; calls for a query give up
soon, because search can answer by words alone.
"""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import openai
from django.conf import settings

from retrieval import openai_calls
from retrieval.embedders.base import Vectors, check_rows, record_embedding
from retrieval.errors import EmbedderDown
from retrieval.openai_calls import RateLimiter, describe_error
from retrieval.text import encodable

# Of one call. OpenAI's own limits are 2048 texts and 300,000 tokens; ours bound a retry's cost.
MAX_TEXTS, MAX_TOKENS = 256, 100_000
MAX_TEXT_TOKENS = 8000
# Gives an upper bound on tokens without the tokenizer: English has 4 bytes per token, Korean 2.6.
BYTES_PER_TOKEN = 2.5
QUERY_TRIES, DOCUMENT_TRIES = 2, 5
DOCUMENT_PATIENCE = 120.0
PROBE_TIMEOUT = 2.0
NO_EMBEDDINGS = "{} answered with something that is not an embedding answer."


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
        base_url, api_key = settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY
        timeout = settings.EMBEDDING_TIMEOUT
        self._client = openai_calls.make_client(base_url=base_url, api_key=api_key, timeout=timeout)
        self._calls = RateLimiter(settings.EMBEDDING_RPM)
        self._tokens = RateLimiter(settings.EMBEDDING_TPM)
        self._retry_at = 0.0

    def embed_query(self, texts: list[str]) -> Vectors:
        # Without this pause every search would wait for its time-out while the server is down.
        if time.monotonic() < self._retry_at:
            detail = "did not answer a moment ago; it is asked again in a few seconds."
            raise EmbedderDown(f"{self.name} {detail}")
        within = settings.EMBEDDING_QUERY_TIMEOUT
        try:
            return self._embed(texts, op="query", tries=QUERY_TRIES, within=within)
        except EmbedderDown:
            self._retry_at = time.monotonic() + settings.EMBEDDING_REST
            raise

    def embed_document(self, texts: list[str]) -> Vectors:
        return self._embed(texts, op="document", tries=DOCUMENT_TRIES, within=DOCUMENT_PATIENCE)

    def probe(self) -> None:
        """Request the list of models, which is free; a server without that endpoint is fine."""
        try:
            self._client.with_options(timeout=PROBE_TIMEOUT).models.list()
        except openai.NotFoundError:
            return
        except openai.OpenAIError as error:
            raise EmbedderDown(f"{self.name}: {describe_error(error)}.") from error

    def _embed(self, texts: list[str], *, op: str, tries: int, within: float) -> Vectors:
        rows = [np.zeros((0, self.dims), dtype=np.float32)]
        for batch in text_batches([make_acceptable(text) for text in texts]):
            most_tokens = sum(map(max_token_count, batch))
            with record_embedding(self.name, op=op, texts=len(batch)) as usage:
                answer = self._answer(batch, most_tokens, tries=tries, within=within)
                reported = getattr(getattr(answer, "usage", None), "total_tokens", None)
                usage.tokens = int(reported or most_tokens)
                raw_rows = rows_in_order(answer, self.name)
                rows.append(check_rows(raw_rows, count=len(batch), dims=self.dims, name=self.name))
        return np.concatenate(rows)

    def _answer(self, batch: list[str], tokens: int, *, tries: int, within: float) -> Any:
        """Return the server's answer to `batch`, after waiting for our own rate limits."""
        waits = [self._calls.reserve(within=within), self._tokens.reserve(tokens, within=within)]
        if None in waits:
            detail = f"our own rate limit is used up for more than {within:.0f} s."
            raise EmbedderDown(f"{self.name}: {detail}")
        time.sleep(max(wait or 0.0 for wait in waits))
        timeout = openai_calls.timeout_of(min(within, settings.EMBEDDING_TIMEOUT))
        create = self._client.with_options(timeout=timeout).embeddings.create
        ask = partial(create, model=self.model, input=batch, **self._options)
        try:
            return openai_calls.call_with_retries(ask, tries=tries, within=within)
        except openai.OpenAIError as error:
            raise EmbedderDown(f"{self.name}: {describe_error(error)}.") from error
        except (ValueError, TypeError, AttributeError) as error:
            # The client's own parsing fails like this on an HTML page or a bare number.
            raise EmbedderDown(NO_EMBEDDINGS.format(self.name)) from error


def make_acceptable(text: str) -> str:
    """Return `text` as the provider accepts it: not empty, at most `MAX_TEXT_TOKENS` long."""
    clean = encodable(text)
    if max_token_count(clean) > MAX_TEXT_TOKENS:
        clean = clean.encode()[: int(MAX_TEXT_TOKENS * BYTES_PER_TOKEN)].decode(errors="ignore")
    return clean or " "


def text_batches(texts: list[str]) -> Iterator[list[str]]:
    """Split `texts` into the batches of one call each, in order."""
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


def rows_in_order(answer: Any, name: str) -> list[Any]:
    """Return the rows in the order of the texts; the `index` of each says which text it is of."""
    try:
        rows = {item.index: item.embedding for item in answer.data}
        return [rows[index] for index in range(len(answer.data))]
    except (AttributeError, TypeError, KeyError) as error:
        raise EmbedderDown(NO_EMBEDDINGS.format(name)) from error
