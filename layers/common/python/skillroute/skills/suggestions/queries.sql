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
       reasoning, source, status, resolved_skill_key, reviewed_by, review_reason, created_at, reviewed_at, name_key
FROM mcp.suggestions_seen_by(:org_id::text, :rights::jsonb)
WHERE id = :id::bigint

-- name: get_suggestions
SELECT id, org_id, kind, suggested_name, suggested_description, source_tool_id, source_tool_name, target_skill_key,
       reasoning, source, status, resolved_skill_key, reviewed_by, review_reason, created_at, reviewed_at, name_key
FROM mcp.suggestions_seen_by(:org_id::text, :rights::jsonb)
WHERE id = ANY (:ids::bigint[])
ORDER BY id

-- name: lock_suggestions
-- With them the open ones of their names, which are decided together: two that decide on one name wait for each other in
-- the order of the ids, not in a circle.
WITH named AS (
    SELECT id, org_id, kind, name_key FROM mcp.skill_suggestions WHERE id = ANY (:ids::bigint[])
), alike AS (
    SELECT s.id
    FROM (SELECT DISTINCT org_id, name_key FROM named WHERE kind = 'new_skill') AS names
    JOIN mcp.skill_suggestions s
      ON s.status = 'pending' AND s.kind = 'new_skill' AND s.name_key = names.name_key
     AND s.org_id IS NOT DISTINCT FROM names.org_id
)
SELECT s.id, s.status
FROM mcp.skill_suggestions s
WHERE s.id IN (SELECT id FROM named UNION SELECT id FROM alike)
ORDER BY s.id
FOR UPDATE OF s

-- name: list_suggestions
-- plan: custom
-- With the values of a run each CASE of the order is one of its branches, or a constant that orders nothing.
SELECT s.id, s.org_id, s.kind, s.suggested_name, s.suggested_description, s.source_tool_id, s.source_tool_name,
       s.target_skill_key, s.reasoning, s.source, s.status, s.resolved_skill_key, s.reviewed_by, s.review_reason,
       s.created_at, s.reviewed_at, s.name_key
FROM mcp.suggestions_seen_by(:org_id::text, :rights::jsonb) s
WHERE (:status::text IS NULL OR s.status = :status::text)
  AND (:name::text IS NULL OR s.name_key = lower(regexp_replace(:name::text, '[\s_-]+', '', 'g')))
  AND (:updated_since::timestamptz IS NULL OR coalesce(s.reviewed_at, s.created_at) >= :updated_since::timestamptz)
  AND CASE WHEN :after_id::bigint IS NULL THEN true
           WHEN :sort::text = 'name' AND :is_descending::boolean THEN (s.suggested_name, s.id) < (:after_text::text, :after_id::bigint)
           WHEN :sort::text = 'name' THEN (s.suggested_name, s.id) > (:after_text::text, :after_id::bigint)
           WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (coalesce(s.reviewed_at, s.created_at), s.id) < (:after_time::timestamptz, :after_id::bigint)
           WHEN :sort::text = 'updated_at' THEN (coalesce(s.reviewed_at, s.created_at), s.id) > (:after_time::timestamptz, :after_id::bigint)
           WHEN :is_descending::boolean THEN s.id < :after_id::bigint
           ELSE s.id > :after_id::bigint END
ORDER BY CASE WHEN :sort::text = 'name' AND NOT :is_descending::boolean THEN s.suggested_name END,
         CASE WHEN :sort::text = 'name' AND :is_descending::boolean THEN s.suggested_name END DESC,
         CASE WHEN :sort::text = 'updated_at' AND NOT :is_descending::boolean THEN coalesce(s.reviewed_at, s.created_at) END,
         CASE WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN coalesce(s.reviewed_at, s.created_at) END DESC,
         CASE WHEN NOT :is_descending::boolean THEN s.id END,
         s.id DESC
LIMIT :limit::int OFFSET :offset::bigint

-- name: count_suggestions
-- plan: custom
SELECT count(*), count(*) FILTER (WHERE
    CASE WHEN :after_id::bigint IS NULL THEN true
         WHEN :sort::text = 'name' AND :is_descending::boolean THEN (s.suggested_name, s.id) < (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'name' THEN (s.suggested_name, s.id) > (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (coalesce(s.reviewed_at, s.created_at), s.id) < (:after_time::timestamptz, :after_id::bigint)
         WHEN :sort::text = 'updated_at' THEN (coalesce(s.reviewed_at, s.created_at), s.id) > (:after_time::timestamptz, :after_id::bigint)
         WHEN :is_descending::boolean THEN s.id < :after_id::bigint
         ELSE s.id > :after_id::bigint END)
FROM mcp.suggestions_seen_by(:org_id::text, :rights::jsonb) s
WHERE (:status::text IS NULL OR s.status = :status::text)
  AND (:name::text IS NULL OR s.name_key = lower(regexp_replace(:name::text, '[\s_-]+', '', 'g')))
  AND (:updated_since::timestamptz IS NULL OR coalesce(s.reviewed_at, s.created_at) >= :updated_since::timestamptz)

-- name: same_suggestions
-- Open suggestions of the same name for tools of the same organisation, oldest first. They are read without locks: a
-- statement outside a transaction that waits for two rows can meet one that has locked them the other way round.
SELECT id, source_tool_id, source FROM mcp.skill_suggestions
WHERE status = 'pending' AND kind = 'new_skill' AND {{own org_id}}
  AND name_key = lower(regexp_replace(:name::text, '[\s_-]+', '', 'g'))
ORDER BY id

-- name: lock_same_suggestions
SELECT id, source_tool_id, source FROM mcp.skill_suggestions
WHERE status = 'pending' AND kind = 'new_skill' AND {{own org_id}}
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
    WHERE s.kind = 'new_skill' AND {{own s.org_id}}
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

-- name: list_suggestion_groups
-- plan: custom
-- Suggestions of one owner, kind and name, the largest group first, each with its oldest ones. The page is cut before
-- these are read.
SELECT s.org_id, s.kind, s.suggested_name, s.suggested_description, s.target_skill_key, page.number, page.sources,
       page.first_created_at, page.last_created_at,
       (SELECT json_agg(json_build_array(x.id, x.suggested_name, x.source_tool_id, x.source_tool_name, t.server)
                        ORDER BY x.id)
        FROM mcp.skill_suggestions x LEFT JOIN mcp.tools t ON t.id = x.source_tool_id
        WHERE x.id IN (page.ids[1], page.ids[2], page.ids[3]))
FROM (
    SELECT count(*) AS number, min(id) AS first_id, array_agg(id ORDER BY id) AS ids,
           array_agg(DISTINCT source::text) AS sources, min(created_at) AS first_created_at,
           max(created_at) AS last_created_at
    FROM mcp.suggestions_seen_by(:org_id::text, :rights::jsonb)
    WHERE status = :status::text
    GROUP BY org_id, kind, name_key
    ORDER BY count(*) DESC, min(id)
    LIMIT :limit::int OFFSET :offset::bigint
) page
JOIN mcp.skill_suggestions s ON s.id = page.first_id
ORDER BY page.number DESC, page.first_id

-- name: count_suggestion_groups
-- plan: custom
SELECT count(*) FROM (
    SELECT FROM mcp.suggestions_seen_by(:org_id::text, :rights::jsonb)
    WHERE status = :status::text
    GROUP BY org_id, kind, name_key
) AS groups
