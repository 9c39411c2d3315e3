"""The hosted embedder against a real server on loopback that misbehaves on demand."""

import time
from typing import Any

import numpy as np
import pytest

from retrieval.embedders import get_embedder
from retrieval.embedders.hosted import HostedEmbedder
from retrieval.errors import EmbedderDown
from tests.loopback import (
    Loopback,
    drop,
    garbage,
    hang,
    nan,
    not_json,
    shuffled,
    status,
    too_few,
    vectors,
    wrong_width,
    zeros,
)

MIRA = "Mira Voss keeps the ledgers of the Ferrymen's Guild."
DRAGON = "A dragon sleeps below the salt mine."


def test_each_domain_asks_for_its_own_width(hosted_embedder: Loopback) -> None:
    assert HostedEmbedder(1536).embed_query([MIRA]).shape == (1, 1536)
    assert hosted_embedder.embeddings.last["dimensions"] == 1536
    assert get_embedder("srd").name == "text-embedding-3-large@1536"
    assert (
        get_embedder("lore").name == get_embedder("episode").name == "text-embedding-3-large@1024"
    )


def test_a_model_with_one_width_is_not_asked_for_another(
    hosted_embedder: Loopback, settings: Any
) -> None:
    settings.EMBEDDING_DIMS = 3
    hosted_embedder.embeddings.then(vectors([[3.0, 0.0, 4.0]]))
    embedder = HostedEmbedder(1024)
    assert embedder.embed_document([MIRA]).tolist() == [pytest.approx([0.6, 0, 0.8])]
    assert embedder.name == "text-embedding-3-large@3"
    assert "dimensions" not in hosted_embedder.embeddings.last


def test_rows_are_float32_of_length_one_and_near_when_texts_are(hosted_embedder: Loopback) -> None:
    rows = HostedEmbedder(256).embed_document([MIRA, DRAGON])
    near, far = rows @ HostedEmbedder(256).embed_query(["Who keeps the ledgers?"])[0]
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1])
    assert near > far


def test_many_texts_go_in_batches_by_count(hosted_embedder: Loopback) -> None:
    assert HostedEmbedder(8).embed_document([f"Day {day}" for day in range(600)]).shape == (600, 8)
    assert [len(request["input"]) for request in hosted_embedder.embeddings.requests] == [
        256,
        256,
        88,
    ]


def test_long_texts_go_in_batches_by_tokens(hosted_embedder: Loopback) -> None:
    HostedEmbedder(8).embed_document(["salt and silver " * 1000] * 30)
    assert [len(request["input"]) for request in hosted_embedder.embeddings.requests] == [15, 15]


def test_a_text_longer_than_the_model_reads_is_cut_before_it_is_sent(
    hosted_embedder: Loopback,
) -> None:
    HostedEmbedder(8).embed_document(["용" * 100_000])
    [sent] = hosted_embedder.embeddings.last["input"]
    assert len(sent.encode()) <= 20_000
    assert set(sent) == {"용"}


@pytest.mark.parametrize("text", ["", "\0", "\ud800"])
def test_texts_that_no_provider_takes_are_mended(hosted_embedder: Loopback, text: str) -> None:
    assert HostedEmbedder(8).embed_document([text]).shape == (1, 8)
    assert hosted_embedder.embeddings.last["input"][0] in (" ", "?")


def test_rows_are_matched_by_index_not_by_position(hosted_embedder: Loopback) -> None:
    straight = HostedEmbedder(64).embed_document([MIRA, DRAGON])
    hosted_embedder.embeddings.then(shuffled())
    assert np.array_equal(HostedEmbedder(64).embed_document([MIRA, DRAGON]), straight)


@pytest.mark.parametrize(
    "trouble", [status(429, retry_after=0.01), status(500), status(503), drop()]
)
def test_trouble_that_passes_is_waited_out(hosted_embedder: Loopback, trouble: Any) -> None:
    hosted_embedder.embeddings.then(trouble)
    assert HostedEmbedder(8).embed_document([MIRA]).shape == (1, 8)
    assert len(hosted_embedder.embeddings.requests) == 2


