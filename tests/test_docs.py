"""What the docs promise is what the code has."""

import re
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def names_read_from_the_environment() -> set[str]:
    sources = [
        ROOT / "memory_site" / "settings.py",
        *(ROOT / "memory_site" / "management").rglob("*.py"),
    ]
    pattern = re.compile(r"""env(?:\.\w+)?\(\s*["']([A-Z][A-Z0-9_]+)["']""")
    return {name for source in sources for name in pattern.findall(source.read_text())}


def test_every_setting_is_documented_and_every_documented_setting_exists() -> None:
    documented = set(
        re.findall(
            r"^\| `([A-Z][A-Z0-9_]+)`", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE
        )
    )
    assert documented == names_read_from_the_environment()


def test_links_between_documents_resolve() -> None:
    broken = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text()):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)} -> {target}")
    assert broken == []


def test_the_readme_shows_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = set(re.findall(r"^\s*make ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert shown
    assert shown <= targets
