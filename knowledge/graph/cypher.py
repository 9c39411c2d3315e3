"""The Cypher of the projection. Values are parameters; only relation codes and depths, both checked, are part of a
statement's text."""

from functools import cache

from knowledge.graph.models import NodeKind

SHOWN = """
    {x}.world = $world
    AND {x}.believed_from <= $believed_at AND ({x}.believed_until IS NULL OR {x}.believed_until > $believed_at)
    AND ($gm OR {x}.visibility = 'public' OR ({x}.visibility = 'revealed' AND $audience IN {x}.known_to))
"""
HOLDS = "({x}.since IS NULL OR {x}.since <= $at) AND ({x}.until IS NULL OR {x}.until > $at)"


def node_shown(x: str) -> str:
    return SHOWN.format(x=x)


def edge_shown(x: str) -> str:
    return f"{SHOWN.format(x=x)} AND {HOLDS.format(x=x)}"


SCHEMA = (
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX entity_world IF NOT EXISTS FOR (n:Entity) ON (n.world)",
)
FOUND = f"MATCH (n:Entity) WHERE n.id IN $ids AND {node_shown('n')} RETURN properties(n) AS node"
BETWEEN = f"""
UNWIND $inner AS id MATCH (a:Entity {{id: id}})-[r]-(b:Entity) WHERE b.id IN $all AND {edge_shown("r")}
RETURN DISTINCT properties(r) AS edge ORDER BY edge.id
"""
ALL_NODES = (
    "MATCH (n:Entity) RETURN properties(n) AS row, [l IN labels(n) WHERE l <> 'Entity'] AS labels"
)
ALL_EDGES = """
MATCH (a:Entity)-[r]->(b:Entity)
RETURN properties(r) AS row, type(r) AS relation, a.id AS src, b.id AS dst
"""
EMPTY = "MATCH (n:Entity) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
FORGET_NODES = "UNWIND $ids AS id MATCH (n:Entity {id: id}) DETACH DELETE n"


@cache
def reach(depth: int) -> str:
    return f"""
    MATCH p = (c:Entity {{id: $start}})-[rs*0..{depth}]-(n:Entity)
    WHERE all(x IN nodes(p) WHERE {node_shown("x")}) AND all(r IN rs WHERE {edge_shown("r")})
    WITH n, min(length(p)) AS depth
    RETURN properties(n) AS node, depth ORDER BY depth, node.id LIMIT $limit
    """


@cache
def shortest(max_depth: int) -> str:
    return f"""
    MATCH (a:Entity {{id: $src}}), (b:Entity {{id: $dst}})
    MATCH p = shortestPath((a)-[rs*..{max_depth}]-(b))
    WHERE all(r IN rs WHERE {edge_shown("r")}) AND all(x IN nodes(p) WHERE {node_shown("x")})
    RETURN [x IN nodes(p) | properties(x)] AS nodes, [r IN rs | properties(r)] AS edges
    """


@cache
def put_nodes(kind: str) -> str:
    others = "".join(f":{other}" for other in NodeKind.values if other != kind)
    return f"""
    UNWIND $rows AS row MERGE (n:Entity {{id: row.id}}) SET n = row REMOVE n{others} SET n:{NodeKind(kind).value}
    """


@cache
def put_edges(relation: str) -> str:
    return f"""
    UNWIND $rows AS row
    MATCH (a:Entity {{id: row.src}}) MATCH (b:Entity {{id: row.dst}})
    MERGE (a)-[r:{relation_type(relation)} {{id: row.id}}]->(b) SET r = row
    RETURN count(r) AS written
    """


@cache
def forget_edges(relation: str) -> str:
    return f"UNWIND $ids AS id MATCH ()-[r:{relation_type(relation)} {{id: id}}]->() DELETE r"


@cache
def index_edges(relation: str) -> str:
    name = f"edge_{relation.lower()}"
    return f"CREATE INDEX {name} IF NOT EXISTS FOR ()-[r:{relation_type(relation)}]-() ON (r.id)"


def relation_type(code: str) -> str:
    """Return the code as a relationship type. The database lets in nothing but plain words (a check by name)."""
    if not code.replace("_", "").isalpha() or not code.isascii() or not code.isupper():
        raise ValueError(f"{code!r} is no relation code")
    return code
