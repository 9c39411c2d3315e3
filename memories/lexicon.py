"""Words that decide whether two sentences say the same: data, in English, Russian and Korean."""

NUMBER_WORDS = {
    word: str(value)
    for value, words in enumerate(
        [
            "zero ноль", "one один одна одно одного", "two два две двух", "three три трех трёх", "four четыре четырех",
            "five пять пяти", "six шесть шести", "seven семь семи", "eight восемь восьми", "nine девять девяти",
            "ten десять десяти", "eleven одиннадцать", "twelve двенадцать dozen", "thirteen тринадцать",
            "fourteen четырнадцать", "fifteen пятнадцать", "sixteen шестнадцать", "seventeen семнадцать",
            "eighteen восемнадцать", "nineteen девятнадцать", "twenty двадцать",
        ]
    )
    for word in words.split()
} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000", "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5",
    "sixth": "6", "seventh": "7", "eighth": "8", "ninth": "9", "tenth": "10", "once": "1", "twice": "2", "thrice": "3",
    "half": "0.5", "both": "2", "pair": "2", "тридцать": "30", "сорок": "40", "пятьдесят": "50", "сто": "100",
    "тысяча": "1000", "первый": "1", "второй": "2", "третий": "3", "дважды": "2", "оба": "2",
    "하나": "1", "둘": "2", "셋": "3", "넷": "4", "다섯": "5", "여섯": "6", "일곱": "7", "여덟": "8", "아홉": "9", "열": "10",
    "한": "1", "두": "2", "세": "3", "네": "4",
}  # fmt: skip

NEGATIONS = frozenset(
    """no not never none nobody nothing neither nor without cannot can't won't don't doesn't didn't isn't aren't wasn't
    weren't hasn't haven't hadn't wouldn't shouldn't couldn't mustn't unable refuses refused denies denied lacks lacking
    failed fails hardly unlikely stopped stops quit ceased
    не нет ни никогда никто ничего без нельзя отказался отказалась
    안 못 않는다 않다 않았다 없다 없는 없이 아니다 아닌 절대""".split()
)

TIME_WORDS = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december spring summer autumn fall winter morning noon afternoon evening night midnight
    dawn dusk sunrise sunset yesterday today tomorrow tonight last next weekly daily monthly yearly annually
    before after until since during always sometimes often rarely seldom usually former formerly previously now soon
    понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье январь января февраль февраля
    март марта апрель апреля май мая июнь июня июль июля август августа сентябрь сентября октябрь октября ноябрь ноября
    декабрь декабря весна весной лето летом осень осенью зима зимой утро утром полдень вечер вечером ночь ночью
    полночь рассвет рассвете закат закате вчера сегодня завтра до после всегда иногда часто редко
    월요일 화요일 수요일 목요일 금요일 토요일 일요일 봄 여름 가을 겨울 아침 정오 오후 저녁 밤 자정 새벽 어제 오늘 내일
    전 후 항상 가끔 자주""".split()
)

OPPOSITES = [
    tuple(pair.split("/"))
    for pair in """before/after left/right north/south east/west up/down above/below open/closed open/shut alive/dead
    lives/died love/hate loves/hates like/dislike likes/dislikes trust/distrust trusts/distrusts friend/enemy ally/enemy
    allies/enemies buy/sell bought/sold buys/sells win/lose won/lost wins/loses enter/leave entered/left arrive/depart
    arrived/departed arrives/departs give/take gave/took borrow/lend borrowed/lent borrows/lends accept/reject
    accepted/rejected accepts/rejects hot/cold cheap/expensive cheaper/dearer rich/poor young/old younger/older
    first/last early/late earlier/later high/low higher/lower more/less most/least more/fewer increase/decrease
    increased/decreased rise/fall rose/fell raised/lowered inside/outside start/end started/ended begin/finish
    began/ended day/night man/woman brother/sister mother/father son/daughter husband/wife uncle/aunt king/queen
    always/never safe/dangerous guilty/innocent true/false legal/illegal allowed/forbidden permitted/forbidden
    locked/unlocked empty/full broken/whole success/failure succeeded/failed with/without black/white red/blue
    gold/silver sun/moon tea/coffee dog/cat summer/winter spring/autumn morning/evening dawn/dusk upstream/downstream
    public/private hidden/visible light/dark remember/forget remembers/forgot married/divorced strong/weak
    fast/slow upper/lower front/back lawful/unlawful married/unmarried happy/unhappy friendly/unfriendly
    honest/dishonest able/unable known/unknown agree/disagree agrees/disagrees agreed/disagreed appear/disappear
    appeared/vanished attack/defend attacked/defended
    до/после левый/правый слева/справа север/юг восток/запад открыт/закрыт открыта/закрыта жив/мертв жива/мертва
    друг/враг любит/ненавидит купил/продал купила/продала утро/вечер утром/вечером день/ночь брат/сестра мать/отец
    сын/дочь муж/жена рано/поздно больше/меньше можно/нельзя
    왼쪽/오른쪽 북쪽/남쪽 동쪽/서쪽 좋아한다/싫어한다 친구/적 아침/저녁 형/동생 전에/후에""".split()
]

FUNCTION_WORDS = frozenset(
    """a an the of to in on at by for from with as is are was were be been being am do does did has have had will would
    shall should can could may might must that this these those it its he she they them his her their him i me my we our
    you your who whom which what when where there here and or but so if then than too very just also only about into
    over under up out off again own s t re ve ll d m
    и в во на с со к ко от до из у о об по за при для что это этот эта эти тот как он она они его ее её их был была было
    были есть я мы вы ты мой наш а но или же ли бы
    은 는 이 가 을 를 의 에 에서 로 으로 와 과 도 만 그 저 이것""".split()
)

PASSIVE = frozenset("by owed given led run owned held killed taught raised hired paid sent told taken kept".split())

SYNONYMS = [
    frozenset(group.split())
    for group in """big large huge
    small little tiny
    begin begins start starts commence commences open opens
    buy buys purchase purchases
    say says tell tells state states report reports
    live lives dwell dwells reside resides
    ferryman boatman
    ship vessel boat
    road street
    fast quick swift
    afraid scared frightened fears fear
    angry furious
    king's royal
    like likes enjoy enjoys love loves fond prefer prefers
    job work works employed
    child kid
    children kids
    help helps aid aids assist assists
    kill kills murder murders slay slays killed murdered slain
    steal stole stolen took robbed
    gold coins coin
    inn tavern pub
    house home
    leader head chief leads heads
    keep keeps hold holds
    need needs require requires
    speak speaks talk talks
    meet meets met encountered
    own owns belongs possess possesses""".splitlines()
]
