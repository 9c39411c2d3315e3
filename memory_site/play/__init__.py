"""The game master's pages for one party: Play during a session, Prepare before it."""
