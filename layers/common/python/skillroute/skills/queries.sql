-- Skills and the assignment of tools to them.

-- name: insert_skill
-- A deleted id can be created again; whatever it was is written over (decision 13).
INSERT INTO mcp.skill_categories AS c (id, org_id, name, description, keywords, examples, parent_domain, is_active)
VALUES (:id, :org_id::text, :name, :description, :keywords::text[], :examples::text[], :parent_domain::text,
        :is_active::boolean)
ON CONFLICT ON CONSTRAINT skill_categories_pkey DO UPDATE SET
    name = excluded.name, description = excluded.description, keywords = excluded.keywords,
    examples = excluded.examples, parent_domain = excluded.parent_domain, is_active = excluded.is_active, deleted_at = NULL,
    created_at = now(), updated_at = now()
WHERE c.deleted_at IS NOT NULL
RETURNING key

-- name: get_skill
-- Its tools are counted when asked for, never kept: the active ones that the caller sees.
SELECT c.id, c.org_id, c.name, c.description, c.keywords, c.examples, c.parent_domain, c.is_active,
       (SELECT count(*) FROM mcp.tool_skill_assignments a JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) t
          ON t.id = a.tool_id AND t.is_active
        WHERE a.skill_key = c.key AND a.owner IN ('', :org_id::text)) AS tool_count,
       v.has_vector, v.is_refused, c.created_at, c.updated_at
FROM mcp.skills_seen_by(:org_id::text, :rights::jsonb) c
CROSS JOIN LATERAL mcp.vector_state('mcp_skills', c.key) v
WHERE c.id = :id::text AND c.key IN (:id::text, :id::text || '/' || :org_id::text)

-- name: get_skills
SELECT c.id, c.org_id, c.name, c.description, c.keywords, c.examples, c.parent_domain, c.is_active,
       (SELECT count(*) FROM mcp.tool_skill_assignments a JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) t
          ON t.id = a.tool_id AND t.is_active
        WHERE a.skill_key = c.key AND a.owner IN ('', :org_id::text)) AS tool_count,
       v.has_vector, v.is_refused, c.created_at, c.updated_at
FROM mcp.skills_seen_by(:org_id::text, :rights::jsonb) c
CROSS JOIN LATERAL mcp.vector_state('mcp_skills', c.key) v
WHERE c.id = ANY (:ids::text[])

-- name: list_skills
-- plan: custom
-- The page is cut before tools are counted: counting all of 1,000 skills for a page of 100 costs ten times as much.
-- With the values of a run each CASE of the order is one of its branches, or a constant that orders nothing.
SELECT c.id, c.org_id, c.name, c.description, c.keywords, c.examples, c.parent_domain, c.is_active,
       (SELECT count(*) FROM mcp.tool_skill_assignments a JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) t
          ON t.id = a.tool_id AND t.is_active
        WHERE a.skill_key = c.key AND a.owner IN ('', :org_id::text)) AS tool_count,
       v.has_vector, v.is_refused, c.created_at, c.updated_at
FROM (
    SELECT page.*, row_number() OVER () AS nth FROM (
        SELECT c.* FROM mcp.skills_seen_by(:org_id::text, :rights::jsonb) c
        WHERE (:is_active::boolean IS NULL OR c.is_active = :is_active::boolean)
          AND (:parent_domain::text IS NULL OR c.parent_domain = :parent_domain::text)
          AND (:updated_since::timestamptz IS NULL OR c.updated_at >= :updated_since::timestamptz)
          AND CASE WHEN :after_id::text IS NULL THEN true
                   WHEN :sort::text = 'name' AND :is_descending::boolean THEN (c.name, c.id) < (:after_text::text, :after_id::text)
                   WHEN :sort::text = 'name' THEN (c.name, c.id) > (:after_text::text, :after_id::text)
                   WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (c.updated_at, c.id) < (:after_time::timestamptz, :after_id::text)
                   WHEN :sort::text = 'updated_at' THEN (c.updated_at, c.id) > (:after_time::timestamptz, :after_id::text)
                   WHEN :is_descending::boolean THEN c.id < :after_id::text
                   ELSE c.id > :after_id::text END
        ORDER BY CASE WHEN :sort::text = 'name' AND NOT :is_descending::boolean THEN c.name END,
                 CASE WHEN :sort::text = 'name' AND :is_descending::boolean THEN c.name END DESC,
                 CASE WHEN :sort::text = 'updated_at' AND NOT :is_descending::boolean THEN c.updated_at END,
                 CASE WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN c.updated_at END DESC,
                 CASE WHEN NOT :is_descending::boolean THEN c.id END,
                 c.id DESC
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
) c
CROSS JOIN LATERAL mcp.vector_state('mcp_skills', c.key) v
ORDER BY c.nth

-- name: largest_skills
-- All of a caller's skills are counted for it, in one pass over the assignments: which are the largest shows only then.
SELECT c.id, c.name, c.description, coalesce(n.tool_count, 0)
FROM mcp.skills_seen_by(:org_id::text, :rights::jsonb) c
LEFT JOIN (
    SELECT a.skill_key, count(*) AS tool_count
    FROM mcp.tool_skill_assignments a
    JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) t ON t.id = a.tool_id AND t.is_active
    WHERE a.owner IN ('', :org_id::text)
    GROUP BY a.skill_key
) n ON n.skill_key = c.key
WHERE c.is_active
ORDER BY coalesce(n.tool_count, 0) DESC, c.id
LIMIT :limit::int OFFSET :offset::bigint

