"""Calendars of worlds: pure functions between world days and dates, without database or request.

`definition` says what a calendar is, `arithmetic` converts, `formatting` and `parsing` write and
read dates in English, Russian and Korean, `presets` offers calendars to begin with.
"""
