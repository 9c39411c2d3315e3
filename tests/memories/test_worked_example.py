"""The examples in docs/memory-model.md and in the README are run as they stand there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "memory-model.md"
README = ROOT / "README.md"


@pytest.mark.django_db
def test_the_worked_example_works(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert "assert" in example
    exec(compile(example, str(PAGE), "exec"), {"folder": tmp_path / "mira"})
    assert any((tmp_path / "mira").iterdir())


@pytest.mark.django_db
def test_the_example_of_the_readme_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = README.read_text(encoding="utf-8")
    [(example, printed)] = re.findall(r"```python\n(.*?)```\n\n {4}(\[.*?\])\n", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(README), "exec"), {})
    assert capsys.readouterr().out.strip() == printed
