"""Check a statement against the graph: parse it into a claim (`claims`, `lexicon`), judge the claim
by the facts (`checker`) and present the deciding facts (`evidence`). Without evidence the result is
`unknown`.
"""
