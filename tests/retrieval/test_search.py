"""Searching a small set of passages, by words, by meaning and by both."""

from typing import Any

import pytest
from django.db import connection

from bench.passages import BenchPassage
from retrieval.embedders import Vectors, get_embedder
from retrieval.errors import EmbedderDown, Invalid, SearchTimeout
from retrieval.indexing.statistics import count_words
from retrieval.presets import Fusion, Mode, Preset
from retrieval.search import Expansion, NamedPassage, SearchRequest, clear_row_estimates, search
from retrieval.search.compiled_rows import CompiledRows, RowEstimate, estimate_rows
from retrieval.search.engine import MOST_CANDIDATES

pytestmark = pytest.mark.django_db

PASSAGES = {
    "grappled": (
        "Conditions > Grappled",
        "A grappled creature's speed becomes 0. The condition ends if it is pushed away.",
    ),
    "fireball": (
        "Spells > Fireball",
        "A bright streak flashes and blossoms into an explosion of flame.",
    ),
    "mira": (
        "Mira Voss",
        "The harbour master of Ferrymark keeps two ledgers and trusts neither guild.",
    ),
    "guild": (
        "Ferrymen's Guild",
        "The guild owns every boat on the river and hates the harbour master.",
    ),
    "parom": (
        "Гильдия паромщиков",
        "Паромщики владеют всеми лодками на реке и не любят начальницу порта.",
    ),
    "mira_ko": ("미라 보스", "미라 보스는 항구를 관리하며 장부를 두 권 가지고 있다."),
}
LANGUAGES = {"parom": "ru", "mira_ko": "ko"}


@pytest.fixture
def passages() -> dict[str, BenchPassage]:
    clear_row_estimates()
    rows = {
        key: BenchPassage.objects.create(
            key=key,
            tenant="ferrymark",
            context=context,
            text=text,
            language=LANGUAGES.get(key, "en"),
        )
        for key, (context, text) in PASSAGES.items()
    }
    embedder = get_embedder()
    for passage in rows.values():
        vector = embedder.embed_document([passage.indexed_text])[0]
        BenchPassage.objects.filter(pk=passage.pk).update(
            embedding=vector, embedding_model=embedder.name
        )
    count_words(BenchPassage)
    return rows


def ask(query: str, **options: object) -> list[str]:
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    result = search(
        rows,
        SearchRequest(
            query=query,
            scopes=["ferrymark"],
            fields=["key"],
            **{"preset": Preset(dims=256), **options},
        ),
    )
    return [hit.fields["key"] for hit in result]


def test_a_question_of_many_unknown_words_is_answered(passages: object) -> None:
    """That all of them stand in one passage is less likely than the least number the database
    computes with."""
    unknown = " ".join(f"unheard{n}" for n in range(700))
    assert ask(f"fireball {unknown}", mode=Mode.KEYWORD) == ["fireball"]


def test_the_vector_of_a_question_can_be_mapped(passages: dict[str, BenchPassage]) -> None:
    wanted = get_embedder().embed_document([passages["guild"].indexed_text])[0]
    mapped = ask("a bright streak of flame", mode=Mode.VECTOR, map_vector=lambda *_asked: wanted)
    assert mapped[0] == "guild"


@pytest.mark.parametrize("mode", Mode)
def test_every_mode_finds_the_passage_with_the_words(passages: object, mode: Mode) -> None:
    assert ask("explosion of flame", mode=mode)[0] == "fireball"


@pytest.mark.parametrize("fusion", Fusion)
def test_both_fusions_put_the_rare_word_first(passages: object, fusion: Fusion) -> None:
    assert ask("who trusts neither guild", preset=Preset(dims=256, fusion=fusion))[0] == "mira"


def test_words_are_found_in_other_forms_of_each_language(passages: object) -> None:
    assert ask("grapple", mode="keyword") == ["grappled"]
    assert ask("чьи это лодки?", mode="keyword") == ["parom"]
    assert ask("паромщик", mode="keyword") == ["parom"]
    assert ask("항구는 누가 관리해?", mode="keyword") == ["mira_ko"]


