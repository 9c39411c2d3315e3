-- The changes of what an NPC thinks of others, and of the standing of parties with its factions, in their order, as
-- `OpinionQuerySet.with_ruling()` and `annotate_episode()` have them. Parameters: npc (id), campaign (null, or the one
-- to which the reader's key is bound: nothing comes from others).
SELECT
  o.*,
  (
    SELECT r.kind FROM npcs_opinionchange r WHERE r.about_id = o.id ORDER BY r.id DESC LIMIT 1
  ) AS ruling,
  CASE
    WHEN o.cause_id IS NULL THEN e.id IS NULL OR (e.retracted_at IS NULL AND e.version = o.episode_version)
    ELSE c.cause_id IS NULL AND c.about_id IS NULL
      AND (told.id IS NULL OR (told.retracted_at IS NULL AND told.version = c.episode_version))
      AND coalesce(
        (
          SELECT r.kind IN ('approval', 'restoration') FROM npcs_dispositionchange r
          WHERE r.about_id = c.id ORDER BY r.id DESC LIMIT 1
        ), NOT c.held
      )
  END AS is_current,
  coalesce(e.external_id, told.external_id) AS summary_id
FROM npcs_npc n
CROSS JOIN LATERAL (
  SELECT own.* FROM npcs_opinionchange own
  JOIN npcs_npc other ON other.id = own.other_id
  WHERE own.npc_id = n.id AND other.deleted_at IS NULL
  UNION ALL
  SELECT theirs.* FROM npcs_opinionchange theirs
  WHERE theirs.party_id IS NOT NULL AND theirs.faction_id IN (
    SELECT f.id FROM knowledge_graphnode f
    WHERE f.lore_id = n.faction_lore_id AND f.kind = 'Faction' AND f.believed_until IS NULL
    UNION ALL
    SELECT f.id FROM knowledge_graphnode me
    JOIN knowledge_graphedge part ON part.src_id = me.id
    JOIN knowledge_graphnode f ON f.id = part.dst_id
    WHERE me.world_id = n.world_id AND me.slug = n.slug AND me.kind = 'Character' AND me.believed_until IS NULL
      AND part.relation_id = 'PART_OF' AND part.believed_until IS NULL AND part.until IS NULL
      AND f.kind = 'Faction' AND f.believed_until IS NULL
  )
) AS o
LEFT JOIN episodes_episode e ON e.id = o.episode_id
LEFT JOIN npcs_dispositionchange c ON c.id = o.cause_id
LEFT JOIN episodes_episode told ON told.id = c.episode_id
LEFT JOIN worlds_party about ON about.id = coalesce(o.party_id, c.party_id)
WHERE n.id = %(npc)s AND o.about_id IS NULL
  AND (%(campaign)s::uuid IS NULL OR coalesce(e.campaign_id, about.campaign_id, %(campaign)s) = %(campaign)s)
ORDER BY o.happened_at, o.id
