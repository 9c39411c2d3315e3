"""The best hits are read by a model; its failures cost only time."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from bench.passages import BenchPassage
from retrieval.embedders import get_embedder
from retrieval.errors import Invalid, RerankerDown
from retrieval.indexing import embed_pending
from retrieval.presets import Rerank
from retrieval.rerankers import get_reranker
from retrieval.rerankers.hosted import HostedReranker
from retrieval.rerankers.local import LocalReranker
from retrieval.search import Hit, Leg, NamedPassage, SearchRequest, get_preset, search
from retrieval.search.rerank import (
    DEPTHS,
    best_window,
    hits_to_read,
    passage_window,
    reorder,
    rerank_hits,
)

FALLING = "At the end of a fall, a creature takes 1d6 bludgeoning damage for every 10 feet it fell."
ROOF = "The roof of the toll house was repaired with lead from the old bell."
TEXTS = [FALLING, ROOF, "A drop of damage oil burns on a roof.", "Salt is dear this year."]
QUESTION = "How much damage do I take when I drop from a roof?"


class ReversingReranker:
    """Finds the last best. Knows no Russian."""

    name = "reversing"

    def knows(self, query: str) -> bool:
        return query.isascii()

    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> list[float] | None:
        return [float(number) for number in range(len(texts))]


class BrokenReranker(ReversingReranker):
    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> list[float] | None:
        raise RerankerDown("out of order")


class SlowReranker(ReversingReranker):
    def score(self, query: str, texts: Sequence[str], *, seconds: float) -> list[float] | None:
        return None


def hit(text: str, score: float) -> Hit:
    legs = {"keyword": Leg(1, 1.0)}
    values: dict[str, Any] = {"metadata": {}, "payload": {}, "language": "en"}
    at = timezone.now()
    return Hit(uuid4(), text, "", updated_at=at, score=score, legs=legs, match="keyword", **values)


def texts_of(hits: Sequence[Hit]) -> list[str]:
    return [each.text for each in hits]


def test_the_local_model_knows_what_answers_a_question() -> None:
    scores = LocalReranker().score(QUESTION, TEXTS, seconds=60)
    assert scores is not None
    assert scores.index(max(scores)) == 0
    assert not LocalReranker().knows("Сколько урона при падении с крыши?")


def test_the_order_is_mixed_and_the_scores_of_the_places_stay() -> None:
    hits = [hit(f"text {number}", 0.9 - number / 10) for number in range(3)]
    placed = reorder(hits, {0: -3.0, 1: 5.0, 2: -4.0}, share=0.7)
    assert texts_of(placed) == ["text 1", "text 0", "text 2"]
    assert [each.score for each in placed] == [each.score for each in hits]
    assert placed[0].legs["rerank"] == Leg(1, 5.0)


def test_hits_in_a_language_that_it_does_not_know_keep_their_place(settings: Any) -> None:
    settings.RERANKER = f"{__name__}.ReversingReranker"
    hits = [hit("one", 0.9), hit("Соль дороже золота.", 0.8), hit("two", 0.1)]
    placed, has_worked = rerank_hits("which one", hits, Rerank.FAST, share=0.7)
    assert has_worked
    assert texts_of(placed) == ["two", "Соль дороже золота.", "one"]


@pytest.mark.parametrize("broken", [BrokenReranker, SlowReranker])
def test_a_model_that_fails_or_hangs_leaves_the_fused_order(settings: Any, broken: type) -> None:
    settings.RERANKER = f"{__name__}.{broken.__name__}"
    hits = [hit("one", 0.9), hit("two", 0.1)]
    assert rerank_hits("which one", hits, Rerank.FAST, share=0.7) == (hits, False)


def test_the_window_with_the_words_of_the_question_is_read() -> None:
    text = "Salt and eels. " * 60 + FALLING + " Salt and eels." * 60
    assert FALLING[:40] in best_window(QUESTION, text, 40)
    assert len(best_window(QUESTION, text, 40).split()) <= 41
    assert best_window(QUESTION, FALLING, 40) == FALLING


def test_a_turn_is_read_with_its_speaker_after_the_turn_before_it() -> None:
    turn = replace(hit("Under the third stair.", 0.5), context="Sabine (8 May)")
    assert passage_window("ledger", turn, 48) == "Sabine (8 May). Under the third stair."
    asked = {"speaker": "Sabine", "surroundings": "salt " * 60 + "Where is the ledger?"}
    window = passage_window("ledger", replace(turn, fields=asked), 48)
    assert window.endswith("Where is the ledger? / Sabine: Under the third stair.")
    assert len(window.split()) < 48
    said = {"speaker": "", "surroundings": "The soup is salty."}
    window = passage_window("ledger", replace(turn, fields=said), 48)
    assert window == "The soup is salty. / Sabine (8 May). Under the third stair."


@pytest.fixture
def passages(db: None) -> None:
    BenchPassage.objects.bulk_create([BenchPassage(key=text[:20], text=text) for text in TEXTS])
    embed_pending(BenchPassage, embedder=get_embedder())


def ask(query: str = QUESTION, **values: Any) -> Any:
    preset = replace(get_preset("lore"), rerank_share=0.7)
    request = SearchRequest(query=query, scopes=[], preset=preset, limit=2, **values)
    return search(BenchPassage.objects.all(), request)


def test_a_search_reads_more_hits_than_it_returns(passages: None, settings: Any) -> None:
    settings.RERANKER = f"{__name__}.ReversingReranker"
    plain, turned = ask(), ask(rerank="fast")
    assert len(turned.hits) == 2
    assert turned.hits[0].id not in {each.id for each in plain.hits}
    assert turned.degraded == ()
    assert ask(rerank="off").hits[0].id == plain.hits[0].id


def test_a_failure_is_reported_with_the_fused_order(passages: None, settings: Any) -> None:
    settings.RERANKER = f"{__name__}.BrokenReranker"
    result = ask(rerank="careful")
    assert result.degraded == ("rerank",)
    assert texts_of(result.hits) == texts_of(ask().hits)


def test_a_question_that_is_a_name_is_not_reordered(passages: None, settings: Any) -> None:
    settings.RERANKER = f"{__name__}.ReversingReranker"
    named = BenchPassage.objects.get(text=ROOF)
    result = ask("the roof", rerank="fast", name_hits=[NamedPassage(named.pk, "exact")])
    assert result.hits[0].id == named.pk


def test_a_question_that_only_mentions_a_name_is_reordered(passages: None, settings: Any) -> None:
    settings.RERANKER = f"{__name__}.ReversingReranker"
    mention = NamedPassage(BenchPassage.objects.get(text=ROOF).pk, "alias", 0.3)
    result = ask("what is on the roof", rerank="fast", name_hits=[mention])
    assert "rerank" in result.hits[0].legs


@pytest.mark.parametrize(("words", "read"), [(5, 20), (37, 20), (45, 16), (60, 12), (300, 10)])
def test_more_hits_are_read_where_they_are_short(words: int, read: int) -> None:
    windows = [" ".join(["salt"] * words)] * 25
    depth = DEPTHS[Rerank.FAST]
    assert hits_to_read("is it salt", windows[: depth.hits], depth) == read
    assert hits_to_read("is it salt", windows[:4], depth) == 4
    assert hits_to_read("is it salt", windows, DEPTHS[Rerank.CAREFUL]) == 25


def test_an_answer_beyond_ten_short_hits_comes_up(settings: Any) -> None:
    settings.RERANKER = f"{__name__}.ReversingReranker"
    hits = [hit(f"text {number}", 1 - number / 100) for number in range(15)]
    placed, _worked = rerank_hits("which one", hits, Rerank.FAST, share=1.0)
    assert texts_of(placed)[0] == "text 14"
    long = [replace(each, text=f"{each.text} {'salt ' * 100}") for each in hits]
    placed, _worked = rerank_hits("which one of them " * 10, long, Rerank.FAST, share=1.0)
    assert texts_of(placed)[10:] == texts_of(long)[10:]
    assert texts_of(placed)[0].startswith("text 9 ")


def test_an_unknown_depth_is_refused(passages: None) -> None:
    with pytest.raises(Invalid, match="rerank"):
        ask(rerank="deep")


def test_without_a_reranker_nothing_changes(passages: None, settings: Any) -> None:
    settings.RERANKER = ""
    assert get_reranker() is None
    assert texts_of(ask(rerank="fast").hits) == texts_of(ask().hits)


class RerankServer(ThreadingHTTPServer):
    answer: Any = None
    hangs: Event
    requests: list[dict[str, Any]]
    connections: int = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: RerankServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, **body})
        self.server.hangs.wait(10)
        content = json.dumps(self.server.answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def rerank_server(settings: Any) -> Iterator[RerankServer]:
    server = RerankServer(("127.0.0.1", 0), _Handler)
    server.requests, server.hangs = [], Event()
    server.hangs.set()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    settings.RERANK_URL = f"http://127.0.0.1:{server.server_port}/v1"
    settings.RERANK_MODEL = "some-reranker"
    yield server
    server.hangs.set()
    server.shutdown()
    server.server_close()


def test_a_hosted_model_is_asked_by_the_usual_api(rerank_server: RerankServer) -> None:
    rerank_server.answer = {
        "results": [
            {"index": 1, "relevance_score": 0.9},
            {"index": 0, "relevance_score": 0.1, "document": {"text": "one"}},
        ]
    }
    assert HostedReranker().score("q", ["one", "two"], seconds=5) == [0.1, 0.9]
    (request,) = rerank_server.requests
    assert request["path"] == "/v1/rerank"
    assert (request["model"], request["documents"]) == ("some-reranker", ["one", "two"])


def test_calls_of_a_hosted_model_share_a_connection(rerank_server: RerankServer) -> None:
    rerank_server.answer = {"results": [{"index": 0, "relevance_score": 0.5}]}
    for _call in range(3):
        assert HostedReranker().score("q", ["one"], seconds=5) == [0.5]
    assert rerank_server.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"results": []},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 7, "relevance_score": 0.5}]},
        {"error": "no"},
    ],
)
def test_an_invalid_answer_is_refused(rerank_server: RerankServer, answer: Any) -> None:
    rerank_server.answer = answer
    with pytest.raises(RerankerDown, match="some-reranker"):
        HostedReranker().score("q", ["one", "two"], seconds=5)


def test_a_hosted_model_that_hangs_costs_its_time_alone(rerank_server: RerankServer) -> None:
    rerank_server.hangs.clear()
    assert HostedReranker().score("q", ["one", "two"], seconds=0.2) is None


def test_a_server_that_is_away_is_named(settings: Any) -> None:
    settings.RERANK_URL, settings.RERANK_MODEL = "http://127.0.0.1:9", "some-reranker"
    with pytest.raises(RerankerDown, match="some-reranker"):
        HostedReranker().score("q", ["one"], seconds=1)
