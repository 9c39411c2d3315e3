-- The latest episodes of one party that an audience may know. A single row with null episode columns means that the party
-- exists and has no such episode. Parameters: world, party (slug), campaign, scene, gm, own (the audience's party), audience (a JSON path, as
-- no_character: docs/decisions/0057), k.
SELECT p.slug AS party, c.slug AS campaign, e.*
FROM worlds_party p
JOIN worlds_campaign c ON c.id = p.campaign_id
LEFT JOIN LATERAL (
  SELECT e.id, e.external_id, e.text, e.version, e.happened_at, e.in_world_at, e.in_world_label, e.players, e.place,
    e.updated_at, e.npcs, e.what, e.flags, e.relations_delta::text AS relations_delta, e.notes, e.visibility,
    scene.external_id AS scene, scene.title AS scene_title, session.external_id AS session
  FROM episodes_episode e
  LEFT JOIN episodes_scene scene ON scene.id = e.scene_id AND (
    %(gm)s OR scene.visibility = 'public'
    OR scene.visibility = 'revealed' AND (
      p.slug = %(own)s AND scene.party_id = p.id AND scene.known_to @@ %(no_character)s::jsonpath
      OR scene.known_to @@ %(audience)s::jsonpath
    )
  )
  LEFT JOIN episodes_session session ON session.id = e.session_id AND (
    %(gm)s OR session.visibility = 'public'
    OR session.visibility = 'revealed'
      AND (
        p.slug = %(own)s AND session.party_id = p.id AND session.known_to @@ %(no_character)s::jsonpath
        OR session.known_to @@ %(audience)s::jsonpath
      )
  )
  WHERE e.party_id = p.id AND e.world_id = p.world_id AND e.retracted_at IS NULL
    AND (%(scene)s::uuid IS NULL OR e.scene_id = %(scene)s)
    AND (
      %(gm)s OR e.visibility = 'public'
      OR e.visibility = 'revealed' AND (
        p.slug = %(own)s AND e.known_to @@ %(no_character)s::jsonpath OR e.known_to @@ %(audience)s::jsonpath
      )
    )
  ORDER BY e.happened_at DESC, e.id DESC
  LIMIT %(k)s
) AS e ON true
WHERE p.world_id = %(world)s AND p.slug = %(party)s AND (%(gm)s OR p.slug = %(own)s)
  AND (%(campaign)s::uuid IS NULL OR p.campaign_id = %(campaign)s)
ORDER BY e.happened_at DESC, e.id DESC
