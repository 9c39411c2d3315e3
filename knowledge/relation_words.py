"""The relation of the graph that the words of a source mean, such as "lives in" or "owner"."""

import re
from typing import NamedTuple

from knowledge.graph.labels import PROGRAM_LABELS
from knowledge.graph.models import FREE_RELATION, NodeKind
from knowledge.graph.relations import Relations

WORDS: dict[str, str] = {
    "LOCATED_IN": "location|located|home|hometown|lives|live in|based|base|headquarters|region|"
    "residence|resident|place|birthplace|"
    "born in|место|дом|живёт|живет|проживает|находится|расположен|расположена|регион|штаб|"
    "родной город|родина|위치|지역|고향|거주|거주지|사는 곳|출생지|본거지",
    "PART_OF": "part of|parent|member|membership|faction|factions|guild|organi[sz]ations?|"
    "affiliation|allegiance|belongs|region|leads|фракция|фракции|член|"
    "состоит|входит|часть|регион|소속|세력|일부|지역",
    "OWNED_BY": "owner(?! of)|owned by|owned|holder(?! of)|владелец|владелица|хозяин|хозяйка|"
    "принадлежит|주인|소유자",
    "OWNS": "owns|owner of|holder of|owning|possesses|carries|wields|possessions|belongings|"
    "inventory|владеет|имущество|소유|소지품",
    "ALLY_WITH": "ally|allies|allied|friend|friends|союзник|союзники|друг|друзья|동료|친구|동맹",
    "ENEMY_OF": "enemy|enemies|foe|foes|rival|rivals|nemesis|hates|враг|враги|соперник|"
    "соперники|적|원수|라이벌",
    "INVOLVES": "involves|participants|about|участники|참가자",
    "KNOWS": "knows|acquaintance|acquaintances|знает|знаком|지인",
}
PATTERNS = {code: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for code, words in WORDS.items()}


WHOLE_PHRASES: dict[tuple[str, str], str] = {
    ("ENEMY_OF", ""): "(is |are )?((a|an|the|our) )?(sworn |old |mortal )?(enemy|foe) (of|to)|"
    "(is |are )?enemies (of|with)|(является |заклятый )?враг(ом)?|враждует с|"
    "(의 )?적(이다)?|적대(한다|하다|함)?",
    ("ALLY_WITH", ""): "(is |are )?((a|an|the|our) )?(old |sworn )?ally (of|to|with)|"
    "(is |are )?(allied|allies) (with|to|of)|(является )?союзник(ом)?|союзница|в союзе с|"
    "(와 |과 |의 )?동맹(이다)?|동맹 관계(이다)?",
    ("PART_OF", ""): "(is |are )?((a|the) )?part of|часть|является частью|(의 )?일부(이다)?",
    ("LOCATED_IN", ""): "(is |are )?(located|situated) (in|at)|находится в|(에 )?위치(한다|하다)?",
    ("OWNED_BY", ""): "(is |are )?(owned by|the property of)|принадлежит",
    ("KNOWS", ""): "(has met|is acquainted with)|знаком(а)? с|знает",
    (FREE_RELATION, "member of"): "(is |are )?((a|an|the) )?members? (of|in)|"
    "(является )?член(ом)?|состоит в|(의 )?(구성원|회원)(이다)?",
}
"""Other words for a relation as a whole, by its code and the label of the fact."""
PHRASES = {relation: re.compile(words, re.IGNORECASE) for relation, words in WHOLE_PHRASES.items()}


def relation_of_phrase(words: str) -> tuple[str, str] | None:
    """Return the code and the label that `is enemy of` or `is a member of` mean; None for words
    that say something of their own."""
    return next((each for each, pattern in PHRASES.items() if pattern.fullmatch(words)), None)


PLACE_IN_PLACE = re.compile(
    r"\b(?:location|located|region|place|место|находится|расположена?|расположено|регион|위치|지역)\b",
    re.IGNORECASE,
)
"""Words by which a place is a part of another one: nothing but a place is *in* a place."""


def relation_for(relations: Relations, words: str, src: NodeKind, dst: NodeKind) -> str:
    """The first relation whose words occur in `words` and that may join these kinds."""
    for code, pattern in PATTERNS.items():
        known = relations.get(code)
        if known and (src, dst) in known.joins and pattern.search(words):
            return code
    is_place = src == dst == NodeKind.LOCATION and PLACE_IN_PLACE.search(words)
    return "PART_OF" if is_place and (src, dst) in joins_of(relations, "PART_OF") else FREE_RELATION


def label_for(words: str, code: str) -> str:
    """The label of a fact whose relation has this code: nothing for words that say no more than
    the relation does, a label that pages translate if the words are one, else the words."""
    if words.casefold() in PROGRAM_LABELS:
        return words.casefold()
    return "" if relation_of_phrase(words) == (code, "") else words


