"""What players call the rules in other languages: names for lookups, and help for questions across languages."""
