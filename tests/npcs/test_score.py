"""The arithmetic of dispositions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npcs.score import ScoreChange, decay, feelings_of, fold, label_of

changes = st.lists(
    st.builds(
        ScoreChange,
        delta=st.integers(-100, 100),
        axis=st.sampled_from(["affection", "trust", "respect", "fear"]),
        in_world_at=st.none() | st.floats(-1000, 1000),
    ),
    max_size=30,
)


@given(changes, st.integers(-100, 100), st.none() | st.floats(0.1, 1000))
def test_the_score_stays_on_the_scale(
    entries: list[ScoreChange], base: int, half_life: float | None
) -> None:
    standing = fold(entries, base=base, half_life=half_life)
    assert -100 <= standing.score <= 100
    assert len(standing.points) == len(entries)
    assert not standing.points or standing.points[-1].score == standing.score


def test_half_of_a_change_is_left_after_a_half_life() -> None:
    assert decay(60, base=20, days=10, half_life=10) == 40
    assert decay(60, base=20, days=-10, half_life=10) == 60
    assert decay(60, base=20, days=1e6, half_life=None) == 60


def test_fear_is_kept_beside_the_score() -> None:
    standing = fold([ScoreChange(30, "fear"), ScoreChange(5, "trust")])
    assert (standing.score, standing.axes) == (5, {"fear": 30, "trust": 5})


@pytest.mark.parametrize(
    ("score", "label"),
    [
        (-100, "hostile"),
        (-61, "hostile"),
        (-60, "unfriendly"),
        (-25, "wary"),
        (-8, "neutral"),
        (0, "neutral"),
        (8, "neutral"),
        (8.1, "warm"),
        (25, "warm"),
        (60, "friendly"),
        (60.5, "devoted"),
        (100, "devoted"),
    ],
)
def test_each_score_has_its_label(score: float, label: str) -> None:
    assert label_of(score) == label


@pytest.mark.parametrize(
    ("changes", "feelings"),
    [
        ([], "none"),
        ([ScoreChange(2)], "clear"),
        ([ScoreChange(30), ScoreChange(-30, "trust")], "mixed"),
        ([ScoreChange(30), ScoreChange(-14, "trust")], "clear"),
        ([ScoreChange(30), ScoreChange(-30, "fear")], "clear"),
    ],
)
def test_a_stranger_is_told_from_somebody_of_mixed_feelings(
    changes: list[ScoreChange], feelings: str
) -> None:
    axes = fold(changes).axes
    assert feelings_of(axes, changes=len(changes)) == feelings


def test_the_trend_is_what_the_last_three_changes_did() -> None:
    assert fold([ScoreChange(50), ScoreChange(1), ScoreChange(1), ScoreChange(-4)]).trend == -2
