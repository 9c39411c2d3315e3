"""The relation graph: who knows whom, who owns what, where things are, since when, and who says so.

PostgreSQL rows are the truth (`writing`, `postgres`); Neo4j is a projection of them (`neo4j`, `mirror`).
"""
