"""SQL statements of the graph. Every value is a named parameter; the fragments are joined once, at
import.

For the present, `believed_at` and `at` are 'infinity': then only rows without an end pass.
"""

BELIEVED = """
    {x}.believed_from <= %(believed_at)s::timestamptz
    AND ({x}.believed_until IS NULL OR {x}.believed_until > %(believed_at)s::timestamptz)
"""
KNOWN = """
    (%(gm)s OR {x}.visibility = 'public'
     OR ({x}.visibility = 'revealed' AND {x}.known_to @@ %(audience)s::jsonpath))
"""
NODE_VISIBLE = f"""
    n.world_id = %(world)s AND {BELIEVED.format(x="n")} AND {KNOWN.format(x="n")}
"""
# `EdgeQuerySet.known_to` is the same condition.
KNOWS_END = f"""
    (NOT e.was_ended OR EXISTS (
        SELECT 1 FROM knowledge_graphedge ender
        JOIN knowledge_graphnode ender_src ON ender_src.id = ender.src_id
        JOIN knowledge_graphnode ender_dst ON ender_dst.id = ender.dst_id
        WHERE ender.id = e.ended_by_id AND {KNOWN.format(x="ender")}
            AND {KNOWN.format(x="ender_src")} AND {KNOWN.format(x="ender_dst")}))
"""
EDGE_VISIBLE = f"""
    e.world_id = %(world)s AND {KNOWN.format(x="e")}
    AND (e.since IS NULL OR e.since <= %(at)s::float8)
    AND (e.until IS NULL OR e.until > %(at)s::float8)
    AND (({BELIEVED.format(x="e")} AND (%(gm)s OR {KNOWS_END}))
         OR (NOT %(gm)s AND e.stands_for_id IS NOT NULL AND NOT {KNOWS_END}))
"""
NODE_COLUMNS = "n.id, n.kind, n.slug, n.name, n.since, n.until"
EDGE_COLUMNS = """
    e.id, e.src_id AS src, e.relation_id AS relation, e.dst_id AS dst, e.label, e.since, e.until,
    e.confidence, e.source_kind, e.source_ref, e.source_note, e.believed_from, e.believed_until
"""

# The recursive query yields rows level by level, so LIMIT stops it early where the graph is dense.
NEIGHBORHOOD = f"""
WITH RECURSIVE reached (id, depth) AS (
    SELECT n.id, 0 FROM knowledge_graphnode n WHERE n.id = %(start)s AND {NODE_VISIBLE}
    UNION
    SELECT hop.id, reached.depth + 1
    FROM reached CROSS JOIN LATERAL (
        SELECT n.id FROM knowledge_graphedge e JOIN knowledge_graphnode n ON n.id = e.dst_id
        WHERE e.src_id = reached.id AND {EDGE_VISIBLE} AND {NODE_VISIBLE}
        UNION ALL
        SELECT n.id FROM knowledge_graphedge e JOIN knowledge_graphnode n ON n.id = e.src_id
        WHERE e.dst_id = reached.id AND {EDGE_VISIBLE} AND {NODE_VISIBLE}
    ) hop
    WHERE reached.depth < %(depth)s
), steps AS (SELECT id, depth FROM reached LIMIT %(max_steps)s),
nearest AS (SELECT id, min(depth) AS depth FROM steps GROUP BY id)
SELECT {NODE_COLUMNS}, nearest.depth, (SELECT count(*) FROM steps) AS steps
FROM nearest JOIN knowledge_graphnode n USING (id)
ORDER BY nearest.depth, n.id
LIMIT %(limit)s
"""

EDGES_BETWEEN = f"""
SELECT {EDGE_COLUMNS} FROM knowledge_graphedge e
WHERE e.src_id = ANY (%(inner)s::uuid[]) AND e.dst_id = ANY (%(all)s::uuid[]) AND {EDGE_VISIBLE}
UNION ALL
SELECT {EDGE_COLUMNS} FROM knowledge_graphedge e
WHERE e.dst_id = ANY (%(inner)s::uuid[]) AND e.src_id = ANY (%(outer)s::uuid[]) AND {EDGE_VISIBLE}
"""

HOPS = f"""
SELECT e.src_id AS src, e.id AS edge, e.dst_id AS dst
FROM knowledge_graphedge e JOIN knowledge_graphnode n ON n.id = e.dst_id
WHERE e.src_id = ANY (%(frontier)s::uuid[]) AND {EDGE_VISIBLE} AND {NODE_VISIBLE}
UNION ALL
SELECT e.dst_id, e.id, e.src_id
FROM knowledge_graphedge e JOIN knowledge_graphnode n ON n.id = e.src_id
WHERE e.dst_id = ANY (%(frontier)s::uuid[]) AND {EDGE_VISIBLE} AND {NODE_VISIBLE}
"""

NODES = f"""
SELECT {NODE_COLUMNS} FROM knowledge_graphnode n
WHERE n.id = ANY (%(ids)s::uuid[]) AND {NODE_VISIBLE}
"""
EDGES = f"""
SELECT {EDGE_COLUMNS} FROM knowledge_graphedge e
WHERE e.id = ANY (%(ids)s::uuid[]) AND {EDGE_VISIBLE}
"""

SRC_VISIBLE, DST_VISIBLE = (NODE_VISIBLE.replace("n.", f"{end}.") for end in ("src", "dst"))
# Both ends of a fact are looked up from the entity's own facts: a join of all visible entities
# would be as large as the world.
FACTS_OF_SLUG = f"""
WITH own AS MATERIALIZED (
    SELECT n.id FROM knowledge_graphnode n WHERE n.slug = %(slug)s AND {NODE_VISIBLE}
)
SELECT e.id, e.relation_id, e.label, e.written_as, e.since, src.id AS src_id, src.slug AS src_slug,
    src.name AS src_name, dst.id AS dst_id, dst.slug AS dst_slug, dst.name AS dst_name
FROM (
    SELECT e.* FROM own JOIN knowledge_graphedge e ON e.src_id = own.id
    UNION
    SELECT e.* FROM own JOIN knowledge_graphedge e ON e.dst_id = own.id
) AS e
JOIN knowledge_graphnode src ON src.id = e.src_id
JOIN knowledge_graphnode dst ON dst.id = e.dst_id
WHERE {EDGE_VISIBLE} AND {SRC_VISIBLE} AND {DST_VISIBLE}
ORDER BY e.confidence DESC, e.believed_from DESC, e.id
"""

# All ancestors along one relation, by what is believed now. Visibility plays no part: these are
# checks of consistency.
ANCESTORS = """
WITH RECURSIVE above (start, id) AS (
    SELECT e.src_id, e.dst_id FROM knowledge_graphedge e
    WHERE e.src_id = ANY (%(starts)s::uuid[]) AND e.relation_id = %(relation)s
      AND e.believed_until IS NULL
    UNION
    SELECT above.start, e.dst_id FROM above JOIN knowledge_graphedge e ON e.src_id = above.id
    WHERE e.relation_id = %(relation)s AND e.believed_until IS NULL
)
SELECT start, id FROM above
"""
DEPENDANTS = """
WITH RECURSIVE dependant (id) AS (
    SELECT from_graphedge_id FROM knowledge_graphedge_rests_on
    WHERE to_graphedge_id = ANY (%(ids)s::uuid[])
    UNION
    SELECT r.from_graphedge_id
    FROM dependant JOIN knowledge_graphedge_rests_on r ON r.to_graphedge_id = dependant.id
)
SELECT id FROM dependant
"""
