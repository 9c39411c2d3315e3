"""Names of the rules in other languages, for lookups and for questions over English rules."""
