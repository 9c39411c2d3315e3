"""What a question means, beyond its words: misspelled words, everyday speech, numbers, parts."""
