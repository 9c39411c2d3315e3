"""Import lore from other tools' files: readers turn files into drafts, `run` stores all of them or
none.

Imported text is for the game master alone unless the caller, or a file of our own export, says
otherwise."""
