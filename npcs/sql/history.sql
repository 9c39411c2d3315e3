-- The changes of what an NPC thinks of a party that are current, in their order, as `LedgerQuerySet.with_ruling()`
-- and `annotate_episode()` have them, and why the last ruling about each was made. Parameters: npc, party (ids).
SELECT
  c.*, ruling.kind AS ruling, ruling.reason AS ruling_reason, ruling.made_by AS ruling_by, true AS is_current,
  coalesce(e.external_id, told.external_id) AS summary_id
FROM npcs_dispositionchange c
LEFT JOIN episodes_episode e ON e.id = c.episode_id
LEFT JOIN npcs_dispositionchange cause ON cause.id = c.cause_id
LEFT JOIN episodes_episode told ON told.id = cause.episode_id
LEFT JOIN LATERAL (
  SELECT r.kind, r.reason, r.made_by FROM npcs_dispositionchange r WHERE r.about_id = c.id ORDER BY r.id DESC LIMIT 1
) AS ruling ON true
WHERE c.npc_id = %(npc)s AND c.party_id = %(party)s AND c.about_id IS NULL
  AND CASE
    WHEN c.cause_id IS NULL THEN e.id IS NULL OR (e.retracted_at IS NULL AND e.version = c.episode_version)
    ELSE cause.cause_id IS NULL AND cause.about_id IS NULL
      AND (told.id IS NULL OR (told.retracted_at IS NULL AND told.version = cause.episode_version))
      AND coalesce(
        (
          SELECT r.kind IN ('approval', 'restoration') FROM npcs_dispositionchange r
          WHERE r.about_id = cause.id ORDER BY r.id DESC LIMIT 1
        ), NOT cause.held
      )
  END
ORDER BY c.happened_at, c.id
