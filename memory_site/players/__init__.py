"""The players' own pages: what is new, what we know, our story, handouts and pictures."""
