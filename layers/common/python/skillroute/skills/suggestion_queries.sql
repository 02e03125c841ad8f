-- Suggestions of classifiers, which people decide.

-- name: insert_suggestion
-- A newer suggestion for the same tool takes the place of the open one, keeping its id.
WITH old AS (
    SELECT name_key FROM mcp.skill_suggestions
    WHERE status = 'pending' AND kind = 'new_skill' AND source_tool_id = :tool_id::bigint
)
INSERT INTO mcp.skill_suggestions AS s (
    org_id, suggested_name, suggested_description, source_tool_id, source_tool_name, reasoning, source)
VALUES (:org_id::text, :name, :description, :tool_id::bigint, :tool_name, :reasoning::text, :source)
ON CONFLICT (source_tool_id) WHERE status = 'pending' AND kind = 'new_skill' DO UPDATE SET
    suggested_name = excluded.suggested_name, suggested_description = excluded.suggested_description,
    reasoning = excluded.reasoning, source = excluded.source
RETURNING id,
    NOT EXISTS (SELECT FROM old WHERE old.name_key = s.name_key) AND NOT EXISTS (
        SELECT FROM mcp.skill_suggestions other
        WHERE other.status = 'pending' AND other.kind = 'new_skill' AND other.name_key = s.name_key
          AND other.org_id IS NOT DISTINCT FROM s.org_id AND other.id <> s.id) AS is_first

-- name: insert_description
INSERT INTO mcp.skill_suggestions AS s (
    org_id, suggested_name, suggested_description, reasoning, source, kind, target_skill_key)
VALUES (:org_id::text, :name, :description, :reasoning::text, :source, 'description', :skill_key)
ON CONFLICT (target_skill_key) WHERE status = 'pending' AND kind = 'description' DO UPDATE SET
    suggested_description = excluded.suggested_description, reasoning = excluded.reasoning, source = excluded.source
RETURNING id

-- name: drop_suggestions_of
-- The tools have skills now, or nothing to say any more.
DELETE FROM mcp.skill_suggestions
WHERE status = 'pending' AND kind = 'new_skill' AND source_tool_id = ANY (:tool_ids::bigint[])

-- name: drop_description_of
-- The skill is deleted; one who creates another under its id describes it themselves.
DELETE FROM mcp.skill_suggestions
WHERE status = 'pending' AND kind = 'description' AND target_skill_key = :skill_key

-- name: get_suggestion
SELECT id, org_id, kind, suggested_name, suggested_description, source_tool_id, source_tool_name, target_skill_key,
       reasoning, source, status, resolved_skill_key, reviewed_by, review_reason, created_at, reviewed_at
FROM mcp.suggestions_seen_by(:org_id::text)
WHERE id = :id::bigint

-- name: lock_suggestion
-- With it the open ones of its name, which are decided together: two that decide on one name wait for each other in the
-- order of the ids, not in a circle.
SELECT s.id, s.status
FROM mcp.skill_suggestions named
JOIN mcp.skill_suggestions s
  ON s.id = named.id
  OR (s.status = 'pending' AND s.kind = 'new_skill' AND named.kind = 'new_skill' AND s.name_key = named.name_key
      AND s.org_id IS NOT DISTINCT FROM named.org_id)
WHERE named.id = :id::bigint
ORDER BY s.id
FOR UPDATE OF s

-- name: list_suggestions
SELECT id, org_id, kind, suggested_name, suggested_description, source_tool_id, source_tool_name, target_skill_key,
       reasoning, source, status, resolved_skill_key, reviewed_by, review_reason, created_at, reviewed_at
FROM mcp.suggestions_seen_by(:org_id::text)
WHERE (:status::text IS NULL OR status = :status::text)
ORDER BY id
LIMIT :limit::int OFFSET :offset::bigint

-- name: count_suggestions
SELECT count(*) FROM mcp.suggestions_seen_by(:org_id::text)
WHERE (:status::text IS NULL OR status = :status::text)

-- name: same_suggestions
-- Open suggestions of the same name for tools of the same organisation, oldest first. They are read without locks: a
-- statement outside a transaction that waits for two rows can meet one that has locked them the other way round.
SELECT id, source_tool_id, source FROM mcp.skill_suggestions
WHERE status = 'pending' AND kind = 'new_skill' AND org_id IS NOT DISTINCT FROM :org_id::text
  AND name_key = lower(regexp_replace(:name::text, '[\s_-]+', '', 'g'))
ORDER BY id

-- name: lock_same_suggestions
SELECT id, source_tool_id, source FROM mcp.skill_suggestions
WHERE status = 'pending' AND kind = 'new_skill' AND org_id IS NOT DISTINCT FROM :org_id::text
  AND name_key = lower(regexp_replace(:name::text, '[\s_-]+', '', 'g'))
ORDER BY id
FOR UPDATE

-- name: review_suggestions
UPDATE mcp.skill_suggestions
SET status = :status, resolved_skill_key = :skill_key::text, reviewed_by = :reviewer::text, review_reason = :reason::text,
    reviewed_at = now()
WHERE id = ANY (:ids::bigint[]) AND status = 'pending'
RETURNING id

-- name: was_refused
SELECT EXISTS (
    SELECT FROM mcp.skill_suggestions s
    LEFT JOIN mcp.skill_categories c ON c.key = s.resolved_skill_key
    WHERE s.kind = 'new_skill' AND s.org_id IS NOT DISTINCT FROM :org_id::text
      AND s.name_key = lower(regexp_replace(:name::text, '[\s_-]+', '', 'g'))
      AND (s.status = 'rejected' OR (s.status = 'approved' AND (c.key IS NULL OR c.deleted_at IS NOT NULL))))

-- name: suggested_often
-- The oldest of each organisation before the second of any. Among equals by chance: some are tried again in every run,
-- as their organisation has no room for another skill, and must not always come before the same others.
SELECT min(suggested_name), org_id FROM mcp.skill_suggestions
WHERE status = 'pending' AND kind = 'new_skill' AND source = 'llm_auto' AND source_tool_id IS NOT NULL
GROUP BY name_key, org_id
HAVING count(DISTINCT source_tool_id) >= :least::bigint
ORDER BY row_number() OVER (PARTITION BY org_id ORDER BY min(id)), random()