def test_the_wait_that_a_provider_asks_for_is_kept(hosted_embedder: Loopback) -> None:
    hosted_embedder.embeddings.then(status(429, retry_after=0.4))
    started = time.monotonic()
    HostedEmbedder(8).embed_document([MIRA])
    assert time.monotonic() - started >= 0.4


@pytest.mark.parametrize(
    "trouble", [status(401), status(400), status(429, error="insufficient_quota")]
)
def test_trouble_that_stays_is_reported_at_once(hosted_embedder: Loopback, trouble: Any) -> None:
    hosted_embedder.embeddings.always(trouble)
    with pytest.raises(EmbedderDown) as down:
        HostedEmbedder(8).embed_document([MIRA])
    assert len(hosted_embedder.embeddings.requests) == 1
    assert "test-key" not in down.value.detail
    assert "Mira" not in down.value.detail


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (nan(), "NaN"),
        (zeros(), "zero vector"),
        (wrong_width(7), "shape (2, 7)"),
        (too_few(), "shape"),
        (garbage(), "not an embedding answer"),
        (not_json(), "not an embedding answer"),
    ],
)
def test_vectors_that_cannot_be_right_never_get_in(
    hosted_embedder: Loopback, answer: Any, complaint: str
) -> None:
    hosted_embedder.embeddings.always(answer)
    with pytest.raises(EmbedderDown, match=complaint.replace("(", r"\(").replace(")", r"\)")):
        HostedEmbedder(8).embed_document([MIRA, DRAGON])


def test_a_search_does_not_wait_for_a_provider_that_hangs(hosted_embedder: Loopback) -> None:
    hosted_embedder.embeddings.always(hang())
    started = time.monotonic()
    with pytest.raises(EmbedderDown, match="no answer in time"):
        HostedEmbedder(8).embed_query([MIRA])
    assert time.monotonic() - started < 10


def test_a_search_does_not_wait_as_long_as_a_busy_provider_asks(hosted_embedder: Loopback) -> None:
    hosted_embedder.embeddings.always(status(429, retry_after=30))
    started = time.monotonic()
    with pytest.raises(EmbedderDown, match="429"):
        HostedEmbedder(8).embed_query([MIRA])
    assert time.monotonic() - started < 10


def test_after_a_failure_searches_leave_the_provider_alone_for_a_while(
    hosted_embedder: Loopback, settings: Any
) -> None:
    settings.EMBEDDING_REST = 0.3
    hosted_embedder.embeddings.then(status(401))
    embedder = HostedEmbedder(8)
    for _search in range(3):
        with pytest.raises(EmbedderDown):
            embedder.embed_query([MIRA])
    assert len(hosted_embedder.embeddings.requests) == 1
    time.sleep(0.3)
    assert embedder.embed_query([MIRA]).shape == (1, 8)


def test_our_own_pace_spreads_the_calls(hosted_embedder: Loopback, settings: Any) -> None:
    settings.EMBEDDING_RPM = 600
    embedder = HostedEmbedder(8)
    started = time.monotonic()
    for _call in range(4):
        embedder.embed_document([MIRA])
    assert time.monotonic() - started >= 0.3


def test_a_search_past_our_own_pace_is_told_so(hosted_embedder: Loopback, settings: Any) -> None:
    settings.EMBEDDING_RPM = 1
    embedder = HostedEmbedder(8)
    embedder.embed_query([MIRA])
    with pytest.raises(EmbedderDown, match="rate limit"):
        embedder.embed_query([DRAGON])


def test_a_probe_tells_whether_it_can_be_asked(hosted_embedder: Loopback, settings: Any) -> None:
    get_embedder("lore").probe()
    assert hosted_embedder.embeddings.requests == []
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    with pytest.raises(EmbedderDown, match="no connection"):
        get_embedder("lore").probe()


def test_nobody_there_is_reported(settings: Any) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    settings.EMBEDDING_QUERY_TIMEOUT = 0.2
    with pytest.raises(EmbedderDown, match="no connection"):
        HostedEmbedder(8).embed_query([MIRA])
