"""The relation graph: entities, facts about them, who says so, and when the facts were valid.

PostgreSQL is authoritative (`upsert`, `postgres_store`); Neo4j is a projection of it (`projection`,
`mirror`, `neo4j_store`).
"""
