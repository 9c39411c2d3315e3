"""Short forms of Russian given names: `Саша` is Александр or Александра."""

from collections import defaultdict
from functools import cache

from retrieval.text.names.inflections import name_forms

SHORT_FORMS = """
александр: саша саня шура алекс сашка
александра: саша шура саня сашка
алексей: леша алеша лёха леха
анастасия: настя ася настенька
анатолий: толя толик
андрей: андрюша дрюня
анна: аня нюра анюта аннушка
антон: антоша тоша
антонина: тоня
аркадий: аркаша
артем: тема
борис: боря
вадим: вадик
валентин: валя
валентина: валя
валерий: валера
валерия: лера
варвара: варя варенька
василий: вася васька
василиса: вася
вера: верочка
вероника: ника
виктор: витя
виктория: вика
виталий: виталик
владимир: вова володя вовка
владислав: влад владик слава
вячеслав: слава
галина: галя
геннадий: гена
георгий: гоша жора
григорий: гриша
дарья: даша
даниил: даня
денис: дениска
дмитрий: дима митя
евгений: женя
евгения: женя
екатерина: катя катюша
елена: лена алена
елизавета: лиза
ефим: фима
иван: ваня ванька ванюша
игнат: игнаша
игорь: игорек
илья: илюша
ирина: ира
кирилл: кирюша
константин: костя
ксения: ксюша
лариса: лара
леонид: леня
лидия: лида
любовь: люба
людмила: люда мила
маргарита: рита марго
мария: маша маня маруся
марина: мариша
матвей: мотя
михаил: миша мишка
надежда: надя
наталья: наташа
никита: никитка
николай: коля
олег: олежка
ольга: оля
павел: паша
петр: петя
полина: поля
прасковья: параша
роман: рома
родион: родя
светлана: света
семен: сема сеня
сергей: сережа серега
софья: соня
станислав: стас слава
степан: степа
татьяна: таня
тимофей: тима
федор: федя
юлия: юля
юрий: юра
яков: яша
ярослав: слава ярик
"""


@cache
def _other_names() -> dict[str, frozenset[str]]:
    others: dict[str, set[str]] = defaultdict(set)
    for line in SHORT_FORMS.strip().splitlines():
        full, short_forms = line.split(": ")
        for short in short_forms.replace("ё", "е").split():
            for form in name_forms(short):
                others[form].add(full)
            for form in name_forms(full):
                others[form].add(short)
    return {form: frozenset(names) for form, names in others.items()}


def other_given_names(word: str) -> frozenset[str]:
    """Return the full names of which the folded `word`, in any case, is a short form, or the short
    forms of which it is the full name."""
    return _other_names().get(word, frozenset())
