"""Questions about one value of a stat block, a spell or a thing: "goblin AC", "how much damage does
a longsword do", "дальность огненного шара", "트롤 도전 지수".

Such a question is a name and the words for a value. `asked_values` tells which value and what the
name may be; `with_values_first` puts the value at the beginning of a rule's text. Values are read
from the text, where they stand behind labels, so that what somebody edited counts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

LONGEST = 200
"""Characters; a longer question asks for more than a value."""
MOST_SENTENCES = 2
OPTIONAL = re.compile(r"\\w\*|\\[sbw]\??|.\?")
LITERALS = re.compile(r"[a-zа-яё]{2,}|[가-힣]+")
MONSTER, SPELL, THING, CLASS = "monster", "spell", "equipment", "class"


@dataclass(frozen=True)
class Value:
    """A value that rules of some `kinds` have: behind one of `labels`, in a column of a table that
    has such a heading, or wherever `elsewhere` matches. `words` match what asks for it."""

    words: re.Pattern[str]
    labels: tuple[str, ...]
    kinds: frozenset[str]
    elsewhere: re.Pattern[str] | None
    hints: tuple[str, ...]
    """A text without any of these asks for another value; looking for them takes a tenth of the
    time of `words`."""

    def is_asked_in(self, plain: str) -> bool:
        is_likely = any(hint in plain for hint in self.hints)
        return is_likely and self.words.search(plain) is not None


@dataclass(frozen=True)
class AskedValues:
    values: tuple[Value, ...] = ()
    names: tuple[str, ...] = ()
    """What is left of the question without the words for a value, likeliest name first."""

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(value.kinds for value in self.values))


def value(words: str, labels: str, kinds: str, elsewhere: str = "") -> Value:
    anywhere = re.compile(elsewhere, re.MULTILINE) if elsewhere else None
    return Value(
        re.compile(words),
        tuple(labels.split("|")),
        frozenset(kinds.split()),
        anywhere,
        hints_of(words),
    )


def hints_of(pattern: str) -> tuple[str, ...]:
    """Return the letters in a row of a pattern, without those that need not be there."""
    always = OPTIONAL.sub(" ", pattern)
    return tuple(dict.fromkeys(LITERALS.findall(always)))


DICE = r"[^.|\n]*\b\d+d\d+[^.|\n]*(?:damage|урона?|피해)[^.|\n]*\.?"
SPELL_LEVEL = r"^\*(?:\d\w\w-level \w+|\w+ cantrip)[^*\n]*\*"
# Longer phrases come first: "hit points" before "points", "уровень опасности" before "уровень".
VALUES = (
    value(
        r"\bac\b|\barmou?r class\b|\b(?:кд|кб|кз|ас)\b|\bкласс\w* (?:доспех\w*|брони|защиты)\b"
        r"|방어도|장갑\s?등급|방어\s?등급|아머\s?클래스",
        "Armor Class|AC|Класс доспеха|КД|방어도",
        f"{MONSTER} {THING}",
    ),
    value(
        r"\bhp\b|\bhit ?points?\b|\bhealth\b|\bхп\b|\bхит(?:ы|ов|ам|ами|ах|а)?\b"
        r"|\b(?:очк|пункт|единиц)\w* (?:здоровья|жизни)\b|\bздоровь\w+|히트\s?포인트|체력|생명력",
        "Hit Points|HP|Хиты|히트 포인트",
        MONSTER,
    ),
    value(
        r"\b(?:(?:fly|swim|walk|climb|burrow)(?:ing)? )?speed\b"
        r"|\bhow fast\b|(?<=\w )\b(?:fly|swim|walk|move|run)\b(?=\W*$)"
        r"|\bскорост\w+(?: (?:пол[её]та|плавания|ходьбы|передвижения|лазания))?|\bбыстро\b"
        r"|\b(?:лета|плава|бега|двига)(?:ет|ют|ется|ются)\b|(?:비행|이동|수영|등반)?\s?속도|이동력",
        "Speed|Скорость|속도|이동 속도",
        f"{MONSTER} {THING}",
    ),
    value(
        r"\bchallenge(?: rating)?\b|\bcr\b|\b(?:показател\w+|уров\w+|рейтинг\w*) опасности\b"
        r"|\bопасност\w+|도전\s?지수|도전\s?등급|\bxp\b|\bexperience(?: points?)?\b"
        r"|\bопыт\w*|경험치",
        "Challenge|Challenge Rating|CR|Опасность|도전 지수",
        MONSTER,
    ),
    value(
        r"\bdamage\b|\bdmg\b|\bурон\w*|피해량|피해|데미지|대미지",
        "Damage|Two-Handed Damage|Урон|피해",
        f"{SPELL} {THING} {MONSTER}",
        DICE,
    ),
    value(
        r"\brange\b|\bhow far\b|\bдальност\w+|\bдистанци\w+|사정\s?거리|사거리",
        "Range|Thrown|Дистанция|Дальность|사거리",
        f"{SPELL} {THING}",
    ),
    value(
        r"\bduration\b|\bhow long\b|\blasts?\b(?=\W*$)|\bдлительност\w+|\bдлится\b|지속\s?시간",
        "Duration|Длительность|지속시간",
        SPELL,
    ),
    value(
        r"\bcomponents?\b|\bкомпонент\w*|구성\s?요소",
        "Components|Компоненты|구성요소",
        SPELL,
    ),
    value(
        r"\bcast(?:ing)? time\b|\bврем\w+ (?:накладывания|сотворения)\b|시전\s?시간",
        "Casting Time|Время накладывания|시전 시간",
        SPELL,
    ),
    value(
        r"\blevel\b(?!\W*\d)|\bуров(?:ень|ня)\b(?! опасности)|\bкруга?\b|레벨(?!\s?\d)|\bschool\b"
        r"|\bшкол[аы]\b|학파",
        "Level|School|Уровень|레벨",
        SPELL,
        SPELL_LEVEL,
    ),
    value(
        r"\bsav(?:es?|ing throws?)\b|\bспасброс\w+|내성(?:\s?굴림)?",
        "Saving Throws|Спасброски|내성 굴림",
        f"{MONSTER} {CLASS}",
    ),
    value(
        r"\bhit di(?:e|ce)\b|\bкост\w+ хитов\b|히트\s?다이스|생명력\s?주사위",
        "Hit Die|Кость хитов|히트 다이스",
        CLASS,
    ),
    value(
        r"\bproficienc(?:y|ies)\b|\bвладени\w+|숙련",
        "Proficiencies|Владения|숙련",
        CLASS,
    ),
    value(
        r"\bcosts?\b|\bprice\b|\bсто(?:ит|ят|имость)\b|\bцен[аыу]\b|가격|값",
        "Cost|Price|Цена|Стоимость|가격",
        THING,
    ),
    value(
        r"\bweighs?\b|\bweight\b|\bheavy\b|\bвес(?:ит|ят)?\b|무게|중량",
        "Weight|Вес|무게",
        THING,
    ),
    *(
        value(words, labels, MONSTER)
        for words, labels in (
            (r"\bstr(?:ength)?\b|\bсил[аыеу]\b|근력", "STR|СИЛ|근력"),
            (r"\bdex(?:terity)?\b|\bловкост\w+|민첩성?", "DEX|ЛОВ|민첩"),
            (r"\bcon(?:stitution)?\b|\bтелосложени\w+|건강", "CON|ТЕЛ|건강"),
            (r"\bint(?:elligence)?\b|\bинтеллект\w*|지능", "INT|ИНТ|지능"),
            (r"\bwis(?:dom)?\b|\bмудрост\w+|지혜", "WIS|МДР|지혜"),
            (r"\bcha(?:risma)?\b|\bхаризм\w+|매력", "CHA|ХАР|매력"),
        )
    ),
)
FRAME = re.compile(
    r"(?:how|much|many|what|what's|whats|which|is|are|the|a|an|of|for|does|do|has|have|can|it|to|"
    r"get|gives?|deals?|with|on|by|score|value|spell|weapon|monster|"
    r"сколько|как(?:ой|ая|ое|ие|ого|ому|ую|ова|ов)|у|от|на|с|со|в|за|из|для|нанос(?:ит|ят)|имеет|да[её]т|"
    r"есть|это|раве?н|равна|значение|заклинани[ея]|оружие|монстра?|"
    r"얼마나|얼마야|얼마|몇이야|몇|수치|은|는|이|가|의|을|를|돼|되나요|되나|뭐야|주문|무기|몬스터|알려줘|"
    r"인가요|인가|이야|야)"
)
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def asked_values(text: str) -> AskedValues:
    """Return the values that a question asks for, and the names it may ask about."""
    if len(text) > LONGEST:
        return AskedValues()
    plain = text.lower()
    asked = tuple(each for each in VALUES if each.is_asked_in(plain))
    if not asked:
        return AskedValues()
    without_all = plain
    for each in asked:
        without_all = each.words.sub(" ", without_all)
    # Without the words of one value alone: another one's may belong to the name (`giant strength`).
    rests = [without_all, *(each.words.sub(" ", plain) for each in asked[:3])]
    names = dict.fromkeys(name for rest in rests if (name := without_frame(rest)))
    return AskedValues(asked, tuple(names)) if names else AskedValues()


def without_frame(text: str) -> str:
    """Return `text` without the words of a question at its beginning and end."""
    words = WORD.findall(text)
    while words and FRAME.fullmatch(words[0]):
        words.pop(0)
    while words and FRAME.fullmatch(words[-1]):
        words.pop()
    return " ".join(words)


def with_values_first(text: str, asked: AskedValues) -> str:
    """Return `text` with the values asked for before it, as far as it holds them."""
    lines = list(dict.fromkeys(chain.from_iterable(find_value(text, v) for v in asked.values)))
    # What the text begins with is first already.
    missing = [line for line in lines if not text.startswith(line)]
    return "\n\n".join(["  \n".join(missing), text]) if missing else text


def find_value(text: str, wanted: Value) -> Iterator[str]:
    """Yield the value with its label, of a table its column, else the sentences that hold it."""
    labels = "|".join(map(re.escape, wanted.labels))
    line = rf"^\W*?(?P<line>\*\*(?:{labels})[:.]?\*\*:?[ \t]*\S.*?)[ \t]*$"
    behind = re.finditer(line, text, re.MULTILINE | re.IGNORECASE)
    lines = [match["line"] for match in behind] or [*in_table(text, wanted.labels)]
    if not lines and wanted.elsewhere:
        found = (match[0].strip() for match in wanted.elsewhere.finditer(text))
        lines = list(islice(found, MOST_SENTENCES))
    yield from lines


def in_table(text: str, labels: Sequence[str]) -> Iterator[str]:
    """Yield the cell below or beside a cell that is one of `labels`."""
    known = {label.casefold() for label in labels}
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if line.lstrip().startswith("|") and set(line) - set("|-: ")
    ]
    for head, below in pairwise([*rows, []]):
        for column, cell in enumerate(head):
            label = cell.strip("*:")
            if label.casefold() not in known:
                continue
            if len(head) == 2 and column == 0:
                yield f"**{label}** {head[1]}"
            elif column < len(below):
                yield f"**{label}** {below[column]}"