def test_a_passage_is_found_by_its_words_before_it_has_a_vector(passages: object) -> None:
    BenchPassage.objects.create(
        key="new", tenant="ferrymark", text="The lighthouse keeper drowned."
    )
    assert ask("lighthouse")[0] == "new"


def test_changed_text_is_found_by_its_new_words(
    passages: dict[str, BenchPassage],
) -> None:
    BenchPassage.objects.filter(key="guild").update(text="Nothing but eels.")
    assert ask("eels", mode="keyword") == ["guild"]
    passages["guild"].refresh_from_db()
    assert passages["guild"].rev == 2


def test_nothing_of_another_tenant_is_found(passages: object) -> None:
    BenchPassage.objects.create(key="elsewhere", tenant="other", text="explosion of flame")
    assert "elsewhere" not in ask("explosion of flame", limit=50)


def test_a_name_counts_only_inside_the_queryset(passages: dict[str, BenchPassage]) -> None:
    hidden = BenchPassage.objects.create(key="elsewhere", tenant="other", text="Mira")
    names = [NamedPassage(hidden.pk, "exact"), NamedPassage(passages["guild"].pk, "alias", 0.9)]
    result = ask("the boat people", name_hits=names)
    assert result[0] == "guild"
    assert "elsewhere" not in result


def test_a_glossary_brings_a_question_to_passages_in_another_language(passages: object) -> None:
    assert (
        ask("붙잡힌 생물", mode="keyword", expansions=[Expansion("grappled creature", 0.7)])[0]
        == "grappled"
    )


@pytest.mark.parametrize("query", ["", "   ", "a\0b", "\ud800", "x" * 100_001])
def test_an_invalid_query_is_refused(db: object, query: str) -> None:
    with pytest.raises(Invalid):
        ask(query)


def test_every_hit_has_the_rank_and_score_of_each_leg(passages: object) -> None:
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    best = search(
        rows,
        SearchRequest(query="explosion of flame", scopes=["ferrymark"], preset=Preset(dims=256)),
    ).hits[0]
    assert best.legs["keyword"].rank == 1
    assert best.legs["vector"].rank == 1
    assert best.legs["vector"].score == pytest.approx(best.legs["vector"].score, abs=1)


def test_explain_gives_the_counts_of_each_word(passages: object) -> None:
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    result = search(
        rows,
        SearchRequest(
            query="harbour ledgers",
            scopes=["ferrymark"],
            preset=Preset(dims=256),
            limit=1,
            explain=True,
        ),
    )
    assert result.explain is not None
    assert {word["word"]: word["frequency"] for word in result.explain["words"]} == {
        "harbour": 2,
        "ledger": 1,
    }
    assert result.explain["near_misses"][0].score <= result.hits[0].score
    assert len(result.hits) == 1


def test_of_words_in_too_many_passages_those_that_occur_together_choose_the_candidates(
    db: object,
) -> None:
    texts = [f"The ferry waits, {n}." for n in range(6)] + [f"A wide river, {n}." for n in range(6)]
    texts += [f"An empty road, {n}." for n in range(20)]
    texts += ["The ferry crosses the river.", "The river carries the ferry away."]
    rows = [BenchPassage(key=text, tenant="ferrymark", text=text) for text in texts]
    BenchPassage.objects.bulk_create(rows)
    count_words(BenchPassage)
    clear_row_estimates()
    options: dict[str, Any] = {"mode": Mode.KEYWORD, "limit": 20}
    few = Preset(dims=256, candidates=1)
    assert set(ask("ferry or river", preset=few, **options)) == set(texts[-2:])
    assert len(ask("ferry or river", preset=Preset(dims=256), **options)) == len(texts) - 20
    # A rarer word alone chooses, and the others still count.
    rare = BenchPassage.objects.create(key="rare", tenant="ferrymark", text="The ferry burned.")
    assert ask("ferry burned river", preset=few, **options) == [rare.key]
    # One word in very many passages: of these only some are scored.
    assert len(ask("road", preset=few, **options)) == MOST_CANDIDATES