def joins_of(relations: Relations, code: str) -> frozenset[tuple[str, str]]:
    relation = relations.get(code)
    return relation.joins if relation else frozenset()


READ_FROM_TARGET: dict[str, str] = {
    "member of": "members|члены|участники|구성원|회원",
    "leads": "leader|leaders|led by|head|headed by|commander|commanders|commanded by|captain|chief|"
    "chieftain|глава|лидер|командир|командующий|капитан|вождь|предводитель|지도자|수장|대장|"
    "단장|사령관",
    "rules": "ruler|rulers|ruled by|правитель|правительница|통치자",
    "lives in": "residents|inhabitants|жители|обитатели|주민|거주자",
    "part of": "places|districts|subgroups",
    "mentor of": "mentor|mentors|teacher|teachers|наставник|наставники|наставница|учитель|учителя|"
    "учительница|스승",
    "apprentice of": "apprentice|apprentices|pupil|pupils|student|students|disciple|disciples|"
    "ученик|ученики|ученица|ученицы|제자|제자들",
}
"""Fields that say what their target is to the entry: *leader: Mira* is *Mira leads …*."""
KINSHIP_FIELDS: dict[str, str] = {
    "parent of": "parent|parents|родитель|родители|부모|부모님",
    "mother of": "mother|мать|мама|어머니|엄마|모친",
    "father of": "father|отец|папа|아버지|아빠|부친",
    "child of": "child|children|ребёнок|ребенок|дети|자녀|자식|아이",
    "daughter of": "daughter|daughters|дочь|дочери|딸",
    "son of": "son|sons|сын|сыновья|아들",
    "sibling of": "sibling|siblings|братья и сёстры|братья и сестры|형제자매|남매|형제|동생",
    "sister of": "sister|sisters|сестра|сёстры|сестры|자매|누나|언니|여동생",
    "brother of": "brother|brothers|брат|братья|형|오빠|남동생",
    "spouse of": "spouse|spouses|married to|супруги|배우자|부부",
    "wife of": "wife|жена|супруга|아내|부인",
    "husband of": "husband|муж|супруг|남편",
    "betrothed to": "betrothed|fiancé|fiance|fiancée|fiancee|engaged to|жених|невеста|"
    "약혼자|약혼녀",
    "grandparent of": "grandparent|grandparents|бабушка и дедушка|조부모",
    "grandmother of": "grandmother|бабушка|할머니|외할머니",
    "grandfather of": "grandfather|дедушка|дед|할아버지|외할아버지",
    "grandchild of": "grandchild|grandchildren|внуки|손주",
    "granddaughter of": "granddaughter|granddaughters|внучка|внучки|손녀",
    "grandson of": "grandson|grandsons|внук|손자",
    "aunt of": "aunt|aunts|тётя|тетя|тётка|тетка|고모|이모|숙모",
    "uncle of": "uncle|uncles|дядя|삼촌|외삼촌|큰아버지|작은아버지|고모부|이모부",
    "niece of": "niece|nieces|племянница|조카딸",
    "nephew of": "nephew|nephews|племянник",
    "niece or nephew of": "niblings|племянники|조카",
    "cousin of": "cousin|cousins|двоюродный брат|двоюродная сестра|кузен|кузина|사촌",
}
"""Fields of a person that say what another one is to them, by the label of the fact; these are the
labels of a family (`npcs.kinship`)."""
KINSHIP_WORDS = {
    field: label for label, fields in KINSHIP_FIELDS.items() for field in fields.split("|")
}
TARGET_WORDS = {
    field: words for words, fields in READ_FROM_TARGET.items() for field in fields.split("|")
}
TELLING = {"leads"}
"""Words that say more than the relation that they become."""


class ReadRelation(NamedTuple):
    """A relation as it is written to the graph. `inverse`: from the target to the entry."""

    code: str
    label: str
    inverse: bool = False


def read_field(relations: Relations, words: str, src: NodeKind, dst: NodeKind) -> ReadRelation:
    """Return what a field or a label of the entry `src` says about the target `dst`."""
    kinship = KINSHIP_WORDS.get(words.lower().strip())
    if kinship and src == dst == NodeKind.CHARACTER:
        return ReadRelation(FREE_RELATION, kinship, inverse=True)
    direct = relation_for(relations, words, src, dst)
    turned = TARGET_WORDS.get(words.lower().strip())
    if turned:
        inverse = relation_for(relations, turned, dst, src)
        if inverse != FREE_RELATION or direct == FREE_RELATION:
            label = turned if inverse == FREE_RELATION or turned in TELLING else ""
            return ReadRelation(inverse, label, inverse=True)
    return ReadRelation(direct, words if direct == FREE_RELATION else "")
