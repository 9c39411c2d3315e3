"""The example in docs/memory-model.md is run as it stands there."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "memory-model.md"


@pytest.mark.django_db
def test_the_worked_example_works(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert "assert" in example
    exec(compile(example, str(PAGE), "exec"), {"folder": tmp_path / "mira"})
    assert any((tmp_path / "mira").iterdir())