def test_of_words_in_most_passages_the_rarest_alone_chooses_the_candidates(
    db: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"The ferry waits, {n}." for n in range(8)] + [
        f"An empty road, {n}." for n in range(20)
    ]
    rows = [BenchPassage(key=text, tenant="ferrymark", text=text) for text in texts]
    BenchPassage.objects.bulk_create(rows)
    count_words(BenchPassage)
    clear_row_estimates()
    options: dict[str, Any] = {"mode": Mode.KEYWORD, "limit": 40}
    usual = ask("ferry", preset=Preset(dims=256), **options)
    assert len(ask("ferry road", preset=Preset(dims=256), **options)) == len(texts)
    monkeypatch.setattr("retrieval.search.engine.PLACES_A_ROW", 0)
    assert ask("ferry", preset=Preset(dims=256), **options) == usual
    assert set(ask("ferry road", preset=Preset(dims=256), **options)) == set(texts[:8])
    assert len(ask("road", preset=Preset(dims=256, candidates=1), **options)) == MOST_CANDIDATES


def test_a_small_world_among_many_finds_the_same(
    passages: object,
) -> None:
    questions = ("harbour ledgers", "the guild and its boats", "лодки на реке", "항구")
    usual = [ask(question) for question in questions]
    others = [BenchPassage(key=str(n), tenant=str(n), text="A harbour.") for n in range(200)]
    BenchPassage.objects.bulk_create(others)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE bench_passage")
    clear_row_estimates()
    rows = CompiledRows(BenchPassage.objects.filter(tenant="ferrymark"))
    assert estimate_rows(rows.queryset, rows.key).are_few
    assert [ask(question) for question in questions] == usual


@pytest.mark.parametrize("expansions", [[], [Expansion("guild")]])
def test_a_hidden_passage_changes_no_score_of_another_audience(
    passages: object, expansions: list[Expansion]
) -> None:
    """Not of a word that one visible passage holds, either: it is counted as one that none does."""
    count_words(BenchPassage)

    def scores() -> list[tuple[str, float]]:
        rows = BenchPassage.objects.filter(tenant="ferrymark", visibility="public")
        result = search(
            rows,
            SearchRequest(
                query="harbour guild ledgers",
                scopes=["ferrymark"],
                preset=Preset(dims=256),
                fields=["key"],
                expansions=expansions,
            ),
        )
        return [(hit.fields["key"], hit.score) for hit in result]

    before = scores()
    for n in range(5):
        BenchPassage.objects.create(
            key=f"secret {n}",
            tenant="ferrymark",
            visibility="gm",
            text="The harbour guild serves a drowned king and keeps ledgers.",
        )
    count_words(BenchPassage)
    clear_row_estimates()
    assert scores() == before


def test_without_the_embedder_search_uses_words(passages: object, settings: Any) -> None:
    settings.EMBEDDER = "tests.retrieval.test_search.UnavailableEmbedder"
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    result = search(
        rows,
        SearchRequest(
            query="explosion of flame",
            scopes=["ferrymark"],
            preset=Preset(dims=256),
            fields=["key"],
        ),
    )
    assert result.hits[0].fields["key"] == "fireball"
    assert result.degraded == ("vector",)


def test_vectors_of_another_model_are_not_compared(passages: object) -> None:
    BenchPassage.objects.update(embedding_model="another")
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    result = search(
        rows,
        SearchRequest(query="explosion of flame", scopes=["ferrymark"], preset=Preset(dims=256)),
    )
    assert result.degraded == ("vector",)
    assert result.hits[0].legs["vector"].score is None
    by_meaning = search(
        rows,
        SearchRequest(
            query="explosion of flame", scopes=["ferrymark"], preset=Preset(dims=256), mode="vector"
        ),
    )
    assert by_meaning.degraded == ("vector",)
    assert by_meaning.hits[0].id == result.hits[0].id


