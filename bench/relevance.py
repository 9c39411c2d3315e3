"""Fit and measure the relevance of hits: `python -m bench.relevance FOLDER… [--only SET] [--own]`.

Each set is asked its own questions, and questions of the other sets in the same language, which
have no answer there. The coefficients are fitted to all sets but one and measured on that one:
how well relevance tells answers from other hits (area under the curve), and, for each cut-off,
the precision of what is shown, the share of answers that are lost, and the share of questions that
find nothing, of those with an answer and of those without. The coefficients that are shipped are
measured beside them, also by language. `--own` adds our own memories that are no conversation.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.datasets import Dataset, Question, chosen_sets, sample_questions, sets_parser
from bench.labelled_sets import own_memory_sets
from bench.scratch import connect

CUT_OFFS = (0.03, 0.05, 0.1, 0.2)
SEED = 37
STEPS, PENALTY = 50, 0.0005


@dataclass(frozen=True)
class Asked:
    """The hits of one question: (hits, 2) scores and leads, and which of them are answers."""

    signs: NDArray[np.float64]
    answers: NDArray[np.bool_]
    has_answer: bool
    language: str = ""


def main() -> None:
    parser = sets_parser(__doc__)
    parser.add_argument("--own", action="store_true", help="Also our own sets of memories.")
    options = parser.parse_args()
    connect()
    sets = list(chosen_sets(options))
    if options.own:
        sets += [sample_questions(each, options.sample) for each in own_memory_sets()]
    asked = {each.name: list(ask(each, sets)) for each in sets}
    for name in asked:
        others = [rows for other, rows in asked.items() if other != name or len(asked) == 1]
        report(f"{name}, fitted to the others", asked[name], fit(others))
        report_shipped(name, asked[name])
    print("all sets:", np.round(fit(list(asked.values())), 2))


def report_shipped(name: str, rows: Sequence[Asked]) -> None:
    """Report on the coefficients in use, for all questions and for each of several languages."""
    from retrieval.search.relevance import BIAS, LEAD, SCORE

    shipped = np.array([BIAS, SCORE, LEAD])
    report(f"{name}, as shipped", rows, shipped)
    languages = sorted({each.language for each in rows})
    for language in languages if len(languages) > 1 else ():
        of_language = [each for each in rows if each.language == language]
        report(f"{name}, as shipped, {language}", of_language, shipped)


def ask(dataset: Dataset, sets: Sequence[Dataset]) -> Iterator[Asked]:
    from bench.corpora import model_for, preset_for, shelve, tenant
    from retrieval.search import SearchRequest, search
    from retrieval.search.relevance import leads

    keys, model = shelve(dataset, lambda _line: None), model_for(dataset)
    for scope, question in [*own_questions(dataset), *foreign_questions(dataset, sets)]:
        name = tenant(dataset, scope)
        found = search(
            model.objects.filter(tenant=name),
            SearchRequest(
                query=question.text,
                scopes=[name],
                hidden=True,
                preset=preset_for(dataset),
                language=question.language,
            ),
        )
        scores = [hit.score for hit in found.hits]
        if scores:
            yield Asked(
                np.array([scores, list(leads(scores))]).T,
                np.array([keys[hit.id] in question.relevant for hit in found.hits]),
                bool(question.relevant),
                question.language,
            )


def own_questions(dataset: Dataset) -> list[tuple[str, Question]]:
    return [(question.scope, question) for question in dataset.questions]


def foreign_questions(dataset: Dataset, sets: Sequence[Dataset]) -> list[tuple[str, Question]]:
    """Half as many questions of other sets, in the languages of this one, each for a scope."""
    languages = {question.language for question in dataset.questions}
    others = [
        question
        for other in sets
        for question in other.questions
        if other.name != dataset.name and question.language in languages
    ]
    dice = random.Random(SEED)
    dice.shuffle(others)
    chosen = others[: len(dataset.questions) // 2]
    nowhere = frozenset[str]()
    return [
        (dice.choice(dataset.scopes), replace(question, relevant=nowhere)) for question in chosen
    ]


def fit(sets: Sequence[Sequence[Asked]]) -> NDArray[np.float64]:
    """Return bias and coefficients of a logistic regression by Newton's method; every set counts
    the same."""
    signs = np.vstack([each.signs for rows in sets for each in rows])
    answers = np.concatenate([each.answers for rows in sets for each in rows]).astype(float)
    sizes = [sum(len(each.answers) for each in rows) for rows in sets]
    weights = np.repeat([1 / (len(sets) * size) for size in sizes], sizes)
    columns = np.hstack([np.ones((len(signs), 1)), signs])
    penalty = 2 * PENALTY * np.diag([0.0, 1.0, 1.0])
    values = np.zeros(3)
    for _step in range(STEPS):
        share = 1 / (1 + np.exp(-columns @ values))
        slope = columns.T @ (weights * (share - answers)) + penalty @ values
        curvature = (columns * (weights * share * (1 - share))[:, None]).T @ columns + penalty
        values -= np.linalg.solve(curvature, slope)
    return values


def report(name: str, rows: Sequence[Asked], values: NDArray[np.float64]) -> None:
    relevance = [1 / (1 + np.exp(-(values[0] + each.signs @ values[1:]))) for each in rows]
    flat, answers = np.concatenate(relevance), np.concatenate([each.answers for each in rows])
    print(
        f"{name}: area {area(flat, answers):.3f}, mean {flat.mean():.3f} for {answers.mean():.3f}"
    )
    has_answer = np.array([each.has_answer for each in rows])
    for cut in CUT_OFFS:
        shown = flat >= cut
        is_silent = np.array([not (each >= cut).any() for each in relevance])
        print(
            f"  cut-off {cut}: precision {answers[shown].mean():.2f},"
            f" answers lost {1 - answers[shown].sum() / answers.sum():.2f},"
            f" silent {is_silent[has_answer].mean():.2f} with an answer"
            + (f", {is_silent[~has_answer].mean():.2f} without" if not has_answer.all() else "")
        )


def area(values: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The area under the ROC curve, by ranks (Mann and Whitney 1947)."""
    ranks = np.argsort(np.argsort(values)) + 1
    count = int(positive.sum())
    below = float(ranks[positive].sum()) - count * (count + 1) / 2
    return below / (count * (len(values) - count))


if __name__ == "__main__":
    main()
