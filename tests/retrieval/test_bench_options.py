"""Options of the benches that would fail an hour later are refused at once."""

import pytest

from bench.__main__ import main
from bench.passage_counts import passage_count


@pytest.mark.parametrize("text", ["0", "3000", "15000", "-10000", "many", ""])
def test_a_world_of_no_whole_part_is_refused_before_anything_runs(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bench", f"--passages={text}"])
    with pytest.raises(SystemExit):
        main()
    assert "--passages" in capsys.readouterr().err


def test_a_number_of_whole_parts_is_read() -> None:
    assert passage_count("1000000") == 1_000_000
