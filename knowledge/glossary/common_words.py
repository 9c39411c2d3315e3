"""Words of everyday questions that the rules and their names do not hold, and that are no slips:
those that frame a name, and the others below."""

from knowledge.glossary.question_frames import FRAMES
from retrieval.text import name_words

ENGLISH = """
a about actually after again all already also always am an and another any anybody anyone anything
are aren't around as ask asked asks at away back bad be because been before being best better
between big both but buddy by came can can't cannot come comes could did didn't different do does
doesn't doing don't done down each easier easy else enough even ever every everyone everything
explain far few find first for friend from get gets getting give given go goes going gone gonna good
got gotta great guy had happen happens hard has have he hello her here hers hey hi him his hit hits
how i i'd i'll i'm i've if in instead into is isn't it it's its just keep know last least less let
let's like little long look lose lot made make makes many matter may maybe me mean means might mine
more most much must my need needs never new next no nobody nope not nothing now of off often oh ok
okay on once one only or other our ours out over own people per please possible pretty put really
right rule rules said same say says see seem seems she should show since so some somebody someone
something sometimes soon sorry still stop such sure take takes talk tell than thank thanks that
that's the their them then there these they they're thing things think this those though through
to today together too took tried tries try trying turn two under until up us use used uses using
usually very want wants was wasn't way we we're well went were what what's whatever when where
whether which while who who's whoever whole whom whose why will with without won't work worked
working works would wouldn't wrong yes yet you you're your yours guys stuff kinda sorta wanna dude
mate anyway basically exactly explanation question answer player players character game table
"""
RUSSIAN = """
а без более больше будет буду бы был была были было быть в вам вас весь во вообще вот все всё всего
всегда всех вы где говорит да даже делать для до другой его ее её если ещё еще ж же здесь и из или
им иметь имеет именно их к каждый каков какова кем ко когда кого кому куда либо лучше между меня
много может мой моя моё мы над надо нам нас наш не него нее неё нельзя нет нету ни нибудь никогда
ним них ничего но ну нужен нужны один он она они оно от откуда очень под пока после потом потому
почему почти при просто против раз разве с сам сама сейчас скажи со спасибо сразу стоит так также
такая такие такой там твой тебе тебя тем теперь то тоже только том тот ту тут ты уже хватит хочу
хочет чего чей через чтобы чьё эта эти этого этой этом этот эту я работать действие означает
подскажи узнать понять помоги получить получает получится можешь могу могут мог игрок игра персонаж
мастер ходу ход даёт дают стоят сделать сделал происходит произойдёт происходят заклинание вопрос
ответ
"""
KOREAN = """
작동합니까 어느 언제 어디 누가 누구 왜 몇 있어 있나요 있습니까 있는 없어 없나요 합니까 하는 해요
해 하면 할 수 되는 돼요 됩니까 되면 그리고 그러면 그럼 그런데 하지만 또는 혹은 아니면 이것 저것
그것 이거 저거 그거 나는 내가 나 너 우리 저는 제가 가르쳐줘 말해줘 질문 관해서 때 때문에 경우
경우에 동안 다음 이번 지금 다시 더 덜 안 못 잘 많이 조금 모두 다 전부 항상 정말 진짜 같은
같이 쓸 사용해 사용하면 의미 뜻이 방법 방법은 필요해 필요 필요한가요 가능해 가능한가요 가능 것 거
건 게 걸 인가요 인가 이야 이에요 예요 입니까 입니다
"""
COMMON_WORDS = frozenset(word.norm for word in name_words(ENGLISH + RUSSIAN + KOREAN + FRAMES))
