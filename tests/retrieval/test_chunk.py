"""The chunker: nothing lost, nothing doubled, secrets apart, sizes within bounds."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.indexing.chunk import Piece, split_into_pieces
from retrieval.text import count_tokens, without_secrets

SENTENCE = "The ferry crosses at low water, and nobody asks what lies under the tarpaulin. "
PARAGRAPH = SENTENCE * 8 + "\n\n"

LINES = st.sampled_from(
    [
        "# Ferrymark",
        "## The quay",
        "### Паромщики",
        "",
        "",
        "  ",
        "- a rope",
        "  - a knot",
        "1. first",
        "| a | b |",
        "```",
        "~~~",
        ":::",
        ":::secret",
        ":::secret party:lanternbearers",
        "::: note",
        "> :::secret npc:mira-voss x :::",
        SENTENCE,
        "Паром идёт в отлив. " * 20,
        "나룻배는 썰물에 건넌다. " * 20,
        "word" * 300,
        "\u2028",
        "\x0c",
        ":::secret a ::: b",
    ]
)
TEXTS = st.one_of(st.lists(LINES, max_size=40).map("\n".join), st.text(max_size=400))


@given(TEXTS, st.sampled_from([(20, 60), (5, 8), (500, 1500)]))
@settings(max_examples=400, deadline=None)
def test_the_open_pieces_joined_give_the_open_text_back(text: str, sizes: tuple[int, int]) -> None:
    smallest, largest = sizes
    pieces = split_into_pieces(text, smallest=smallest, largest=largest)
    joined = "".join(piece.text for piece in pieces if piece.audiences is None)
    assert "".join(joined.split()) == "".join(without_secrets(text).split())


OPEN_LINES = LINES.filter(lambda line: ":::" not in line)
BREAKS = st.sampled_from(["\n", "\n\n"])


@given(
    st.lists(OPEN_LINES, max_size=12).map("\n".join),
    st.lists(OPEN_LINES, max_size=12).map("\n".join),
    BREAKS,
    st.sampled_from(["He lies.", "# Her crime\n\nTheft.", PARAGRAPH * 8, ":::secret\nx\n:::"]),
)
@settings(max_examples=300, deadline=None)
def test_a_secret_changes_no_open_piece(before: str, after: str, gap: str, hidden: str) -> None:
    """Else those who may not know it learn from scores and borders that there is one."""
    before, after = before.strip(), after.strip()
    told = split_into_pieces(f"{before}{gap}:::secret\n{hidden}\n:::{gap}{after}")
    plain = split_into_pieces(f"{before}{gap}{after}".strip())
    assert [piece for piece in told if piece.audiences is None] == plain


def test_a_secret_within_a_line_leaves_no_trace() -> None:
    told = split_into_pieces("Calm. :::secret He is dead. ::: Quiet.")
    assert [piece for piece in told if piece.audiences is None] == [Piece("Calm. Quiet.")]


@given(st.lists(OPEN_LINES, max_size=6).map("\n".join), BREAKS)
@settings(max_examples=200, deadline=None)
def test_a_nested_secret_changes_no_piece_around_it(inner: str, gap: str) -> None:
    fence = ":::secret party:a\nOuter.{}More.\n:::"
    told = split_into_pieces(fence.format(f"{gap}:::secret\n{inner}\n:::{gap}"))
    plain = split_into_pieces(fence.format(gap))
    assert [piece for piece in told if piece.audiences == ("party:a",)] == plain


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_no_piece_grows_past_the_limit(text: str) -> None:
    for piece in split_into_pieces(text, smallest=20, largest=60):
        headings = [line for line in piece.text.splitlines() if line.lstrip().startswith("#")]
        assert count_tokens(piece.text) <= 61 + count_tokens("\n".join(headings))


@given(
    st.lists(LINES, max_size=12),
    st.lists(LINES, max_size=12),
    st.sampled_from(["", " party:gilded-oath", " npc:a"]),
)
@settings(max_examples=300, deadline=None)
def test_a_secret_never_stands_in_an_open_piece(
    before: list[str], after: list[str], audiences: str
) -> None:
    text = "\n".join([*before, f":::secret{audiences}", "MARKER", ":::", *after])
    assert not [
        piece
        for piece in split_into_pieces(text)
        if piece.audiences is None and "MARKER" in piece.text
    ]


def test_long_text_is_cut_into_pieces_of_500_to_1500_tokens() -> None:
    text = "\n".join(f"## Part {number}\n\n{PARAGRAPH * (1 + number % 7)}" for number in range(30))
    sizes = [count_tokens(piece.text) for piece in split_into_pieces(text)]
    assert len(sizes) > 10
    assert all(490 <= size <= 1500 for size in sizes)


def test_short_text_stays_whole() -> None:
    text = "# Mira Voss\n\nShe keeps the ledger.\n\n## Habits\n\n- tea\n- silence\n"
    assert [piece.text for piece in split_into_pieces(text)] == [text.strip()]


def test_a_piece_knows_the_headings_above_it() -> None:
    text = f"# Ferrymark\n\n## Quay\n\n{PARAGRAPH * 4}\n## Market\n\n### Fish\n\n{PARAGRAPH * 4}"
    assert [piece.headings for piece in split_into_pieces(text)] == [
        ("Ferrymark", "Quay"),
        ("Ferrymark", "Market", "Fish"),
    ]


def test_a_piece_that_spans_sections_keeps_the_headings_they_share() -> None:
    (piece,) = split_into_pieces("# Ferrymark\n\n## Quay\n\nWet.\n\n## Market\n\nLoud.\n")
    assert piece.headings == ("Ferrymark",)


def test_a_heading_goes_with_what_follows_it() -> None:
    text = PARAGRAPH * 3 + "## Market\n\n" + PARAGRAPH * 8
    assert not any(piece.text.endswith("## Market") for piece in split_into_pieces(text))


def test_a_hash_in_fenced_code_is_no_heading() -> None:
    (piece,) = split_into_pieces("# Real\n\n```\n# not one\n\n# nor this\n```\n\nend\n")
    assert piece.headings == ("Real",)


def test_a_secret_is_a_piece_of_its_own_and_its_fence_is_not_shown() -> None:
    shown, secret = split_into_pieces(
        "# Mira\n\nA clerk.\n\n:::secret party:lanternbearers npc:Old-Tam\n"
        "She forged it.\n:::\n\nShe hums.\n"
    )
    assert (shown.text, shown.audiences) == ("# Mira\n\nA clerk.\n\nShe hums.", None)
    assert secret.audiences == ("party:lanternbearers", "npc:old-tam")
    assert secret.text == "She forged it."
    assert secret.headings == ("Mira",)


def test_a_secret_may_stand_in_one_line() -> None:
    assert [
        (p.text, p.audiences) for p in split_into_pieces("Calm. :::secret He is dead. ::: Quiet.")
    ] == [
        ("Calm. Quiet.", None),
        ("He is dead.", ()),
    ]


def test_an_unclosed_secret_reaches_to_the_end() -> None:
    assert [
        (p.text, p.audiences)
        for p in split_into_pieces("Open.\n\n:::secret\nHidden.\n\n# Still hidden\n\nYes.")
    ] == [
        ("Open.", None),
        ("Hidden.\n\n# Still hidden\n\nYes.", ()),
    ]


def test_a_heading_inside_a_secret_is_not_the_path_of_what_follows() -> None:
    pieces = split_into_pieces("# Mira\n\n:::secret\n## Her crime\nTheft.\n:::\n\nShe hums.\n")
    assert [piece.headings for piece in pieces] == [("Mira",), ("Mira",)]


def test_a_secret_in_a_secret_is_for_those_whom_both_name() -> None:
    text = ":::secret party:a party:b\nOuter.\n:::secret party:b party:c\nInner.\n:::\nMore.\n:::\n"
    assert [(p.text, p.audiences) for p in split_into_pieces(text)] == [
        ("Outer.\nMore.", ("party:a", "party:b")),
        ("Inner.", ("party:b",)),
    ]


def test_cyrillic_and_hangul_count_for_more_than_latin() -> None:
    assert count_tokens("ferryman") < count_tokens("паромщик") < count_tokens("나루지기나루지기")


def test_a_megabyte_is_cut_in_seconds() -> None:
    started = time.process_time()
    text = "- item " + "x y" * 30 + "\n"
    pieces = split_into_pieces(text * 5_000 + "\n" * 100_000 + "word " * 50_000 + "a" * 200_000)
    assert time.process_time() - started < 5
    assert sum(len(piece.text) for piece in pieces) > len(text) * 4_900 + 440_000


def test_thousands_of_nested_secrets_are_cut_and_told_to_nobody() -> None:
    text = ":::secret party:lanternbearers\n" * 3_000 + "MARKER\n" + ":::\n" * 3_000
    pieces = split_into_pieces(text)
    assert {piece.audiences for piece in pieces if "MARKER" in piece.text} == {()}