def test_a_slow_database_is_an_error_that_says_what_to_do(passages: object) -> None:
    BenchPassage.objects.bulk_create(
        BenchPassage(
            key=str(n), tenant="ferrymark", text=" ".join(f"w{n % 7}{i}" for i in range(300))
        )
        for n in range(300)
    )
    with pytest.raises(SearchTimeout):
        ask(
            " ".join(f"w{k}{i}" for k in range(7) for i in range(300)),
            preset=Preset(dims=256, timeout=0.001),
        )


def test_an_impossible_filter_finds_nothing(passages: object) -> None:
    assert not search(
        BenchPassage.objects.filter(pk__in=[]),
        SearchRequest(query="flame", scopes=["ferrymark"], preset=Preset(dims=256)),
    ).hits


class UnavailableEmbedder:
    """An embedder whose model cannot be reached."""

    name, dims = "down", 8

    def __init__(self, dims: int) -> None: ...

    def embed_document(self, texts: list[str]) -> Vectors:
        raise EmbedderDown("no route to the model")

    embed_query = embed_document


@pytest.mark.parametrize(
    ("table_rows", "candidates"),
    [(-1, 100), (0, 100), (100_000, 100), (400_000, 200), (1e6, 316), (1e9, 400)],
)
def test_the_vector_index_is_searched_more_thoroughly_in_larger_tables(
    passages: dict[str, BenchPassage],
    monkeypatch: pytest.MonkeyPatch,
    table_rows: float,
    candidates: int,
) -> None:
    settings: list[str] = []

    def note(execute: Any, statement: str, values: Any, many: bool, context: Any) -> Any:
        if "hnsw.ef_search" in statement:
            settings.append(values["ef_search"])
        return execute(statement, values, many, context)

    estimate = RowEstimate(rows=10_000, table_rows=table_rows)
    monkeypatch.setattr("retrieval.search.engine.estimate_rows", lambda *_rows: estimate)
    with connection.execute_wrapper(note):
        assert "fireball" in ask("an explosion of flame")
    assert settings == [str(candidates)]


def test_pgvector_is_asked_for_no_more_candidates_than_it_allows(
    passages: dict[str, BenchPassage], monkeypatch: pytest.MonkeyPatch
) -> None:
    estimate = RowEstimate(rows=10_000, table_rows=1e6)
    monkeypatch.setattr("retrieval.search.engine.estimate_rows", lambda *_rows: estimate)
    assert "fireball" in ask("an explosion of flame", preset=Preset(dims=256, ef_search=900))


def test_a_passage_without_a_vector_keeps_its_place_by_words(
    passages: dict[str, BenchPassage],
) -> None:
    query = "harbour master ledgers"
    near = get_embedder().embed_query([query])[0]
    vectors = {"mira": None, "guild": -near, "fireball": near}
    for key, vector in vectors.items():
        model = "" if vector is None else get_embedder().name
        rows = BenchPassage.objects.filter(pk=passages[key].pk)
        rows.update(embedding=vector, embedding_model=model)
    assert ask(query, preset=Preset(dims=256, vector_weight=0.8))[0] == "mira"


def test_words_have_their_full_weight_in_a_long_question(passages: object) -> None:
    query = f"{PASSAGES['mira'][1]} Unknown{' unknown'.join('abcdefghijklmnopqrst')}"
    rows = BenchPassage.objects.filter(tenant="ferrymark")
    preset = Preset(dims=256, vector_weight=0.4, full_coverage=0.5)
    request = SearchRequest(query=query, scopes=["ferrymark"], preset=preset, explain=True)
    explain = search(rows, request).explain
    assert explain is not None
    assert explain["vector_weight"] == pytest.approx(0.4)


def test_the_parts_of_a_korean_word_are_evidence_of_one_word(passages: object) -> None:
    rows = BenchPassage.objects.filter(tenant="ferrymark")

    def score(query: str, language: str) -> float:
        request = SearchRequest(
            query=query,
            scopes=["ferrymark"],
            preset=Preset(dims=256),
            mode=Mode.KEYWORD,
            language=language,
        )
        return search(rows, request).hits[0].score

    english = score(PASSAGES["guild"][1], "en")
    assert score(PASSAGES["mira_ko"][1], "ko") < 1.5 * english
