"""In Korean 오전 and 오후 stand before the hour; Django writes them after it."""

TIME_FORMAT = "A g:i"
DATETIME_FORMAT = "Y년 n월 j일 A g:i"
