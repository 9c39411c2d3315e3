"""The forms a name takes in a sentence: Russian cases, English possessives (made from the name),
and Korean particles (cut from the text)."""

from functools import lru_cache

from retrieval.text.words import has_hangul, is_cyrillic

# nominative ending -> the other endings of the singular and of the plural that have it (Софья,
# братья; Мира, острова); the longest ending wins
RUSSIAN = {
    "ия": "ии ию ией иею",
    "ая": "ой ую ою",
    "яя": "ей юю ею",
    "ое": "ого ому ым ом",
    "ее": "его ему им ем",
    "ие": "ия ию ием ии их им ими",
    "ые": "ых ым ыми",
    "ый": "ого ому ым ом",
    "ий": "его ему им ем ого ому ом ия ию ием ии",
    "ой": "ого ому ым ом оя ою оем ое",
    "ова": "овой ову овою овов овам овами овах",
    "ева": "евой еву евою",
    "ина": "иной ину иною ины ине",
    "ец": "ца цу цом цем це",
    "ок": "ка ку ком ке ока оку оком оке",
    "ень": "ня ню нем не ени енью",
    "ел": "ла лу лом ле ела елу елом еле",
    "ко": "ки ке ку кой",
    "ья": "ьи ье ью ьей ьею ьев ьям ьями ьях ей",
    "а": "ы и е у ой ою ей ею ам ами ах",
    "я": "и е ю ей ею ям ями ях",
    "й": "я ю ем е и",
    "ь": "и ью я ю ем е",
    "о": "а у ом е",
    "е": "я ю ем и",
    "ы": "ов ам ами ах ев",
    "и": "ов ам ами ах ей ям ями ях ев",
}
RUSSIAN_CONSONANT = "а у ом ем е ым"
RUSSIAN_VOWELS = "аеиоуыэюя"
SHORTEST_STEM = 2

# what must stand before these particles: a final consonant, a vowel, either
AFTER_CONSONANT = "은 이 을 과 이랑 으로 이나 이라는 이라고 이었다 이에요 과는 과의 으로부터"
AFTER_VOWEL = "는 가 를 와 랑 나 라는 라고 였다 예요 와는 와의"
AFTER_EITHER = """의 에 로 도 만 님 인 에서 에게 한테 께 께서 까지 부터
    하고 처럼 보다 마다 조차 이고 이다 이며 입니다
    에는 에도 에만 에서는 에서도 에서의 에게는
    에게도 에게서 한테서 로부터 님은 님이 님을 님의 님과 님에게"""
PARTICLES = {
    particle: before
    for before, particles in (
        ("consonant", AFTER_CONSONANT),
        ("vowel", AFTER_VOWEL),
        ("", AFTER_EITHER),
    )
    for particle in particles.split()
}


def name_forms(word: str, raw: str = "") -> frozenset[str]:
    """Return every form in which a sentence may show the (folded, nominative) `word` of a name."""
    if is_cyrillic(word):
        return _russian(word)
    if has_hangul(word) or not word.isalpha():
        return frozenset({word})
    possessive = raw[-2:-1] in ("'", "’")
    return frozenset({word, word[:-1] if possessive else word, word + "s", word + "es"})


def _russian(word: str) -> frozenset[str]:
    ending = next((end for end in sorted(RUSSIAN, key=len, reverse=True) if word.endswith(end)), "")
    stem = word[: len(word) - len(ending)]
    if len(stem) < SHORTEST_STEM and len(ending) > 1:
        ending = ending[-1] if ending[-1] in RUSSIAN else ""
        stem = word[: len(word) - len(ending)]
    if len(stem) < SHORTEST_STEM:
        return frozenset({word})
    if not ending and word[-1] in RUSSIAN_VOWELS:
        return frozenset({word})
    others = RUSSIAN[ending] if ending else RUSSIAN_CONSONANT
    return frozenset({word, *(stem + other for other in others.split())})


@lru_cache(50_000)
def text_forms(word: str) -> tuple[str, ...]:
    """Return the folded `word` of a sentence and what is left of it without Korean particles."""
    splits = [(word[:-n], word[-n:]) for n in range(1, 5) if len(word) > n]
    return (word, *(stem for stem, particle in splits if takes_particle(stem, particle)))


def takes_particle(stem: str, particle: str) -> bool:
    before = PARTICLES.get(particle)
    if not before or not has_hangul(stem[-1]):
        return before is not None
    # Unicode orders Hangul by final consonant, 28 of each; the first of them is none.
    has_final_consonant = (ord(stem[-1]) - ord("가")) % 28 != 0
    return (before == "consonant") == has_final_consonant
