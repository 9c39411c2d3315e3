"""Books of rules of any game: `drafts` makes rules of what the readers of imports return, `store`
writes them into a game system."""
