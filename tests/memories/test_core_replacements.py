"""Replacing text of a core memory: a line stays a line, whatever an agent quotes of it."""

import pytest

from memories import core, core_policy
from memories.models import CoreProposal, Namespace
from retrieval.errors import Invalid

pytestmark = pytest.mark.django_db


def user_lines(namespace: Namespace) -> list[str]:
    parsed = core_policy.parse_core(core.current(namespace).markdown)
    return parsed.sections["USER"]


def replaced(namespace: Namespace, line: str, old: str, new: str) -> list[str]:
    core.append(namespace, "USER", line)
    core.replace(namespace, "USER", old, new)
    return user_lines(namespace)


@pytest.mark.parametrize(
    ("line", "old", "new", "expected"),
    [
        ("Likes jazz.", "- Likes jazz.", "Likes blues.", ["- Likes blues."]),
        ("Likes jazz.", "Likes jazz.", "- Likes blues.", ["- Likes blues."]),
        ("Likes jazz.", "jazz", "blues", ["- Likes blues."]),
        ("Coffee is loved.", "loved", "", []),
        ("Writes in Russian.", "in Russian", "in Korean", ["- Writes in Korean."]),
        (
            "Answers are wanted in Russian.",
            "in Russian",
            "Answers are wanted in Korean.",
            ["- Answers are wanted in Korean."],
        ),
        (
            "Mira has a cat and a dog.",
            "cat",
            "Mira has a fox",
            ["- Mira has a fox and a dog."],
        ),
        ("Two cats live here.", "Two cats", "Three cats live here.", ["- Three cats live here."]),
    ],
)
def test_a_replacement_leaves_one_whole_line_or_none(
    mira: Namespace, line: str, old: str, new: str, expected: list[str]
) -> None:
    assert replaced(mira, line, old, new) == expected


def test_candidates_are_texts_that_can_be_quoted(mira: Namespace) -> None:
    core.append(mira, "USER", "Likes jazz.")
    with pytest.raises(Invalid) as refused:
        core.replace(mira, "USER", "Likes opera.", "Likes blues.")
    assert refused.value.candidates == ["Likes jazz."]


def test_a_whole_line_is_meant_although_another_contains_it(mira: Namespace) -> None:
    core.append(mira, "USER", "Likes jazz")
    core.append(mira, "USER", "Likes jazz on Sundays")
    core.replace(mira, "USER", "Likes jazz", "Likes blues")
    assert user_lines(mira) == ["- Likes blues", "- Likes jazz on Sundays"]


def test_a_repeated_line_is_named_with_its_section_once() -> None:
    page = core_policy.TEMPLATE.replace("# USER", "# USER\n- Likes jazz.\n- Likes jazz.")
    assert core_policy.problems(page) == ["USER would say it twice: likes jazz"]


@pytest.mark.parametrize("section", ["USER", "RULE"])
def test_a_line_that_is_there_already_is_named_as_that(mira: Namespace, section: str) -> None:
    core.append(mira, "USER", "Likes jazz.")
    proposal = core.append(mira, section, "likes  jazz")
    assert isinstance(proposal, CoreProposal)
    assert proposal.problems == ["It is in USER already: likes jazz"]