-- name: count_listed_skills
-- plan: custom
SELECT count(*), count(*) FILTER (WHERE
    CASE WHEN :after_id::text IS NULL THEN true
         WHEN :sort::text = 'name' AND :is_descending::boolean THEN (c.name, c.id) < (:after_text::text, :after_id::text)
         WHEN :sort::text = 'name' THEN (c.name, c.id) > (:after_text::text, :after_id::text)
         WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (c.updated_at, c.id) < (:after_time::timestamptz, :after_id::text)
         WHEN :sort::text = 'updated_at' THEN (c.updated_at, c.id) > (:after_time::timestamptz, :after_id::text)
         WHEN :is_descending::boolean THEN c.id < :after_id::text
         ELSE c.id > :after_id::text END)
FROM mcp.skills_seen_by(:org_id::text, :rights::jsonb) c
WHERE (:is_active::boolean IS NULL OR c.is_active = :is_active::boolean)
  AND (:parent_domain::text IS NULL OR c.parent_domain = :parent_domain::text)
  AND (:updated_since::timestamptz IS NULL OR c.updated_at >= :updated_since::timestamptz)

-- name: lock_skills_of
-- Of two that create the last skill that an organisation has room for, the second waits here and sees the first.
SELECT pg_advisory_xact_lock(hashtextextended('mcp.skills_of:' || :org_id::text, 0))

-- name: lock_global_skills_shared
-- While an organisation's skill is created or deleted, nobody can create or delete a global one, so that none
-- comes by an id of its own that has just become global. Organisations do not wait for each other.
SELECT pg_advisory_xact_lock_shared(hashtextextended('mcp.skill_categories', 0))

-- name: lock_global_skills
SELECT pg_advisory_xact_lock(hashtextextended('mcp.skill_categories', 0))

-- name: count_skills_of
SELECT count(*) FROM mcp.skill_categories WHERE deleted_at IS NULL AND {{own org_id}}

-- name: change_skill
-- `seen` is when the caller last saw it change: what somebody else wrote since is not written over.
UPDATE mcp.skill_categories c SET
    name = :name, description = :description, keywords = :keywords::text[], examples = :examples::text[],
    parent_domain = :parent_domain::text, is_active = :is_active::boolean, updated_at = clock_timestamp()
WHERE c.key = :key AND c.deleted_at IS NULL AND c.updated_at = :seen::timestamptz
RETURNING key

-- name: delete_skill
UPDATE mcp.skill_categories SET is_active = false, deleted_at = now(), updated_at = clock_timestamp()
WHERE key = :key AND deleted_at IS NULL
RETURNING key

-- name: is_deleted_skill
-- By its key, the caller's own or the global one: `skills_seen_by` has no deleted ones.
SELECT EXISTS (
    SELECT FROM mcp.skill_categories
    WHERE id = :id::text AND key IN (:id::text, :id::text || '/' || :org_id::text) AND deleted_at IS NOT NULL)

-- name: member_embeddings
-- plan: custom
-- A plan that a warm function made while there were few tools would take minutes for 10,000.
-- A page of a skill's members. Those without a vector of the model are skipped (skill-contract BR-004), and so are
-- tools that not everyone sees who sees the skill.
SELECT a.tool_id::text, v.embedding, a.confidence
FROM mcp.tool_skill_assignments a
JOIN mcp.skill_categories c ON c.key = a.skill_key AND a.owner IN ('', c.org_id)
JOIN mcp.tools t ON t.id = a.tool_id
-- A member's vector by its whole key: before there are statistics the planner would read all vectors for each member.
CROSS JOIN LATERAL (
    -- Or its former one, while it waits for another.
    SELECT coalesce(embedding, derived) AS embedding FROM mcp.document_vectors
    WHERE collection = 'mcp_unified_search' AND key = a.tool_id::text
      AND (model, dimension) = (:model::text, :dimension::int) AND num_nonnulls(embedding, derived) > 0
    OFFSET 0
) v
-- The second bound keeps the planner from walking through all tools from the first one.
WHERE a.skill_key = :key AND a.tool_id > :after::text::bigint AND t.id > :after::text::bigint AND t.is_active
  AND (NOT :by_people::boolean OR a.source IN ('human_manual', 'human_override'))
  AND (:without::bigint IS NULL OR a.tool_id <> :without::bigint)
