"""Which texts and sentences tell of a world: not the rules of a game, stat blocks, licences, lists
and headings, whose capitals are no names."""

import re
from collections.abc import Sequence

from knowledge.extraction.findings import TextSentence
from retrieval.text import fold_name

NUMBERS_OF_RULES = re.compile(
    r"""
    (?<![\w.])\d*[dк]\d+(?![\w.])                # 2d6, 2к6
    | (?<![\w.,:)–-])[+−–-]\d+(?![\d-]*[.:]\d)   # +2, not 1990-95
    | \b\d+[+](?!\w)                             # 11+
    | \b(?:AC|PD|MD|DC|HP|XP|CR|КД|СЛ|ХП|Опыт)\b[\s:*|]*\d
    | \bvs\.(?!\w)
    """,
    re.VERBOSE,
)
"""What only rules count so: dice, bonuses, targets."""
WORDS_OF_RULES = re.compile(
    r"\b(?:"
    r"saving throws?|skill checks?|ability scores?|hit (?:points?|dice)|armou?r class|"
    r"escalation die|difficulty class|spell slots?|spells known|natural (?:even|odd|\d+)|"
    r"(?:bonus|penalty) to|(?:attack|damage|initiative|skill|ability|death) rolls?|"
    r"(?:attack|class|ability) bonus(?:es)?|\w+ modifiers?|(?:melee|ranged) attacks?|"
    r"(?:quick|free|move|standard|bonus|interrupt) actions?|critical hits?|"
    r"(?:half|ongoing|extra|cold|fire|psychic|holy|necrotic|lightning|thunder|acid|poison|force)"
    r" damage|(?:your|next|its|their) turn|(?:per|end of the|this) (?:battle|encounter|round)|"
    r"(?:short|long) rest|feats?|talents?|class features?|cantrips?|at-will|recharge|level-up|"
    r"level progression|multiclass\w*|mooks?|die rolls?|"
    r"the [gd]m(?:[’']s)?|[gd]ms|n?pcs|player characters?|role-?playing|rule ?books?|gameplay|"
    r"gamers?|licensors?|licensees?|licensed material|public licen[cs]e|open game|"
    r"copyright(?:ed)?|trademarks?|warrant(?:y|ies)|herein|hereby|pursuant|contributors?|"
    r"plug-?ins?|downloads?|readme|"
    r"спасброс\w*|брос(?:ок|ки|ка) (?:атаки|урона|инициативы)|класс\w* доспеха|"
    r"хит(?:ы|ов|ами)|бонус\w* к|модификатор\w*|бонусн\w+ действи\w+|ячейк\w+ заклинан\w+|"
    r"авторск\w+ прав\w*"
    r")\b|©|https?://|내성 굴림|명중 굴림|피해를 (?:입|받)|방어도|수정치|저작권|라이선스",
    re.IGNORECASE,
)
SHARE_OF_RULES = 0.3
"""From which share of such sentences on a text is one of rules."""
ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*$")
WORD = re.compile(r"[^\W\d_][\w'’-]*")
TITLES_OF_FILES = frozenset(
    fold_name(title)
    for title in (
        *("readme", "read me", "license", "licence", "copying", "copyright", "legal", "credits"),
        *("contributing", "contributors", "code of conduct", "changelog", "change log", "security"),
        *("revision log", "open game license", "ogl", "лицензия", "라이선스"),
    )
)
"""Notes with these titles are about a vault, not about its world."""
FEWEST_WORDS = 5
"""Of a line without a full stop that is read as a sentence."""


def is_of_rules(sentence: str) -> bool:
    """Whether a sentence is a line of a stat block, or speaks as only rules do."""
    return bool(NUMBERS_OF_RULES.search(sentence)) or len(WORDS_OF_RULES.findall(sentence)) > 1


def is_rules_text(sentences: Sequence[TextSentence]) -> bool:
    """Whether a text tells how a game is played, or what may be done with a book."""
    long = [each.text for each in sentences if len(WORD.findall(each.text)) > 1]
    of_rules = [each for each in long if is_of_rules(each) or WORDS_OF_RULES.search(each)]
    return len(of_rules) > 2 and len(of_rules) >= SHARE_OF_RULES * len(long)


def is_whole(sentence: str) -> bool:
    """Whether a line is a sentence, not a heading, a cell or a name alone."""
    words = WORD.findall(sentence)
    plain = [word for word in words if word == word.lower()]
    if sentence.startswith("|"):
        return False
    if ENDED.search(sentence):
        return len(words) > 1 and bool(plain)
    return len(words) >= FEWEST_WORDS and len(plain) > len(words) / 2
