"""Bring in what people have: `readers` turn files into entries, `running` stores all of them or none and reports.

Imported text is for the game master alone unless the caller, or a file of our own export, says otherwise.
"""
