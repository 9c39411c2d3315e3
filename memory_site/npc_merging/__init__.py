"""Make two records of one person one, and take that back."""