ORDER BY a.tool_id
LIMIT :limit::int

-- name: skill_keys
SELECT key FROM mcp.skill_categories WHERE deleted_at IS NULL ORDER BY key

-- name: lock_skill
SELECT key FROM mcp.skill_categories WHERE key = :key AND deleted_at IS NULL FOR NO KEY UPDATE

-- name: stored_skill_embedding
-- None for a skill whose aggregation still waits: it may be behind.
SELECT coalesce(v.derived, v.embedding) FROM mcp.document_vectors v
WHERE v.collection = 'mcp_skills' AND v.key = :key AND (v.model, v.dimension) = (:model::text, :dimension::int)
  AND coalesce(v.derived, v.embedding) IS NOT NULL
  AND NOT EXISTS (SELECT FROM mcp.outbox o WHERE o.queue = 'aggregate' AND o.key = v.key)

-- name: broken_skill_rules
-- Each row is a rule, what breaks it, and how. All of it is seen in one snapshot.
SELECT 'one primary skill for each assigned tool', tool_id::text, count(*) FILTER (WHERE is_primary) || ' primary skills'
FROM mcp.tool_skill_assignments
GROUP BY tool_id
HAVING count(*) FILTER (WHERE is_primary) <> 1
UNION ALL
SELECT 'the primary skill has the highest confidence', p.tool_id::text,
       p.skill_key || ' has a lower confidence than ' || a.skill_key
FROM mcp.tool_skill_assignments p
JOIN mcp.tool_skill_assignments a ON a.tool_id = p.tool_id AND a.confidence > p.confidence
WHERE p.is_primary
UNION ALL
SELECT 'no tool is in a skill twice', tool_id::text, skill_key
FROM mcp.tool_skill_assignments
GROUP BY tool_id, skill_key
HAVING count(*) > 1
UNION ALL
SELECT 'assignments are of tools and skills that exist', a.tool_id::text, a.skill_key
FROM mcp.tool_skill_assignments a
LEFT JOIN mcp.tools t ON t.id = a.tool_id
LEFT JOIN mcp.skill_categories c ON c.key = a.skill_key AND c.deleted_at IS NULL
WHERE t.id IS NULL OR c.key IS NULL
UNION ALL
-- What an organisation sees of a skill starts from these copies.
SELECT 'an assignment belongs to whom its tool does', a.tool_id::text, a.skill_key
FROM mcp.tool_skill_assignments a
JOIN mcp.tools t ON t.id = a.tool_id
WHERE a.owner <> coalesce(t.org_id, '')
UNION ALL
SELECT 'a tool has five skills at most', tool_id::text, count(*) || ' skills'
FROM mcp.tool_skill_assignments
GROUP BY tool_id
HAVING count(*) > 5
UNION ALL
SELECT 'a classifier gives three skills at most', tool_id::text, count(*) || ' skills'
FROM mcp.tool_skill_assignments
WHERE source NOT IN ('human_manual', 'human_override')
GROUP BY tool_id
HAVING count(*) > 3
UNION ALL
-- Of each owner: an organisation that has filled a global skill sees more when global tools are put into it later.
SELECT 'a skill has 10,000 tools at most', skill_key, count(*) || ' tools'
FROM mcp.tool_skill_assignments
GROUP BY skill_key, owner
HAVING count(*) > 10000
UNION ALL
SELECT 'a tool with skills has no open suggestion', s.source_tool_id::text, 'suggestion ' || s.id
FROM mcp.skill_suggestions s
WHERE s.status = 'pending' AND s.kind = 'new_skill'
  AND EXISTS (SELECT FROM mcp.tool_skill_assignments a WHERE a.tool_id = s.source_tool_id)
UNION ALL
SELECT 'every tool is decided on or waits', t.id::text, 'it waits nowhere'
FROM mcp.tools t
WHERE NOT EXISTS (SELECT FROM mcp.tool_classifications r WHERE r.tool_id = t.id)
  AND NOT EXISTS (SELECT FROM mcp.tool_skill_assignments a WHERE a.tool_id = t.id)
  AND NOT EXISTS (SELECT FROM mcp.outbox o WHERE o.queue = 'classify' AND o.key = t.id::text)
UNION ALL
SELECT 'a tool that fits no skill has a suggestion', r.tool_id::text, 'none was ever made'
FROM mcp.tool_classifications r
WHERE r.classifier <> 'human'
  AND NOT EXISTS (SELECT FROM mcp.tool_skill_assignments a WHERE a.tool_id = r.tool_id)
  AND NOT EXISTS (SELECT FROM mcp.skill_suggestions s WHERE s.source_tool_id = r.tool_id)
  AND NOT EXISTS (SELECT FROM mcp.outbox o WHERE o.queue = 'classify' AND o.key = r.tool_id::text)
LIMIT :limit::int
