"""Formats of dates where Django's own are not those of the language."""
