"""What stands between a description and a name, before one, and after one, by language."""

import re

BETWEEN_NOUN_AND_NAME = {
    "en": re.compile(r"\s+(?:of|on|in|at|to|for|from)\s+(?:the\s+)?", re.IGNORECASE),
    "ru": re.compile(r"\s+(?:(?:на|в|во|из|у|для)\s+)?[«“\"]?"),
}
BETWEEN_NAME_AND_NOUN = re.compile(r"\s*(?:(?:있는|있던|서 있는|자리한|사는)\s+)?")
IN_PLACE = {
    "en": re.compile(r"\s+(?:on|in|at)\s+(?:the\s+)?", re.IGNORECASE),
    "ru": re.compile(r"\s+(?:на|в|во)\s+[«“\"]?"),
    "ko": re.compile(r"\s+(?:있는|서 있는|자리한)\s+"),
}
TOPICS = ("은", "는", "이", "가", "도", "의", "께서")
INSIDE = ("LOCATED_IN", "PART_OF")
COPULA = {
    "en": re.compile(
        r"\b(?:is|are|was|were|became|remains|not|nt)\s+(?:(?:the|an?|\w+['’]s)\s+)?(?:\w+\s+)?$",
        re.IGNORECASE,
    ),
    "ru": re.compile(r"(?:—|–|\s-|\bэто|\bне|\bявля\w+|\bбыла?|\bстала?)\s+(?:\w+\s+)?$"),
}
PLURALS = {
    "en": re.compile(r"\w+[^s'’]s"),
    "ru": re.compile(r"\w+(?:и|ы|ов|ев|ей|ам|ям|ами|ями|ах|ях)", re.IGNORECASE),
}
"""A surname in the plural. Russian ones in `а` are left to the other rules: `Фёдоровы` may share
the name of no house, `Анны` is one woman in the genitive."""
DEFINITE = re.compile(r"\bthe\s+(?:\w+\s+)?$", re.IGNORECASE)
FORMER = {
    "en": re.compile(r"former|previous|old|ex|late|onetime|erstwhile"),
    "ru": re.compile(
        r"(?:бывш|прежн|стар|покойн|предыдущ)(?:ий|ая|его|ей|ему|им|ую|юю|ый|ой|ого|ому|ым)"
    ),
    "ko": re.compile(r"옛|전|전임|이전|전직|예전"),
}
