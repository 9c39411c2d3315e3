"""The world editor: one page per thing, to read it and to edit it."""
