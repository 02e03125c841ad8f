-- Mail as lines of an export, and who had acknowledged what as it comes back.
--
-- Owners are compared by CASE, of which a plan for the values of a run keeps one branch: `IS NOT DISTINCT FROM` finds no
-- index, and would walk through the rows of all others.

-- name: exported_projects
-- plan: custom
SELECT p.id, p.key, p.name, p.description FROM mcp.mail_projects p
WHERE {{own_by_index p.org_id}} AND p.id > :after::bigint
ORDER BY p.id
LIMIT :limit::int

-- name: exported_products
-- plan: custom
SELECT p.id, p.key, p.name, p.description,
       ARRAY(SELECT j.key FROM mcp.mail_product_projects l JOIN mcp.mail_projects j ON j.id = l.project_id
             WHERE l.product_id = p.id ORDER BY j.id)
FROM mcp.mail_products p
WHERE {{own_by_index p.org_id}} AND p.id > :after::bigint
ORDER BY p.id
LIMIT :limit::int

-- name: exported_mail_agents
-- plan: custom
SELECT a.id, a.name, a.description, a.contact,
       ARRAY(SELECT j.key FROM mcp.mail_memberships m JOIN mcp.mail_projects j ON j.id = m.project_id
             WHERE m.agent_id = a.id ORDER BY j.id)
FROM mcp.mail_agents a
WHERE {{own_by_index a.org_id}} AND a.id > :after::bigint
ORDER BY a.id
LIMIT :limit::int

-- name: exported_messages
-- plan: custom
SELECT m.id, m.key, p.key, s.name, m.subject, m.body, d.thread_id, d.importance, d.ack_required, d.created_ts,
       (SELECT json_agg(json_build_array(o.role, a.name, o.acknowledged_at) ORDER BY o.role, o.place)
        FROM mcp.mail_recipients o JOIN mcp.mail_agents a ON a.id = o.agent_id WHERE o.message_id = m.id)
FROM (
    SELECT id, row_number() OVER by_id AS nth, sum(octet_length(body) + octet_length(subject)) OVER by_id AS upto
    FROM (
        SELECT m.* FROM mcp.mail_messages m
        WHERE {{own_by_index m.org_id}} AND m.id > :after::bigint
        ORDER BY m.id
        LIMIT :limit::int
    ) page
    WINDOW by_id AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.mail_messages m ON m.id = page.id
JOIN mcp.mail_documents d ON d.id = m.id
JOIN mcp.mail_projects p ON p.id = m.project_id
JOIN mcp.mail_agents s ON s.id = m.sender_id
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY m.id

-- name: version_of_projects
-- plan: custom
-- The transaction that wrote a row is another one after each write of it, here and below.
SELECT count(*) || '-' || coalesce(sum(hashtextextended(p.id || ':' || p.xmin, 0)::numeric), 0)
FROM mcp.mail_projects p WHERE {{own_by_index p.org_id}}

-- name: version_of_products
-- plan: custom
SELECT count(*) || '-' || coalesce(sum(hashtextextended(p.id || ':' || p.xmin || ':' || coalesce(l.project_id || '.' || l.xmin, ''), 0)::numeric), 0)
FROM mcp.mail_products p LEFT JOIN mcp.mail_product_projects l ON l.product_id = p.id
WHERE {{own_by_index p.org_id}}

-- name: version_of_mail_agents
-- plan: custom
SELECT count(*) || '-' || coalesce(sum(hashtextextended(a.id || ':' || a.xmin || ':' || coalesce(m.project_id || '.' || m.xmin, ''), 0)::numeric), 0)
FROM mcp.mail_agents a LEFT JOIN mcp.mail_memberships m ON m.agent_id = a.id
WHERE {{own_by_index a.org_id}}

-- name: version_of_messages
-- plan: custom
SELECT count(*) || '-' || coalesce(sum(hashtextextended(m.id || ':' || m.xmin || ':' || coalesce(r.agent_id || '.' || r.xmin, ''), 0)::numeric), 0)
FROM mcp.mail_messages m LEFT JOIN mcp.mail_recipients r ON r.message_id = m.id
WHERE {{own_by_index m.org_id}}

-- name: restore_acknowledgements
UPDATE mcp.mail_recipients o SET acknowledged_at = r.acknowledged_at
FROM json_to_recordset(:rows::json) AS r (message_id bigint, name_key text, acknowledged_at timestamptz)
JOIN mcp.mail_agents a ON a.name_key = r.name_key
WHERE o.message_id = r.message_id AND o.agent_id = a.id AND o.acknowledged_at IS DISTINCT FROM r.acknowledged_at
RETURNING o.message_id
