"""What changed in a world, in the order of commits: one row per change, written by the database."""
