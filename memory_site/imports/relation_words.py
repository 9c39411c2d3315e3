"""The relation of the graph that the words of a source mean, such as "lives in" or "owner"."""

import re

from knowledge.graph.models import NodeKind
from knowledge.graph.relations import Relations

FALLBACK = "RELATES_TO"
WORDS: dict[str, str] = {
    "LOCATED_IN": "location|located|home|lives|live in|region|residence|resident|place|birthplace|"
    "born in|место|дом|живёт|живет|находится|위치|고향|거주",
    "PART_OF": "part of|parent|member|membership|faction|factions|guild|organi[sz]ations?|"
    "affiliation|allegiance|belongs|region|фракция|член|состоит|소속|구성원",
    "OWNED_BY": "owner|owned|holder|владелец|принадлежит|주인|소유자",
    "OWNS": "owns|owning|possesses|carries|wields|владеет|소유",
    "ALLY_WITH": "ally|allies|allied|friend|friends|союзник|союзники|друг|동료|친구|동맹",
    "ENEMY_OF": "enemy|enemies|rival|rivals|nemesis|hates|враг|враги|соперник|적|원수",
    "INVOLVES": "involves|participants|about|участники",
    "KNOWS": "knows|acquaintance|знает|знаком|지인",
}
PATTERNS = {code: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for code, words in WORDS.items()}


def relation_for(relations: Relations, words: str, src: NodeKind, dst: NodeKind) -> str:
    """The first relation whose words occur in `words` and that may join these kinds."""
    for code, pattern in PATTERNS.items():
        known = relations.get(code)
        if known and (src, dst) in known.joins and pattern.search(words):
            return code
    return FALLBACK
