"""A game master's text about a session is read, and an episode is proposed. Nothing here writes."""
