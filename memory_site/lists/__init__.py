"""Pages for work with many entries: the list of lore with bulk changes, recent changes, drafts,
history and review, proposals, the trash."""
