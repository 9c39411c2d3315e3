"""Cypher statements of the Neo4j projection.

Values are parameters. Only relation codes and depths become part of a statement's text; both are
checked first.
"""

from functools import cache

from knowledge.graph.models import NodeKind

VISIBLE = """
    {x}.world = $world AND {x}.believed_from <= $believed_at
    AND ({x}.believed_until IS NULL OR {x}.believed_until > $believed_at)
    AND ($gm OR {x}.visibility = 'public'
         OR ({x}.visibility = 'revealed' AND (
             any(name IN $names WHERE name IN {x}.known_to)
             OR (size($members) > 0
                 AND all(own IN $members WHERE any(name IN own WHERE name IN {x}.known_to))))))
"""
VALID_AT = "({x}.since IS NULL OR {x}.since <= $at) AND ({x}.until IS NULL OR {x}.until > $at)"


def node_visible(x: str) -> str:
    return VISIBLE.format(x=x)


def edge_visible(x: str) -> str:
    return f"{VISIBLE.format(x=x)} AND {VALID_AT.format(x=x)}"


SCHEMA = (
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX entity_world IF NOT EXISTS FOR (n:Entity) ON (n.world)",
)
VISIBLE_NODES = f"""
MATCH (n:Entity) WHERE n.id IN $ids AND {node_visible("n")} RETURN properties(n) AS node
"""
EDGES_BETWEEN = f"""
UNWIND $inner AS id MATCH (a:Entity {{id: id}})-[r]-(b:Entity)
WHERE b.id IN $all AND {edge_visible("r")}
RETURN DISTINCT properties(r) AS edge ORDER BY edge.id
"""
ADJACENT = f"""
UNWIND $ids AS id MATCH (a:Entity {{id: id}})-[r]-(b:Entity)
WHERE NOT b.id IN $ids AND {node_visible("a")} AND {node_visible("b")} AND {edge_visible("r")}
RETURN DISTINCT r.id AS edge
"""
ALL_NODES = """
MATCH (n:Entity) RETURN properties(n) AS row, [l IN labels(n) WHERE l <> 'Entity'] AS labels
"""
ALL_EDGES = """
MATCH (a:Entity)-[r]->(b:Entity)
RETURN properties(r) AS row, type(r) AS relation, a.id AS src, b.id AS dst
"""
DELETE_ALL = "MATCH (n:Entity) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
DELETE_NODES = "UNWIND $ids AS id MATCH (n:Entity {id: id}) DETACH DELETE n"


@cache
def neighborhood(depth: int) -> str:
    return f"""
    MATCH p = (c:Entity {{id: $start}})-[rs*0..{depth}]-(n:Entity)
    WHERE all(x IN nodes(p) WHERE {node_visible("x")}) AND all(r IN rs WHERE {edge_visible("r")})
    WITH n, min(length(p)) AS depth
    RETURN properties(n) AS node, depth ORDER BY depth, node.id LIMIT $limit
    """


@cache
def shortest_path(max_depth: int) -> str:
    return f"""
    MATCH (a:Entity {{id: $src}}), (b:Entity {{id: $dst}})
    MATCH p = shortestPath((a)-[rs*..{max_depth}]-(b))
    WHERE all(r IN rs WHERE {edge_visible("r")}) AND all(x IN nodes(p) WHERE {node_visible("x")})
    RETURN [x IN nodes(p) | properties(x)] AS nodes, [r IN rs | properties(r)] AS edges
    """


@cache
def merge_nodes(kind: str) -> str:
    # A node has one kind: the labels of a former kind are removed.
    others = "".join(f":{other}" for other in NodeKind.values if other != kind)
    return f"""
    UNWIND $rows AS row
    MERGE (n:Entity {{id: row.id}}) SET n = row REMOVE n{others} SET n:{NodeKind(kind).value}
    """


@cache
def merge_edges(relation: str) -> str:
    return f"""
    UNWIND $rows AS row
    MATCH (a:Entity {{id: row.src}}) MATCH (b:Entity {{id: row.dst}})
    MERGE (a)-[r:{relation_type(relation)} {{id: row.id}}]->(b) SET r = row
    RETURN count(r) AS edges
    """


@cache
def delete_edges(relation: str) -> str:
    return f"UNWIND $ids AS id MATCH ()-[r:{relation_type(relation)} {{id: id}}]->() DELETE r"


@cache
def index_edges(relation: str) -> str:
    name = f"edge_{relation.lower()}"
    return f"CREATE INDEX {name} IF NOT EXISTS FOR ()-[r:{relation_type(relation)}]-() ON (r.id)"


def relation_type(code: str) -> str:
    """Return the code as a relationship type. The database has the same check
    (`relation_code_is_a_plain_word`)."""
    if not code.replace("_", "").isalpha() or not code.isascii() or not code.isupper():
        raise ValueError(f"{code!r} is not a relation code")
    return code
