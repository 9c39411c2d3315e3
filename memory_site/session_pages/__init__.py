"""Pages on which a game master keeps sessions, writes down what happened, and hands on recaps."""
