-- The whole profile of one NPC as a game master reads it, in one statement. Parameters: world, npc (slug), party (slug or
-- null: all parties), campaign (null, or the one to which the reader's key is bound: nothing comes from others),
-- most_influences, most_known.
SELECT
  n.id, n.slug, n.name, n.aliases, n.role, n.summary, n.faction, n.home, n.voice, n.goals, n.play_now, n.milestones::text,
  n.visibility, n.known_to::text, n.base, n.half_life, n.updated_at, about.slug AS party, about.name AS party_name,
  (
    SELECT coalesce(json_agg(s.text ORDER BY s.position), '[]') FROM npcs_secret s WHERE s.npc_id = n.id
  )::text AS secrets,
  (
    SELECT coalesce(json_agg(row_to_json(told)), '[]')
    FROM (
      SELECT p.slug AS party_id, p.name AS party, d.score, d.axes, d.trend, d.changes, d.pending, d.in_world_at,
        last.reason AS last_reason,
        (
          SELECT e.in_world_at FROM episodes_episode e
          WHERE e.party_id = d.party_id AND e.in_world_at IS NOT NULL AND e.retracted_at IS NULL
          ORDER BY e.in_world_at DESC LIMIT 1
        ) AS today
      FROM npcs_disposition d
      JOIN worlds_party p ON p.id = d.party_id
      LEFT JOIN npcs_dispositionchange last ON last.id = d.last_change_id
      WHERE d.npc_id = n.id AND (%(party)s::text IS NULL OR d.party_id = about.id)
        AND (%(campaign)s::uuid IS NULL OR p.campaign_id = %(campaign)s)
      ORDER BY p.name
    ) AS told
  )::text AS dispositions,
  (
    SELECT coalesce(json_agg(row_to_json(told)), '[]')
    FROM (
      SELECT c.id AS change, p.slug AS party_id, e.external_id AS summary_id, c.delta, c.axis, c.reason, c.made_by,
        c.cause_id AS caused_by, c.rule AS caused_as, c.in_world_at, c.in_world_label, c.happened_at,
        CASE
          WHEN ruling.kind IN ('reversal', 'rejection') THEN ruling.kind
          WHEN c.held AND (ruling.kind IS NULL OR ruling.kind = 'reopening') THEN 'pending'
          ELSE 'counts'
        END AS state
      FROM npcs_dispositionchange c
      JOIN worlds_party p ON p.id = c.party_id
      LEFT JOIN npcs_dispositionchange cause ON cause.id = c.cause_id
      LEFT JOIN episodes_episode e ON e.id = coalesce(c.episode_id, cause.episode_id)
      LEFT JOIN LATERAL (
        SELECT r.kind FROM npcs_dispositionchange r WHERE r.about_id = c.id ORDER BY r.id DESC LIMIT 1
      ) AS ruling ON true
      WHERE c.npc_id = n.id AND c.about_id IS NULL AND (%(party)s::text IS NULL OR c.party_id = about.id)
        AND (%(campaign)s::uuid IS NULL OR p.campaign_id = %(campaign)s)
        AND (e.id IS NULL OR (e.retracted_at IS NULL AND e.version = coalesce(c.episode_version, cause.episode_version)))
        -- A consequence counts while its cause does.
        AND (c.cause_id IS NULL OR coalesce(
          (
            SELECT r.kind IN ('approval', 'restoration') FROM npcs_dispositionchange r
            WHERE r.about_id = c.cause_id ORDER BY r.id DESC LIMIT 1
          ), NOT cause.held
        ))
      ORDER BY c.happened_at DESC, c.id DESC
      LIMIT %(most_influences)s
    ) AS told
  )::text AS influences,
  (
    SELECT coalesce(json_agg(row_to_json(told)), '[]')
    FROM (
      SELECT r.subject_kind AS kind, r.subject_id AS id, r.note, r.episode_ref AS summary_id, r.in_world_label
      FROM worlds_reveal r
      WHERE r.world_id = n.world_id AND r.audience = 'npc:' || n.slug AND r.undone_at IS NULL
        AND (%(campaign)s::uuid IS NULL OR NOT EXISTS (
          SELECT FROM episodes_episode e
          WHERE e.world_id = r.world_id AND e.external_id = r.episode_ref AND e.campaign_id <> %(campaign)s
        ))
      ORDER BY r.created_at DESC
      LIMIT %(most_known)s
    ) AS told
  )::text AS knows,
  (
    -- What counts of the NPC's opinions of others and, of the party asked about, of its standing with the NPC's factions.
    SELECT coalesce(json_agg(row_to_json(told)), '[]')
    FROM (
      SELECT o.delta, o.kind, o.reason, other.slug AS other, other.name AS other_name, f.slug AS faction,
        f.name AS faction_name
      FROM npcs_opinionchange o
      LEFT JOIN npcs_npc other ON other.id = o.other_id
      LEFT JOIN knowledge_graphnode f ON f.id = o.faction_id
      LEFT JOIN episodes_episode e ON e.id = o.episode_id
      LEFT JOIN LATERAL (
        SELECT r.kind FROM npcs_opinionchange r WHERE r.about_id = o.id ORDER BY r.id DESC LIMIT 1
      ) AS ruling ON true
      WHERE o.about_id IS NULL
        AND ((NOT o.held AND ruling.kind IS NULL) OR ruling.kind IN ('approval', 'restoration'))
        AND (
          o.npc_id = n.id AND other.deleted_at IS NULL
          OR o.party_id = about.id AND f.believed_until IS NULL AND o.faction_id IN (
            SELECT own.id FROM knowledge_graphnode own WHERE own.lore_id = n.faction_lore_id AND own.kind = 'Faction'
            UNION ALL
            SELECT part.dst_id FROM knowledge_graphnode me JOIN knowledge_graphedge part ON part.src_id = me.id
            WHERE me.world_id = n.world_id AND me.slug = n.slug AND me.kind = 'Character' AND me.believed_until IS NULL
              AND part.relation_id = 'PART_OF' AND part.believed_until IS NULL AND part.until IS NULL
          )
        )
        AND (e.id IS NULL OR (e.retracted_at IS NULL AND e.version = o.episode_version))
        AND (%(campaign)s::uuid IS NULL OR (
          (e.id IS NULL OR e.campaign_id = %(campaign)s) AND NOT EXISTS (
            SELECT FROM npcs_dispositionchange c JOIN worlds_party p ON p.id = c.party_id
            WHERE c.id = o.cause_id AND p.campaign_id <> %(campaign)s
          )
        ))
        AND (o.cause_id IS NULL OR EXISTS (
          SELECT FROM npcs_dispositionchange c
          LEFT JOIN episodes_episode told ON told.id = c.episode_id
          WHERE c.id = o.cause_id
            AND (told.id IS NULL OR (told.retracted_at IS NULL AND told.version = c.episode_version))
            AND coalesce(
              (
                SELECT r.kind IN ('approval', 'restoration') FROM npcs_dispositionchange r
                WHERE r.about_id = c.id ORDER BY r.id DESC LIMIT 1
              ), NOT c.held
            )
        ))
      ORDER BY o.happened_at, o.id
    ) AS told
  )::text AS opinions,
  EXISTS (SELECT FROM npcs_dispositionrules u WHERE u.world_id = n.world_id AND u.soft_ends) AS soft_ends
FROM npcs_npc n
LEFT JOIN worlds_party about ON about.world_id = n.world_id AND about.slug = %(party)s
  AND (%(campaign)s::uuid IS NULL OR about.campaign_id = %(campaign)s)
WHERE n.world_id = %(world)s AND n.slug = %(npc)s AND n.deleted_at IS NULL
