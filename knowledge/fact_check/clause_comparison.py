"""Whether a sentence tells together what a statement says together.

`Moth Hall burned down in 1120 and was rebuilt in 1123` has all words of `Moth Hall burned down in
1123`, and does not say so: 1123 belongs to another verb. What a statement says has to stand in one
clause of the sentence; what a clause shares with one before it (its subject, or in a list the verb)
may stand there."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.fact_check.prose_words import has_concept
from knowledge.fact_check.sentence_clauses import (
    FIRST_YEAR,
    Item,
    SentenceClause,
    first_subject,
)
from knowledge.fact_check.sentence_tokens import clause_words


@dataclass(frozen=True)
class ClauseComparison:
    """Compares the clauses of a sentence with those of a statement."""

    clauses: Sequence[SentenceClause]
    language: str

    def tells(self, statement: Sequence[SentenceClause], *, only: int | None = None) -> bool:
        """Whether it tells each clause of the statement. `only`: the number of the clause that is
        looked at."""
        return all(
            self._tells_clause(self._said_here(items), only) for items in self._items_of(statement)
        )

    def speaks_of(self, statement: Sequence[SentenceClause], *, only: int | None = None) -> bool:
        """Whether a sentence that contradicts the statement speaks of the same: one clause has all
        words of the statement that the sentence has."""
        said = [item for clause in statement for item in clause.items if item.number is None]
        return self._tells_clause(self._said_here(said), only)

    def _said_here(self, items: Sequence[Item]) -> list[Item]:
        """Return the items without words that the sentence has not: it says the opposite, or
        another one of a group."""
        stems = [item.stem for clause in self.clauses for item in clause.items if item.stem]
        return [item for item in items if not item.stem or has_concept(item.stem, stems)]

    def _items_of(self, statement: Sequence[SentenceClause]) -> list[list[Item]]:
        """Return the items of each clause. A Korean one that tells how (`걸어서`) is a part of the
        next one."""
        found: list[list[Item]] = []
        is_open = False
        for clause in statement:
            if is_open:
                found[-1] += clause.items
            else:
                found.append(list(clause.items))
            has_value = any(item.number is not None for item in found[-1])
            is_open = self.language == "ko" and not has_value
        return found

    def _tells_clause(self, said: Sequence[Item], only: int | None) -> bool:
        told = [item for clause in self.clauses for item in clause.items]
        # The subject of the entry is not named.
        said = [s for s in said if not s.name or any(s.name == t.name for t in told)]
        places = range(len(self.clauses)) if only is None else [only]
        plainly = only is not None
        return any(self._is_said_in(place, said, plainly=plainly) for place in places)

    def _is_said_in(self, place: int, said: Sequence[Item], *, plainly: bool) -> bool:
        clause = self.clauses[place]
        missing = [s for s in said if not any(self._matches(s, t) for t in clause.items)]
        extra = [t for t in clause.items if not any(self._matches(s, t) for s in said)]
        if place and any(item.is_subject for item in extra):
            return False
        if not self._numbers_belong(clause, extra):
            return False
        shared = [s for s in missing if not (s.name and self._is_subject(s, place))]
        if not shared:
            return True
        if plainly or not self._is_list_end(clause, extra):
            return False
        return all(self._is_shared(s, place, said) for s in shared)

    def _matches(self, said: Item, told: Item) -> bool:
        if said.name or told.name:
            is_same = said.name == told.name
        elif said.number is not None or told.number is not None:
            is_same = said.number == told.number
        else:
            is_same = has_concept(said.stem, [told.stem])
        return is_same and not self._roles_differ(said.role, told.role)

    def _roles_differ(self, one: str, other: str) -> bool:
        """Whether `from Deepwell` is compared with `to Deepwell`."""
        if "none" in (one, other) or one == other:
            return False
        exclusive = clause_words(self.language).exclusive_roles
        return bool(one and other) or not exclusive.isdisjoint((one, other))

    def _is_subject(self, said: Item, place: int) -> bool:
        """Whether a name is the subject of a clause before this one, or of the next one where this
        one is the first: `Born in Deepwell, Otto died in Karst Gate`."""
        clauses = self.clauses[:place] or self.clauses[1:2]
        return any(
            said.name == item.name
            and (item.is_subject or (place > 0 and item == first_subject(clause, self.language)))
            for clause in clauses
            for item in clause.items
        )

    def _is_list_end(self, clause: SentenceClause, extra: Sequence[Item]) -> bool:
        """Whether a clause says nothing `extra`, or only where and how: `and plums at the mill`."""
        if not extra:
            return True
        has_number = any(item.number is not None for item in clause.items)
        last = next((item for item in reversed(clause.items) if item not in extra), None)
        is_after = last is not None and all(i.token.start > last.token.start for i in extra)
        return is_after and not has_number and all(item.role for item in extra)

    def _is_shared(self, said: Item, place: int, all_said: Sequence[Item]) -> bool:
        """Whether a clause before this one begins with it, or in Korean one after it ends with it,
        and no other verb stands between them."""
        others = range(place - 1, -1, -1)
        if self.language == "ko":
            others = range(place + 1, len(self.clauses))
        for other in others:
            items = self.clauses[other].items
            if self.language == "ko":
                items = items[::-1]
            for item in items:
                if self._matches(said, item):
                    return True
                if not any(self._matches(s, item) for s in all_said) and not item.is_subject:
                    break
            if self.clauses[other].has_verb:
                return False
        return False

    def _numbers_belong(self, clause: SentenceClause, extra: Sequence[Item]) -> bool:
        """Whether, of two years in a clause, the one of the statement stands beside a word of the
        statement: `built in 1003 was repaired in 1077`. `extra` is what the statement lacks."""
        step = 1 if self.language == "ko" else -1
        for place, item in enumerate(clause.items):
            if item.number is None or item in extra:
                continue
            rivals = [
                t
                for t in extra
                if t.number is not None and (t.number < FIRST_YEAR) == (item.number < FIRST_YEAR)
            ]
            beside = clause.items[place + step : place + step + 1] if place + step >= 0 else ()
            if rivals and beside and beside[0] in extra:
                return False
        return True
