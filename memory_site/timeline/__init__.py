"""The timeline of a world or campaign: what happened on which of its days, for who may know it."""
