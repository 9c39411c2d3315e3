"""What the docs promise is what the code has."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
DECISIONS = ROOT / "docs" / "decisions"


def names_read_from_the_environment() -> set[str]:
    sources = [
        ROOT / "memory_site" / "settings.py",
        ROOT / "clients" / "python" / "src" / "memory37_client" / "exchange.py",
        *(ROOT / "memory_site" / "management").rglob("*.py"),
    ]
    pattern = re.compile(r"""env(?:iron)?(?:\.\w+)?\(\s*["']([A-Z][A-Z0-9_]+)["']""")
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
        for target in re.findall(r"\]\((?!https?:|#|mailto:|picture:)([^)#\s]+)", page.read_text()):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)} -> {target}")
    assert broken == []


def test_every_page_of_the_docs_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md", DECISIONS / "README.md"]
    while waiting:
        if (page := waiting.pop()) not in reached:
            reached.add(page)
            targets = re.findall(r"\]\((?!https?:)([^)#\s]+\.md)", page.read_text())
            waiting += [(page.parent / target).resolve() for target in targets]
    pages = {*(ROOT / "docs").rglob("*.md")} - {DECISIONS / "template.md"}
    assert sorted(pages - reached) == []


def test_the_readme_shows_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = set(re.findall(r"^\s*make ([a-z]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert shown
    assert shown <= targets


RECORDS = sorted(DECISIONS.glob("[0-9]*.md"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem[:4])
def test_a_decision_record_follows_the_template(record: Path) -> None:
    text = record.read_text()
    shape = (
        r"# (\d{4})\. \S.*\n\n- Date: \d{4}-\d\d-\d\d\n"
        r"- Status: (accepted|proposed|superseded by \[)"
    )
    assert (title := re.match(shape, text))
    assert title[1] == record.stem[:4]
    assert re.findall("^## (.*)", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]


def test_the_index_lists_every_decision_by_its_title_and_status() -> None:
    listed = re.findall(
        r"^\| \[(\d{4})\]\((\S+)\) \| (.*) \| (.*) \|$",
        (DECISIONS / "README.md").read_text(),
        re.MULTILINE,
    )
    texts = [record.read_text() for record in RECORDS]
    titles = [text.partition("\n")[0].removeprefix("# ") for text in texts]
    statuses = [re.findall("^- Status: (.*)$", text, re.MULTILINE)[0] for text in texts]
    assert listed == [
        (record.stem[:4], record.name, title[6:], status)
        for record, title, status in zip(RECORDS, titles, statuses, strict=True)
    ]
    # A record that another one supersedes, in whole or in part, says so itself.
    replaced = {
        (old, record.stem[:4])
        for record, status in zip(RECORDS, statuses, strict=True)
        if "supersedes" in status
        for old in re.findall(r"\[(\d{4})\]", status.partition("supersedes")[2])
    }
    told = dict(zip((record.stem[:4] for record in RECORDS), statuses, strict=True))
    assert [pair for pair in replaced if f"[{pair[1]}]" not in told[pair[0]]] == []
