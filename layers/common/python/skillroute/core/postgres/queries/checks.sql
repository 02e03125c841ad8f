-- What must hold of skills and assignments, looked for in the rows themselves.

-- name: broken_rules
-- Each row is a rule, what breaks it, and how. All of it is seen in one snapshot.
SELECT 'one primary skill for each assigned tool', tool_id::text, count(*) FILTER (WHERE is_primary) || ' primary skills'
FROM mcp.tool_skill_assignments
GROUP BY tool_id
HAVING count(*) FILTER (WHERE is_primary) <> 1
UNION ALL
SELECT 'the primary skill is the surest', p.tool_id::text, p.skill_key || ' is less sure than ' || a.skill_key
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
UNION ALL
-- A search by words looks at these copies alone to know who may find an entity.
SELECT 'words belong to whom their server or agent does', e.id::text, count(*) || ' rows of words do not'
FROM mcp.registry_words w
JOIN mcp.registry_entities e ON e.id = w.entity_id
WHERE (w.org_id, w.kind, w.is_enabled) IS DISTINCT FROM (e.org_id, e.kind, e.is_enabled)
GROUP BY e.id
UNION ALL
SELECT 'no item of a disabled server is searched', t.id::text, 'it is active'
FROM mcp.registry_entities e
JOIN mcp.tools t ON t.server = substr(e.path, 2) AND t.org_id IS NOT DISTINCT FROM e.org_id
WHERE e.kind = 'server' AND NOT e.is_enabled AND t.is_active
UNION ALL
SELECT 'a mail document is of a message, an agent or a project', d.id::text, 'there is none of its id'
FROM mcp.mail_documents d
LEFT JOIN mcp.mail_messages m ON m.id = d.id
LEFT JOIN mcp.mail_agents a ON a.id = d.id
LEFT JOIN mcp.mail_projects p ON p.id = d.id
WHERE CASE d.kind WHEN 'message' THEN m.id WHEN 'agent' THEN a.id ELSE p.id END IS NULL
UNION ALL
-- Who may find a document, and by which names: searches look at these copies alone.
SELECT 'mail is filtered by what was written', d.id::text, 'its organisation, projects or agents are others'
FROM mcp.mail_documents d
LEFT JOIN mcp.mail_messages m ON m.id = d.id
LEFT JOIN mcp.mail_agents s ON s.id = m.sender_id
LEFT JOIN mcp.mail_agents a ON a.id = d.id
LEFT JOIN mcp.mail_projects p ON p.id = d.id
CROSS JOIN LATERAL (
    SELECT CASE d.kind
               WHEN 'message' THEN ARRAY[m.project_id]
               WHEN 'project' THEN ARRAY[p.id]
               ELSE ARRAY(SELECT k.project_id FROM mcp.mail_memberships k WHERE k.agent_id = d.id ORDER BY 1)
           END AS project_ids,
           ARRAY(
               SELECT r.name_key FROM mcp.mail_recipients o JOIN mcp.mail_agents r ON r.id = o.agent_id
               WHERE o.message_id = d.id ORDER BY 1
           ) AS recipient_keys
) w
WHERE num_nonnulls(m.id, a.id, p.id) = 1
  AND (d.org_id IS DISTINCT FROM coalesce(m.org_id, a.org_id, p.org_id)
       OR ARRAY(SELECT unnest(d.project_ids) ORDER BY 1) <> w.project_ids
       OR d.sender_key IS DISTINCT FROM s.name_key
       OR ARRAY(SELECT unnest(d.recipient_keys) ORDER BY 1) <> w.recipient_keys)
LIMIT :limit::int

-- name: mend_words
-- The entities are held first, in the order that all hold them, so that none is enabled or disabled meanwhile.
WITH held AS MATERIALIZED (
    SELECT e.id, e.org_id, e.kind, e.is_enabled FROM mcp.registry_entities e
    WHERE EXISTS (
        SELECT FROM mcp.registry_words w
        WHERE w.entity_id = e.id AND (w.org_id, w.kind, w.is_enabled) IS DISTINCT FROM (e.org_id, e.kind, e.is_enabled))
    ORDER BY e.path COLLATE "C", e.id
    FOR UPDATE
)
UPDATE mcp.registry_words w
SET org_id = held.org_id, kind = held.kind, is_enabled = held.is_enabled
FROM held
WHERE w.entity_id = held.id
  AND (w.org_id, w.kind, w.is_enabled) IS DISTINCT FROM (held.org_id, held.kind, held.is_enabled)

-- name: mend_items
-- Servers are held before their items, and these by id, as by everybody.
WITH disabled AS MATERIALIZED (
    SELECT e.path, e.org_id FROM mcp.registry_entities e
    WHERE e.kind = 'server' AND NOT e.is_enabled
    ORDER BY e.path COLLATE "C", e.id
    FOR UPDATE
)
SELECT mcp.set_items_active(org_id, path, false) FROM disabled

-- name: stored_skill_embedding
-- None for a skill whose aggregation still waits: it may be behind.
SELECT coalesce(v.derived, v.embedding) FROM mcp.document_vectors v
WHERE v.collection = 'mcp_skills' AND v.key = :key AND (v.model, v.dimension) = (:model::text, :dimension::int)
  AND coalesce(v.derived, v.embedding) IS NOT NULL
  AND NOT EXISTS (SELECT FROM mcp.outbox o WHERE o.queue = 'aggregate' AND o.key = v.key)

-- name: searchable_keys
SELECT key FROM mcp.documents WHERE collection = :collection AND is_searchable
