"""Facts, aliases, dates, deaths and new names that texts state, as proposals for game masters."""
