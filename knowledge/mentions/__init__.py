"""Mentions of things in texts: found when a text is saved, and stored as `Link` rows."""
