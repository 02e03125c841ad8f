-- Who belongs to which skill.

-- name: existing_item_ids
-- Locked to the end of the transaction: of two replacements of the same assignments the later one sees the earlier one.
SELECT id FROM mcp.tools WHERE id = ANY (:ids::bigint[]) AND {{own org_id}}
ORDER BY id FOR NO KEY UPDATE

-- name: lock_memberships
-- A change of the tools that belong to a skill locks it to the end of the transaction, and so does its deletion or
-- switching: no tool joins a skill that goes at the same moment. Changes share the lock of the skill; that of what
-- belongs to the organisation is exclusive, so that it never goes over the limit. Nobody waits for another
-- organisation, nor in a circle, as all ask in the same order.
SELECT pg_advisory_xact_lock_shared(hashtextextended('mcp.membership:' || skill.key, 0)),
       pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'mcp.membership:' || skill.key, :org_id::text), 1))
FROM (SELECT DISTINCT unnest(:keys::text[]) AS key ORDER BY 1) AS skill

-- name: lock_all_memberships
SELECT pg_advisory_xact_lock(hashtextextended('mcp.membership:' || :key, 0))

-- name: keys_of_skills
SELECT c.id::text, c.key
FROM unnest(:ids::text[]) AS named (id)
JOIN mcp.skills_seen_by(:org_id::text) c ON c.id = named.id AND c.key IN (named.id, named.id || '/' || :org_id::text)
WHERE NOT :only_active::boolean OR c.is_active

-- name: room_of_skills
-- How many of the tools named each skill can have beside its other tools, as far as the organisation sees them.
SELECT s.key, :most::bigint - count(a.tool_id)
FROM unnest(:keys::text[]) AS s (key)
LEFT JOIN mcp.tool_skill_assignments a
  ON a.skill_key = s.key AND a.owner IN ('', :org_id::text) AND a.tool_id <> ALL (:tool_ids::bigint[])
GROUP BY s.key

-- name: delete_assignments
-- What a tool no longer has. What stays is updated in place, so that a search never finds the tool without skills.
DELETE FROM mcp.tool_skill_assignments a
USING (SELECT unnest(:tool_ids::bigint[]) AS tool_id) AS touched
WHERE a.tool_id = touched.tool_id
  AND NOT EXISTS (
    SELECT FROM json_to_recordset(:rows::json) AS r (tool_id bigint, skill_key text)
    WHERE r.tool_id = a.tool_id AND r.skill_key = a.skill_key)
RETURNING a.skill_key

-- name: demote_primaries
-- Before new primaries are set, so that at no moment a tool has two (tool_skill_assignments_one_primary).
UPDATE mcp.tool_skill_assignments a SET is_primary = false
FROM json_to_recordset(:rows::json) AS r (tool_id bigint, skill_key text, is_primary boolean)
WHERE a.tool_id = r.tool_id AND a.skill_key = r.skill_key AND a.is_primary AND NOT r.is_primary

-- name: upsert_assignments
INSERT INTO mcp.tool_skill_assignments AS a (tool_id, skill_key, confidence, is_primary, source, reasoning)
SELECT r.tool_id, r.skill_key, r.confidence, r.is_primary, :source, r.reasoning
FROM json_to_recordset(:rows::json)
     AS r (tool_id bigint, skill_key text, confidence double precision, is_primary boolean, reasoning text)
ORDER BY r.tool_id, r.skill_key
ON CONFLICT ON CONSTRAINT tool_skill_assignments_key DO UPDATE SET
    confidence = excluded.confidence, is_primary = excluded.is_primary, source = excluded.source,
    reasoning = excluded.reasoning, assigned_at = now()
WHERE (a.confidence, a.is_primary, a.source, a.reasoning) IS DISTINCT FROM
      (excluded.confidence, excluded.is_primary, excluded.source, excluded.reasoning)
RETURNING a.skill_key

-- name: skills_of_items
SELECT DISTINCT skill_key FROM mcp.tool_skill_assignments WHERE tool_id = ANY (:ids::bigint[])

-- name: skills_of_item
SELECT c.key, c.name, c.is_active, a.confidence, a.is_primary, a.source, a.reasoning, a.assigned_at
FROM mcp.tool_skill_assignments a
JOIN mcp.skills_seen_by(:org_id::text, :rights::jsonb) c ON c.key = a.skill_key
WHERE a.tool_id = :id::bigint
ORDER BY a.confidence DESC, a.skill_key

-- name: assignments_of_items
SELECT a.tool_id, a.skill_key, a.confidence, a.reasoning
FROM mcp.tool_skill_assignments a
JOIN mcp.skills_seen_by(:org_id::text) c ON c.key = a.skill_key
WHERE a.tool_id = ANY (:ids::bigint[])
ORDER BY a.tool_id, a.confidence DESC, a.skill_key

-- name: items_of_skill
-- Two branches, each sorted by the index, so that a page costs what it and those before it hold; and the page is cut
-- before tools are looked up.
SELECT t.id, t.name, t.server, t.type, a.confidence, a.is_primary, a.source, a.assigned_at
FROM (
    SELECT * FROM mcp.tool_skill_assignments WHERE skill_key = :key AND owner = ''
      AND (:rights::jsonb IS NULL OR EXISTS (
            SELECT FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t WHERE t.id = tool_id OFFSET 0))
    UNION ALL
    SELECT * FROM mcp.tool_skill_assignments WHERE skill_key = :key AND owner = :org_id::text
      AND (:rights::jsonb IS NULL OR EXISTS (
            SELECT FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t WHERE t.id = tool_id OFFSET 0))
    ORDER BY confidence DESC, tool_id
    LIMIT :limit::int OFFSET :offset::bigint
) a
JOIN mcp.tools t ON t.id = a.tool_id
ORDER BY a.confidence DESC, a.tool_id

-- name: count_items_of_skill
SELECT count(*) FROM mcp.tool_skill_assignments WHERE skill_key = :key AND owner IN ('', :org_id::text)
  AND (:rights::jsonb IS NULL OR EXISTS (
        SELECT FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t WHERE t.id = tool_id OFFSET 0))

-- name: remove_members
-- A skill's tools lose it. Their next best skill becomes primary; those left without any are to be classified again,
-- so what they were classified from is forgotten.
WITH gone AS (
    DELETE FROM mcp.tool_skill_assignments WHERE skill_key = :key RETURNING tool_id, is_primary
), next AS (
    SELECT DISTINCT ON (a.tool_id) a.id
    FROM mcp.tool_skill_assignments a JOIN gone ON gone.tool_id = a.tool_id AND gone.is_primary
    WHERE a.skill_key <> :key
    ORDER BY a.tool_id, a.confidence DESC, a.skill_key
), promoted AS (
    UPDATE mcp.tool_skill_assignments SET is_primary = true WHERE id IN (SELECT id FROM next)
), bare AS (
    SELECT tool_id FROM gone
    WHERE NOT EXISTS (SELECT FROM mcp.tool_skill_assignments a WHERE a.tool_id = gone.tool_id AND a.skill_key <> :key)
), forgotten AS (
    DELETE FROM mcp.tool_classifications WHERE tool_id IN (SELECT tool_id FROM bare)
)
SELECT tool_id FROM bare ORDER BY tool_id
