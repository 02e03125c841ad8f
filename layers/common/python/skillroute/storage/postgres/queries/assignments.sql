-- Who belongs to which skill.

-- name: existing_item_ids
-- Held to the end of the transaction: of two replacements of the same assignments the later one sees the earlier one.
SELECT id FROM mcp.tools WHERE id = ANY (:ids::bigint[]) AND org_id IS NOT DISTINCT FROM :org_id::text
ORDER BY id FOR NO KEY UPDATE

-- name: hold_memberships
-- Whoever changes who belongs to a skill, or deletes it, holds it to the end of the transaction: no tool joins a skill
-- that goes at the same moment, none goes over the limit, and nobody waits in a circle, as all ask in the same order.
SELECT pg_advisory_xact_lock(hashtextextended('mcp.membership:' || skill.id, 0))
FROM (SELECT DISTINCT unnest(:ids::text[]) AS id ORDER BY 1) AS skill

-- name: existing_skill_ids
SELECT id::text FROM mcp.skill_categories
WHERE id = ANY (:ids::text[]) AND deleted_at IS NULL AND (org_id IS NULL OR org_id = :org_id::text)
  AND (NOT :only_active::boolean OR is_active)

-- name: room_of_skills
-- How many of the tools named each skill can have beside its other tools.
SELECT s.id, :most::bigint - count(a.tool_id)
FROM unnest(:ids::text[]) AS s (id)
LEFT JOIN mcp.tool_skill_assignments a ON a.skill_id = s.id AND a.tool_id <> ALL (:tool_ids::bigint[])
GROUP BY s.id

-- name: delete_assignments
-- What a tool no longer has. What stays is updated in place, so that a search never finds the tool without skills.
DELETE FROM mcp.tool_skill_assignments a
USING (SELECT unnest(:tool_ids::bigint[]) AS tool_id) AS touched
WHERE a.tool_id = touched.tool_id
  AND NOT EXISTS (
    SELECT FROM json_to_recordset(:rows::json) AS r (tool_id bigint, skill_id text)
    WHERE r.tool_id = a.tool_id AND r.skill_id = a.skill_id)
RETURNING a.skill_id::text

-- name: demote_primaries
-- Before new primaries are set, so that at no moment a tool has two (tool_skill_assignments_one_primary).
UPDATE mcp.tool_skill_assignments a SET is_primary = false
FROM json_to_recordset(:rows::json) AS r (tool_id bigint, skill_id text, is_primary boolean)
WHERE a.tool_id = r.tool_id AND a.skill_id = r.skill_id AND a.is_primary AND NOT r.is_primary

-- name: upsert_assignments
INSERT INTO mcp.tool_skill_assignments AS a (tool_id, skill_id, confidence, is_primary, source, reasoning)
SELECT r.tool_id, r.skill_id, r.confidence, r.is_primary, :source, r.reasoning
FROM json_to_recordset(:rows::json)
     AS r (tool_id bigint, skill_id text, confidence double precision, is_primary boolean, reasoning text)
ORDER BY r.tool_id, r.skill_id
ON CONFLICT ON CONSTRAINT tool_skill_assignments_key DO UPDATE SET
    confidence = excluded.confidence, is_primary = excluded.is_primary, source = excluded.source,
    reasoning = excluded.reasoning, assigned_at = now()
WHERE (a.confidence, a.is_primary, a.source, a.reasoning) IS DISTINCT FROM
      (excluded.confidence, excluded.is_primary, excluded.source, excluded.reasoning)
RETURNING a.skill_id::text

-- name: skills_of_items
SELECT DISTINCT skill_id::text FROM mcp.tool_skill_assignments WHERE tool_id = ANY (:ids::bigint[])

-- name: skills_of_item
SELECT a.skill_id::text, c.name, c.is_active, a.confidence, a.is_primary, a.source, a.reasoning, a.assigned_at
FROM mcp.tool_skill_assignments a
JOIN mcp.skill_categories c ON c.id = a.skill_id AND c.deleted_at IS NULL
WHERE a.tool_id = :id::bigint AND (c.org_id IS NULL OR c.org_id = :org_id::text)
ORDER BY a.confidence DESC, a.skill_id

-- name: items_of_skill
SELECT t.id, t.name, t.server, t.type, a.confidence, a.is_primary, a.source, a.assigned_at
FROM mcp.tool_skill_assignments a
JOIN mcp.tools t ON t.id = a.tool_id AND (t.org_id IS NULL OR t.org_id = :org_id::text)
WHERE a.skill_id = :id
ORDER BY a.confidence DESC, a.tool_id
LIMIT :limit::int OFFSET :offset::bigint

-- name: count_items_of_skill
SELECT count(*)
FROM mcp.tool_skill_assignments a
JOIN mcp.tools t ON t.id = a.tool_id AND (t.org_id IS NULL OR t.org_id = :org_id::text)
WHERE a.skill_id = :id

-- name: remove_members
-- A skill's tools lose it. Their next best skill becomes primary; those left without any are to be classified again,
-- so what they were classified from is forgotten.
WITH gone AS (
    DELETE FROM mcp.tool_skill_assignments WHERE skill_id = :id RETURNING tool_id, is_primary
), next AS (
    SELECT DISTINCT ON (a.tool_id) a.id
    FROM mcp.tool_skill_assignments a JOIN gone ON gone.tool_id = a.tool_id AND gone.is_primary
    WHERE a.skill_id <> :id
    ORDER BY a.tool_id, a.confidence DESC, a.skill_id
), promoted AS (
    UPDATE mcp.tool_skill_assignments SET is_primary = true WHERE id IN (SELECT id FROM next)
), bare AS (
    SELECT tool_id FROM gone
    WHERE NOT EXISTS (SELECT FROM mcp.tool_skill_assignments a WHERE a.tool_id = gone.tool_id AND a.skill_id <> :id)
), forgotten AS (
    DELETE FROM mcp.tool_classifications WHERE tool_id IN (SELECT tool_id FROM bare)
)
SELECT tool_id FROM bare ORDER BY tool_id
