"""Is this true here? A sentence or a triple is read as a claim about two entities (`reading`, by the lexicons in
`data/`), judged by the facts of the graph (`judging`), and answered with its sources. No evidence is `unknown`: nothing
is guessed.
"""
