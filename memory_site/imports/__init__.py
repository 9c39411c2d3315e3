"""Imports of files into a world: pages, the work on the worker, undo. `knowledge.importers` reads
the files; here the drafts become lore, NPCs, entities, relations and pictures."""
