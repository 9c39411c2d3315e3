"""What a text says of the graph, as proposals: facts, aliases, deaths, dates and new names, each
with the sentence that says so. Nothing is believed before a game master accepts it."""
