-- Skills, suggestions and what was decided on items, as lines of an export, and as they come back.
--
-- Owners are compared by CASE, of which a plan for the values of a run keeps one branch: `IS NOT DISTINCT FROM` finds no
-- index, and would walk through the rows of all others.

-- name: exported_skills
-- plan: custom
-- Of exactly one organisation's own, in the order in which they were made. Their keys are texts, so they are counted off.
SELECT nth, id, name, description, keywords, examples, parent_domain, is_active, created_at
FROM (
    SELECT c.*, row_number() OVER (ORDER BY c.created_at, c.key) AS nth
    FROM mcp.skill_categories c
    WHERE {{own_by_index c.org_id}} AND c.deleted_at IS NULL
) numbered
WHERE nth > :after::bigint
ORDER BY nth
LIMIT :limit::int

-- name: version_of_skills
-- plan: custom
-- The transaction that wrote a row is another one after each write of it.
SELECT count(*) || '-' || coalesce(sum(hashtextextended(c.key || ':' || c.xmin, 0)::numeric), 0)
FROM mcp.skill_categories c
WHERE {{own_by_index c.org_id}} AND c.deleted_at IS NULL

-- name: set_skill_created
-- plan: custom
UPDATE mcp.skill_categories c SET created_at = r.created_at
FROM json_to_recordset(:rows::json) AS r (key text, created_at timestamptz)
WHERE c.key = r.key AND c.created_at <> r.created_at

-- name: decisions_on_items
-- What was decided on items, whether they wait to be classified, and their skills, the primary one first.
SELECT t.id, r.classifier, r.classified_at, r.input_hash,
       EXISTS (SELECT FROM mcp.outbox o WHERE o.queue = 'classify' AND o.key = t.id::text),
       (SELECT json_agg(json_build_array(a.skill_key, a.confidence, a.is_primary, a.source, a.reasoning, a.assigned_at)
                        ORDER BY a.is_primary DESC, a.confidence DESC, a.skill_key)
        FROM mcp.tool_skill_assignments a WHERE a.tool_id = t.id)
FROM mcp.tools t
LEFT JOIN mcp.tool_classifications r ON r.tool_id = t.id
WHERE t.id = ANY (:ids::bigint[])

-- name: version_of_decisions
-- plan: custom
SELECT (SELECT count(*) || '-' || coalesce(sum(hashtextextended(a.id || ':' || a.xmin, 0)::numeric), 0)
        FROM mcp.tool_skill_assignments a JOIN mcp.tools t ON t.id = a.tool_id
        WHERE {{own_by_index t.org_id}})
    || '.' ||
       (SELECT count(*) || '-' || coalesce(sum(hashtextextended(r.tool_id || ':' || r.xmin, 0)::numeric), 0)
        FROM mcp.tool_classifications r JOIN mcp.tools t ON t.id = r.tool_id
        WHERE {{own_by_index t.org_id}})
    || '.' ||
       (SELECT count(*) || '-' || coalesce(sum(hashtextextended(o.key, 0)::numeric), 0)
        FROM mcp.outbox o WHERE o.queue = 'classify' AND o.org_id = coalesce(:org_id::text, ''))

-- name: restore_assignments
-- With who assigned each and when, as it was. Those that are gone were deleted before, and no tool has two primary ones.
INSERT INTO mcp.tool_skill_assignments AS a (tool_id, skill_key, confidence, is_primary, source, reasoning, assigned_at)
SELECT r.tool_id, r.skill_key, r.confidence, r.is_primary, r.source, r.reasoning, coalesce(r.assigned_at, now())
FROM json_to_recordset(:rows::json) AS r (
    tool_id bigint, skill_key text, confidence double precision, is_primary boolean, source text, reasoning text,
    assigned_at timestamptz)
ORDER BY r.tool_id, r.skill_key
ON CONFLICT ON CONSTRAINT tool_skill_assignments_key DO UPDATE SET
    confidence = excluded.confidence, is_primary = excluded.is_primary, source = excluded.source,
    reasoning = excluded.reasoning, assigned_at = excluded.assigned_at

-- name: restore_classifications
INSERT INTO mcp.tool_classifications AS r (tool_id, input_hash, classifier, classified_at)
SELECT n.tool_id, n.input_hash, n.classifier, coalesce(n.classified_at, now())
FROM json_to_recordset(:rows::json) AS n (tool_id bigint, input_hash text, classifier text, classified_at timestamptz)
ORDER BY n.tool_id
ON CONFLICT (tool_id) DO UPDATE SET
    input_hash = excluded.input_hash, classifier = excluded.classifier, classified_at = excluded.classified_at

-- name: exported_suggestions
-- plan: custom
-- With which one it is of those that are alike in all that identifies a suggestion: a tool's server goes with the tool.
WITH page AS MATERIALIZED (
    SELECT s.* FROM mcp.skill_suggestions s
    WHERE {{own_by_index s.org_id}} AND s.id > :after::bigint
        -- What was decided on the description of a skill that is deleted since is of nothing that could be brought back.
        AND (s.target_skill_key IS NULL OR EXISTS (
            SELECT FROM mcp.skill_categories d WHERE d.key = s.target_skill_key AND d.deleted_at IS NULL))
    ORDER BY s.id
    LIMIT :limit::int
), counted AS (
    SELECT s.id, row_number() OVER (
        PARTITION BY s.created_at, s.kind, s.suggested_name, s.source_tool_id, s.source_tool_name, s.target_skill_key
        ORDER BY s.id) AS occurrence
    FROM mcp.skill_suggestions s
    WHERE {{own_by_index s.org_id}}
        AND s.created_at IN (SELECT page.created_at FROM page)
)
SELECT s.id, s.kind, s.suggested_name, s.suggested_description, t.server, t.type, t.name, s.source_tool_name,
       s.target_skill_key, n.occurrence, s.reasoning, s.source, s.status, c.key, s.reviewed_by, s.review_reason,
       s.created_at, s.reviewed_at
