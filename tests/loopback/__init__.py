"""A real OpenAI-compatible HTTP server on loopback that does what a test tells it to.

    def test_a_busy_provider_is_asked_again(openai_server, hosted_embedder):
        openai_server.embeddings.then(status(429, retry_after=0.01))
        assert get_embedder("lore").embed_document(["The ferry sank."]).shape == (1, 1024)
        assert len(openai_server.embeddings.requests) == 2

Fixtures (in `tests/conftest.py`): `openai_server` is the running `Loopback`, alone;
`hosted_embedder` points EMBEDDER=openai at it; `scripted_llm` points LLM_MODEL=scripted at it and
returns the server.

The two routes, `server.embeddings` and `server.chat`, each have a queue: `.then(answer, …)` adds
answers that are given once, in order; `.always(answer)` is what is given when the queue is empty.
Without either, embeddings are hashed words (texts that share words are near) in the width asked
for, and chat answers "ok", or the smallest instance of the JSON schema asked for. `.requests` lists
the bodies received, `.last` is the newest; `.received[i].headers` has the headers.

Answers for both: `status(429, retry_after=1)`, `status(500)`, `hang(seconds)`, `garbage()` (HTML),
`not_json()`, `drop()` (the connection is closed in the middle). Answers for embeddings: `nan()`,
`zeros()`, `wrong_width(7)`, `too_few()`, `shuffled()`; `vectors(rows)`. Answers for chat:
`say(text)`, `answer_json(value)`, `calls(name, arguments)`, `no_schema()` (400, as from older
servers). An answer may also be a function of the request body that returns an answer.
"""

from tests.loopback.answers import (
    Answer,
    answer_json,
    answer_without_usage,
    calls,
    drop,
    garbage,
    hang,
    nan,
    no_schema,
    not_json,
    say,
    shuffled,
    status,
    too_few,
    vectors,
    wrong_width,
    zeros,
)
from tests.loopback.server import Loopback, Route

__all__ = [
    "Answer",
    "Loopback",
    "Route",
    "answer_json",
    "answer_without_usage",
    "calls",
    "drop",
    "garbage",
    "hang",
    "nan",
    "no_schema",
    "not_json",
    "say",
    "shuffled",
    "status",
    "too_few",
    "vectors",
    "wrong_width",
    "zeros",
]
