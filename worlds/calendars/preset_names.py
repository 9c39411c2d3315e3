"""Names of months, weekdays, seasons and festivals of the presets, in each language of the site."""

LANGUAGES = ("en", "ru", "ko")

GREGORIAN_MONTHS = {
    "en": (
        *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
        *("October", "November", "December"),
    ),
    "ru": (
        *("январь", "февраль", "март", "апрель", "май", "июнь", "июль", "август", "сентябрь"),
        *("октябрь", "ноябрь", "декабрь"),
    ),
    "ko": tuple(f"{number}월" for number in range(1, 13)),
}
GREGORIAN_WITH_DAY = (
    *("января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября"),
    *("октября", "ноября", "декабря"),
)
GREGORIAN_SHORT = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
OWN_MONTHS = {
    "en": (
        *("Frostmoon", "Thaw", "Sowing", "Blossom", "Highgrass", "Longlight", "Haymaking"),
        *("Reaping", "Vintage", "Leaf-fall", "Mistmoon", "Deepnight"),
    ),
    "ru": (
        *("Стужень", "Таяние", "Посев", "Цветень", "Травень", "Долгосвет", "Сенокос", "Жатва"),
        *("Сбор", "Листопад", "Туманник", "Темень"),
    ),
    "ko": (
        *("서리달", "해빙달", "파종달", "꽃달", "풀달", "긴낮달", "건초달", "수확달", "열매달"),
        *("낙엽달", "안개달", "긴밤달"),
    ),
}
OWN_WITH_DAY = (
    *("Стуженя", "Таяния", "Посева", "Цветеня", "Травеня", "Долгосвета", "Сенокоса", "Жатвы"),
    *("Сбора", "Листопада", "Туманника", "Темени"),
)
SEVEN_DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "ru": ("понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье"),
    "ko": ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"),
}
TEN_DAYS = {
    "en": (
        *("Firstday", "Secondday", "Thirdday", "Fourthday", "Fifthday", "Sixthday", "Seventhday"),
        *("Eighthday", "Ninthday", "Restday"),
    ),
    "ru": (
        *("первый день", "второй день", "третий день", "четвёртый день", "пятый день"),
        *("шестой день", "седьмой день", "восьмой день", "девятый день", "день отдыха"),
    ),
    "ko": (
        *("첫째 날", "둘째 날", "셋째 날", "넷째 날", "다섯째 날", "여섯째 날", "일곱째 날"),
        *("여덟째 날", "아홉째 날", "쉬는 날"),
    ),
}
SEASONS = {
    "en": ("Winter", "Spring", "Summer", "Autumn"),
    "ru": ("зима", "весна", "лето", "осень"),
    "ko": ("겨울", "봄", "여름", "가을"),
}
FESTIVALS = {
    "en": (
        *("Midwinter Day", "Spring Feast", "Midsummer Day", "Day of Oaths", "Harvest Feast"),
        "Day of the Dead",
    ),
    "ru": (
        *("День середины зимы", "Праздник весны", "День середины лета", "День клятв"),
        *("Праздник урожая", "День поминовения"),
    ),
    "ko": ("한겨울날", "봄 축제", "한여름날", "맹세의 날", "추수 축제", "망자의 날"),
}
MOON = {"en": "Moon", "ru": "Луна", "ko": "달"}
COMMON_ERA = {"en": "Common era", "ru": "наша эра", "ko": "서기"}
BEFORE_COMMON_ERA = {"en": "Before the common era", "ru": "до нашей эры", "ko": "기원전"}
BEFORE_SHORT = {"en": "BCE", "ru": "до н. э.", "ko": "기원전"}
PRESET_NAMES = {
    "gregorian": {
        "en": "Gregorian calendar",
        "ru": "Григорианский календарь",
        "ko": "그레고리력",
    },
    "twelve-times-thirty": {
        "en": "Twelve months of 30 days",
        "ru": "Двенадцать месяцев по 30 дней",
        "ko": "30일씩 열두 달",
    },
    "ten-day-weeks-and-festivals": {
        "en": "Ten-day weeks and festivals between the months",
        "ru": "Десятидневные недели и праздники между месяцами",
        "ko": "열흘 주와 달 사이의 축제일",
    },
    "twelve-times-twenty-eight": {
        "en": "Twelve months of 28 days",
        "ru": "Двенадцать месяцев по 28 дней",
        "ko": "28일씩 열두 달",
    },
    "leap-day-every-eight-years": {
        "en": "Months as on Earth, a leap day every eight years",
        "ru": "Месяцы как на Земле, високосный день раз в восемь лет",
        "ko": "지구와 같은 달, 8년마다 윤일",
    },
}