FROM page s
JOIN counted n ON n.id = s.id
LEFT JOIN mcp.tools t ON t.id = s.source_tool_id
LEFT JOIN mcp.skill_categories c ON c.key = s.resolved_skill_key AND c.deleted_at IS NULL
ORDER BY s.id

-- name: version_of_suggestions
-- plan: custom
SELECT count(*) || '-' || coalesce(sum(hashtextextended(s.id || ':' || s.xmin, 0)::numeric), 0)
FROM mcp.skill_suggestions s WHERE {{own_by_index s.org_id}}

-- name: stored_suggestions
-- plan: custom
-- What is stored of suggestions: the one that is open for the same tool, or of the same skill's description, of which there
-- is one at most; else the same one, which is of the same moment, name and tool, and as many before it are alike.
WITH r AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:rows::json) AS r (
        place int, kind text, name text, source_tool_id bigint, source_tool_name text, target_skill_key text, status text,
        created_at timestamptz, occurrence int)
), alike AS (
    SELECT s.*, row_number() OVER (
        PARTITION BY s.created_at, s.kind, s.suggested_name, s.source_tool_id, s.source_tool_name, s.target_skill_key
        ORDER BY s.id) AS occurrence
    FROM mcp.skill_suggestions s
    WHERE {{own_by_index s.org_id}}
        AND s.created_at IN (SELECT r.created_at FROM r)
), same AS MATERIALIZED (
    SELECT r.place, s.id
    FROM r
    JOIN alike s
      ON s.created_at = r.created_at AND s.kind = r.kind AND s.suggested_name = r.name AND s.occurrence = r.occurrence
     AND s.source_tool_id IS NOT DISTINCT FROM r.source_tool_id
     AND s.source_tool_name IS NOT DISTINCT FROM r.source_tool_name
     AND s.target_skill_key IS NOT DISTINCT FROM r.target_skill_key
), open AS (
    SELECT r.place, s.id
    FROM r
    JOIN mcp.skill_suggestions s ON s.status = 'pending' AND s.kind = 'new_skill' AND s.source_tool_id = r.source_tool_id
    WHERE r.status = 'pending' AND r.kind = 'new_skill'
    UNION ALL
    SELECT r.place, s.id
    FROM r
    JOIN mcp.skill_suggestions s
      ON s.status = 'pending' AND s.kind = 'description' AND s.target_skill_key = r.target_skill_key
    WHERE r.status = 'pending' AND r.kind = 'description'
), found AS (
    SELECT place, id, false AS is_open FROM same
    UNION ALL
    -- One that was open when another line was made of it, which says how it was decided, is that line's.
    SELECT o.place, o.id, true FROM open o
    WHERE NOT EXISTS (SELECT FROM same WHERE same.id = o.id AND same.place <> o.place)
)
SELECT DISTINCT ON (f.place)
       f.place, s.id, s.kind, s.suggested_name, s.suggested_description, s.source_tool_id, s.source_tool_name,
       s.target_skill_key, s.reasoning, s.source, s.status, s.resolved_skill_key, s.reviewed_by, s.review_reason,
       s.created_at, s.reviewed_at
FROM found f
JOIN mcp.skill_suggestions s ON s.id = f.id
WHERE {{own_by_index s.org_id}}
ORDER BY f.place, f.is_open DESC

-- name: restore_new_suggestions
-- In the order of the call: suggestions are listed by their ids.
INSERT INTO mcp.skill_suggestions (
    org_id, kind, suggested_name, suggested_description, source_tool_id, source_tool_name, target_skill_key, reasoning,
    source, status, resolved_skill_key, reviewed_by, review_reason, created_at, reviewed_at)
SELECT :org_id::text, r.kind, r.name, r.description, r.source_tool_id, r.source_tool_name, r.target_skill_key, r.reasoning,
       r.source, r.status, r.resolved_skill_key, r.reviewed_by, r.review_reason, r.created_at, r.reviewed_at
FROM json_to_recordset(:rows::json) AS r (
    place int, kind text, name text, description text, source_tool_id bigint, source_tool_name text, target_skill_key text,
    reasoning text, source text, status text, resolved_skill_key text, reviewed_by text, review_reason text,
    created_at timestamptz, reviewed_at timestamptz)
ORDER BY r.place

-- name: restore_old_suggestions
UPDATE mcp.skill_suggestions s SET
    suggested_name = r.name, suggested_description = r.description, source_tool_id = r.source_tool_id,
    source_tool_name = r.source_tool_name, reasoning = r.reasoning, source = r.source, status = r.status,
    resolved_skill_key = r.resolved_skill_key, reviewed_by = r.reviewed_by, review_reason = r.review_reason,
    created_at = r.created_at, reviewed_at = r.reviewed_at
FROM json_to_recordset(:rows::json) AS r (
    id bigint, name text, description text, source_tool_id bigint, source_tool_name text, reasoning text, source text,
    status text, resolved_skill_key text, reviewed_by text, review_reason text, created_at timestamptz,
    reviewed_at timestamptz)
WHERE s.id = r.id
