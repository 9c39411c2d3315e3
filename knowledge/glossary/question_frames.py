"""The name inside a short question: `как работает огненный шар?` asks for `огненный шар`."""

from dataclasses import dataclass

from retrieval.text import WORD, fold_name, has_hangul, text_forms

MOST_WORDS = 6
"""Of a name. A longer rest is a question in words of its own."""

FRAMES = """
    как что чем кто такое это значит работает работают действует действуют делает делают дает
    использовать применить применять применяется считается расскажи расскажите объясни объясните
    опиши описание покажи найди найти правило правила про о об по на у есть ли можно мне нужно
    нужна за какой какая какое какие сколько зачем пожалуйста

    어떻게 어떤 어떠한 뭐 뭐야 뭔가요 뭐예요 뭐지 뭔데 뭐임 무엇 무엇인가요 무엇이야 무슨 뜻 뜻이야
    알려줘 알려주세요 알려 설명 설명해 설명해줘 설명해주세요 보여줘 찾아줘 찾아 효과 효과는 효과가
    규칙 규칙은 룰 룰은 써 쓰나요 쓰지 쓰는 쓰는지 써요 쓰면 사용법 사용 사용하나요 작동 작동해
    작동하나요 작동하지 하나요 돼 되나요 대해 대해서 대한 관한 관해 이란 란 은 는 이 가 을 를 좀
    줘 주세요 어때 얼마 얼마야 얼마나
"""
FRAME_WORDS = frozenset(FRAMES.split())
KIND_NAMES = "заклинание заклинания чары спелл магия состояние умение 주문 마법 스펠 상태 기술"
KINDS = frozenset(KIND_NAMES.split())
"""Words for what a name is of (`플라이 마법`), which may also be part of it (`마법 화살`)."""

VALUE_NAMES = "характеристики статы статблок хп hp ac кд 능력치 능력치는 스탯 스탯은"
VALUES = frozenset(VALUE_NAMES.split())
"""Words for the values of whatever is named beside them."""


@dataclass(frozen=True)
class NameInQuestion:
    """`forms` are the ways to read the name; `is_whole` says that the question is nothing else."""

    forms: tuple[str, ...]
    is_whole: bool


def name_in_question(question: str) -> NameInQuestion:
    """Return the name that a short question asks for; no forms for a longer one."""
    words = WORD.findall(question[:200])
    rest = [word for word in words if fold_name(word) not in FRAME_WORDS]
    if not rest or len(rest) > MOST_WORDS:
        return NameInQuestion((), False)
    is_whole = len(rest) == len(words)
    forms = [" ".join(rest)]
    if len(rest) > 1:
        forms += [
            " ".join(name)
            for kind, name in ((rest[0], rest[1:]), (rest[-1], rest[:-1]))
            if fold_name(kind) in KINDS
        ]
    if has_hangul(rest[-1]) and not is_whole:
        # The longest particle that may end the name: 화염구는 어떻게 써?
        forms += [" ".join([*rest[:-1], bare]) for bare in text_forms(rest[-1])[-1:] if bare]
    return NameInQuestion(tuple(dict.fromkeys(forms)), is_whole)


def without_values(name: str) -> str:
    """Return `name` without a word for values at either end, if a word is left: `КД 15` names
    nothing."""
    words = name.split()
    for end in (-1, 0):
        if len(words) > 1 and fold_name(words[end]) in VALUES:
            del words[end]
    return " ".join(words) if any(map(has_letter, words)) else name


def has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))
