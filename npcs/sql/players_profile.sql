-- The profile of one NPC as an audience may read it, in one statement. Parameters: world, npc (slug), party (slug or null),
-- campaign (null: any), gm, audience (the JSON path of `Audience.known_path`), own_party (slug of the audience's party or
-- ''), names_no_character (a JSON path). The conditions are those of `GuardedQuerySet.visible_to` and, for episodes, of
-- `PartyOwned.visible_to`; tests/npcs/test_profile_statements.py compares them.
SELECT
  n.id, n.slug, n.name, n.aliases, n.role, n.summary, about.slug AS party,
  -- A home that is no lore entry is plain text and as open as the NPC.
  CASE WHEN n.home_lore_id IS NULL OR EXISTS (
    SELECT FROM knowledge_lore l
    WHERE l.id = n.home_lore_id AND l.deleted_at IS NULL
      AND (%(gm)s OR l.visibility = 'public' OR (l.visibility = 'revealed' AND l.known_to @@ %(audience)s::jsonpath))
  ) THEN n.home ELSE '' END AS home,
  -- Membership may be secret although the faction is known, so both must be visible.
  CASE WHEN n.faction_visibility = 'public' AND (n.faction_lore_id IS NULL OR EXISTS (
    SELECT FROM knowledge_lore l
    WHERE l.id = n.faction_lore_id AND l.deleted_at IS NULL
      AND (%(gm)s OR l.visibility = 'public' OR (l.visibility = 'revealed' AND l.known_to @@ %(audience)s::jsonpath))
  )) THEN n.faction ELSE '' END AS faction,
  (
    SELECT coalesce(json_agg(s.text ORDER BY s.position), '[]') FROM npcs_secret s
    WHERE s.npc_id = n.id
      AND (%(gm)s OR s.visibility = 'public' OR (s.visibility = 'revealed' AND s.known_to @@ %(audience)s::jsonpath))
  )::text AS secrets,
  (
    SELECT coalesce(json_agg(row_to_json(told) ORDER BY told.happened_at, told.id), '[]')
    FROM (
      SELECT c.id, c.happened_at, c.delta, c.axis, e.external_id AS summary_id
      FROM npcs_dispositionchange c
      JOIN episodes_episode e ON e.id = c.episode_id
      LEFT JOIN LATERAL (
        SELECT r.kind FROM npcs_dispositionchange r WHERE r.about_id = c.id ORDER BY r.id DESC LIMIT 1
      ) AS ruling ON true
      WHERE c.npc_id = n.id AND c.party_id = about.id AND c.about_id IS NULL
        AND ((NOT c.held AND ruling.kind IS NULL) OR ruling.kind IN ('approval', 'restoration'))
        AND e.party_id = about.id AND e.retracted_at IS NULL AND e.version = c.episode_version
        -- Who else was there is not theirs to know (`changes_known_to`).
        AND (%(gm)s OR EXISTS (
          SELECT FROM knowledge_link k
          WHERE k.source_kind = 'episode' AND k.source_id = e.id AND NOT k.secret AND k.targets @> ARRAY[n.id]
        ))
        AND (
          %(gm)s OR e.visibility = 'public'
          OR (e.visibility = 'revealed' AND (
            e.known_to @@ %(audience)s::jsonpath
            OR (about.slug = %(own_party)s AND e.known_to @@ %(names_no_character)s::jsonpath)
          ))
        )
    ) AS told
  )::text AS changes
FROM npcs_npc n
LEFT JOIN worlds_party about ON about.world_id = n.world_id AND about.slug = %(party)s
  AND (%(campaign)s::uuid IS NULL OR about.campaign_id = %(campaign)s)
WHERE n.world_id = %(world)s AND n.slug = %(npc)s AND n.deleted_at IS NULL
  AND (%(gm)s OR n.visibility = 'public' OR (n.visibility = 'revealed' AND n.known_to @@ %(audience)s::jsonpath))
