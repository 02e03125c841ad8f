-- Projects, products, agents and messages as they are written and read.

-- name: lock_mail
-- One writer at a time for an organisation: names are given their one spelling, keys their one row.
SELECT pg_advisory_xact_lock(hashtextextended('mcp.mail:' || coalesce(:org_id::text, ''), 0))

-- name: new_mail_ids
SELECT nextval(pg_get_serial_sequence('mcp.mail_documents', 'id')) FROM generate_series(1, :count::int)

-- name: project_states
SELECT p.key, p.id, p.content_hash, d.text_hash,
       (SELECT has_vector FROM mcp.vector_state('mcp_mail', d.id::text)), d.project_ids
FROM mcp.mail_projects p JOIN mcp.mail_documents d USING (id)
WHERE p.key = ANY (:keys::text[]) AND {{own p.org_id}}

-- name: product_states
SELECT p.key, p.id, p.content_hash, NULL, false, ARRAY(
    SELECT l.project_id FROM mcp.mail_product_projects l WHERE l.product_id = p.id ORDER BY l.project_id)
FROM mcp.mail_products p
WHERE p.key = ANY (:keys::text[]) AND {{own p.org_id}}

-- name: agent_states
SELECT a.name_key, a.id, a.content_hash, d.text_hash,
       (SELECT has_vector FROM mcp.vector_state('mcp_mail', d.id::text)), d.project_ids,
       a.name, a.description, a.contact
FROM mcp.mail_agents a JOIN mcp.mail_documents d USING (id)
WHERE a.name_key = ANY (:keys::text[]) AND {{own a.org_id}}

-- name: message_states
-- Two branches, because "is not distinct from" finds no use for the index.
SELECT m.key, m.id, m.content_hash, d.text_hash,
       (SELECT has_vector FROM mcp.vector_state('mcp_mail', d.id::text)), d.project_ids, d.sender_key
FROM (
    SELECT key, id, content_hash FROM mcp.mail_messages
    WHERE org_id IS NULL AND :org_id::text IS NULL AND key = ANY (:keys::text[])
    UNION ALL
    SELECT key, id, content_hash FROM mcp.mail_messages WHERE org_id = :org_id::text AND key = ANY (:keys::text[])
) m JOIN mcp.mail_documents d USING (id)

-- name: put_mail_documents
INSERT INTO mcp.mail_documents AS d (
    id, kind, org_id, project_ids, sender_key, recipient_keys, thread_id, importance, ack_required, created_ts,
    search_vector, text_hash)
SELECT r.id, r.kind, :org_id::text, r.project_ids, r.sender_key, r.recipient_keys, r.thread_id, r.importance, r.ack_required,
       coalesce(r.created_ts, (extract(epoch FROM now()) * 1000000)::bigint), r.search_vector::tsvector, r.text_hash
FROM json_to_recordset(:rows::json) AS r (
    id bigint, kind text, project_ids bigint[], sender_key text, recipient_keys text[], thread_id text, importance text,
    ack_required boolean, created_ts bigint, search_vector text, text_hash text)
ORDER BY r.id
ON CONFLICT (id) DO UPDATE SET
    project_ids = excluded.project_ids, sender_key = excluded.sender_key, recipient_keys = excluded.recipient_keys,
    thread_id = excluded.thread_id, importance = excluded.importance, ack_required = excluded.ack_required,
    created_ts = CASE WHEN d.kind = 'message' THEN excluded.created_ts ELSE d.created_ts END,
    search_vector = excluded.search_vector, text_hash = excluded.text_hash

-- name: put_projects
INSERT INTO mcp.mail_projects (id, org_id, key, name, description, content_hash)
SELECT r.id, :org_id::text, r.key, r.name, r.description, r.content_hash
FROM json_to_recordset(:rows::json) AS r (id bigint, key text, name text, description text, content_hash text)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, description = excluded.description, content_hash = excluded.content_hash, updated_at = now()

-- name: put_product
INSERT INTO mcp.mail_products (org_id, key, name, description, content_hash)
VALUES (:org_id::text, :key, :name, :description, :content_hash)
ON CONFLICT ON CONSTRAINT mail_products_key DO UPDATE SET
    name = excluded.name, description = excluded.description, content_hash = excluded.content_hash, updated_at = now()
RETURNING id

-- name: drop_product_links
DELETE FROM mcp.mail_product_projects WHERE product_id = :id::bigint AND project_id <> ALL (:project_ids::bigint[])

-- name: add_product_links
INSERT INTO mcp.mail_product_projects (product_id, project_id)
SELECT :id::bigint, unnest(:project_ids::bigint[])
ON CONFLICT DO NOTHING

-- name: forget_product_hash
-- It was the hash of other projects: what is written next differs.
UPDATE mcp.mail_products SET content_hash = '', updated_at = now() WHERE id = :id::bigint

-- name: put_agents
INSERT INTO mcp.mail_agents (id, org_id, name, name_key, description, contact, content_hash)
SELECT r.id, :org_id::text, r.name, r.name_key, r.description, r.contact, r.content_hash
FROM json_to_recordset(:rows::json) AS r (
    id bigint, name text, name_key text, description text, contact text, content_hash text)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, description = excluded.description, contact = excluded.contact,
    content_hash = excluded.content_hash, updated_at = now()

-- name: drop_memberships
DELETE FROM mcp.mail_memberships m
USING json_to_recordset(:rows::json) AS r (id bigint, project_ids bigint[])
WHERE m.agent_id = r.id AND m.project_id <> ALL (r.project_ids)

-- name: add_memberships
INSERT INTO mcp.mail_memberships (agent_id, project_id)
SELECT r.id, unnest(r.project_ids)
FROM json_to_recordset(:rows::json) AS r (id bigint, project_ids bigint[])
ON CONFLICT DO NOTHING

-- name: show_memberships
-- Its hash is that of other memberships, so it goes, too: what is written next differs.
WITH forgotten AS (
    UPDATE mcp.mail_agents SET content_hash = '', updated_at = now() WHERE id = :id::bigint
)
UPDATE mcp.mail_documents
SET project_ids = ARRAY(SELECT m.project_id FROM mcp.mail_memberships m WHERE m.agent_id = :id::bigint ORDER BY 1)
WHERE id = :id::bigint

-- name: put_messages
INSERT INTO mcp.mail_messages (id, org_id, key, project_id, sender_id, subject, body, content_hash)
SELECT r.id, :org_id::text, r.key, r.project_id, r.sender_id, r.subject, r.body, r.content_hash
FROM json_to_recordset(:rows::json) AS r (
    id bigint, key text, project_id bigint, sender_id bigint, subject text, body text, content_hash text)
ON CONFLICT (id) DO UPDATE SET
    project_id = excluded.project_id, sender_id = excluded.sender_id, subject = excluded.subject, body = excluded.body,
    content_hash = excluded.content_hash, updated_at = now()

-- name: drop_recipients
DELETE FROM mcp.mail_recipients o
WHERE o.message_id = ANY (:ids::bigint[])
  AND NOT EXISTS (
    SELECT FROM json_to_recordset(:rows::json) AS r (message_id bigint, role text, place int, agent_id bigint)
    WHERE (r.message_id, r.role, r.place, r.agent_id) = (o.message_id, o.role, o.place, o.agent_id))
RETURNING o.message_id, o.agent_id, o.acknowledged_at

-- name: add_recipients
INSERT INTO mcp.mail_recipients (message_id, role, place, agent_id, acknowledged_at)
SELECT r.message_id, r.role, r.place, r.agent_id, r.acknowledged_at
FROM json_to_recordset(:rows::json) AS r (
    message_id bigint, role text, place int, agent_id bigint, acknowledged_at timestamptz)
ON CONFLICT (message_id, agent_id) DO NOTHING

-- name: acknowledge
UPDATE mcp.mail_recipients r SET acknowledged_at = coalesce(r.acknowledged_at, now())
FROM mcp.mail_agents a
WHERE r.message_id = :id::bigint AND a.id = r.agent_id AND a.name_key = :name_key
RETURNING r.agent_id

-- name: delete_mail_document
DELETE FROM mcp.mail_documents d
WHERE d.id = :id::bigint AND d.kind = :kind AND {{own d.org_id}}
RETURNING d.id

-- name: forget_project
-- Agents that belonged to it.
UPDATE mcp.mail_documents SET project_ids = array_remove(project_ids, :id::bigint)
WHERE kind = 'agent' AND project_ids @> ARRAY[:id::bigint]

-- name: delete_product
DELETE FROM mcp.mail_products WHERE id = :id::bigint AND {{own org_id}}
RETURNING id

-- name: list_projects
-- plan: custom
-- This and the lists below are cut by rows, then by bytes, as `list_items` is.
SELECT page.id, page.org_id, page.key, page.name, page.description, page.created_at, page.updated_at, page.total
FROM (
    SELECT page.*, row_number() OVER by_key AS nth, sum(octet_length(description)) OVER by_key AS upto
    FROM (
        SELECT p.*, count(*) OVER () AS total
        FROM mcp.mail_projects_seen_by(:org_id::text) p
        WHERE (:id::bigint IS NULL OR p.id = :id::bigint) AND (:key::text IS NULL OR p.key = :key::text)
          AND (:allowed::bigint[] IS NULL OR p.id = ANY (:allowed::bigint[]))
        ORDER BY p.key COLLATE "C", p.id
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
    WINDOW by_key AS (ORDER BY key COLLATE "C", id ROWS UNBOUNDED PRECEDING)
) page
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY page.key COLLATE "C", page.id

-- name: list_products
-- plan: custom
SELECT page.id, page.org_id, page.key, page.name, page.description, page.created_at, page.updated_at, page.ids, page.keys,
       page.total
FROM (
    SELECT page.*, row_number() OVER by_key AS nth,
           sum(octet_length(description) + octet_length(array_to_string(keys, ',')) + 20 * cardinality(ids))
               OVER by_key AS upto
    FROM (
        SELECT p.*, coalesce(l.ids, '{}') AS ids, coalesce(l.keys, '{}') AS keys, count(*) OVER () AS total
        FROM mcp.mail_products_seen_by(:org_id::text) p
        LEFT JOIN LATERAL (
            SELECT array_agg(j.id ORDER BY j.key COLLATE "C", j.id) AS ids,
                   array_agg(j.key ORDER BY j.key COLLATE "C", j.id) AS keys
            FROM mcp.mail_product_projects k
            JOIN mcp.mail_projects_seen_by(:org_id::text) j ON j.id = k.project_id
            WHERE k.product_id = p.id AND (:allowed::bigint[] IS NULL OR j.id = ANY (:allowed::bigint[]))
        ) l ON true
        WHERE (:id::bigint IS NULL OR p.id = :id::bigint) AND (:key::text IS NULL OR p.key = :key::text)
          AND (:allowed::bigint[] IS NULL OR l.ids IS NOT NULL)
        ORDER BY p.key COLLATE "C", p.id
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
    WINDOW by_key AS (ORDER BY key COLLATE "C", id ROWS UNBOUNDED PRECEDING)
) page
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY page.key COLLATE "C", page.id

-- name: list_agents
-- plan: custom
SELECT page.id, page.org_id, page.name, page.description, page.contact, page.created_at, page.updated_at, page.ids,
       page.keys, page.total
FROM (
    SELECT page.*, row_number() OVER by_name AS nth,
           sum(octet_length(description) + octet_length(contact) + octet_length(array_to_string(keys, ','))
               + 20 * cardinality(ids)) OVER by_name AS upto
    FROM (
        SELECT a.*, coalesce(l.ids, '{}') AS ids, coalesce(l.keys, '{}') AS keys, count(*) OVER () AS total
        FROM mcp.mail_agents_seen_by(:org_id::text) a
        LEFT JOIN LATERAL (
            SELECT array_agg(j.id ORDER BY j.key COLLATE "C", j.id) AS ids,
                   array_agg(j.key ORDER BY j.key COLLATE "C", j.id) AS keys
            FROM mcp.mail_memberships k
            JOIN mcp.mail_projects_seen_by(:org_id::text) j ON j.id = k.project_id
            WHERE k.agent_id = a.id AND (:allowed::bigint[] IS NULL OR j.id = ANY (:allowed::bigint[]))
        ) l ON true
        WHERE (:id::bigint IS NULL OR a.id = :id::bigint) AND (:name_key::text IS NULL OR a.name_key = :name_key::text)
          AND (:project_id::bigint IS NULL OR :project_id::bigint = ANY (l.ids))
          AND (:allowed::bigint[] IS NULL OR l.ids IS NOT NULL)
        ORDER BY a.name_key COLLATE "C", a.id
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
    WINDOW by_name AS (ORDER BY name_key COLLATE "C", id ROWS UNBOUNDED PRECEDING)
) page
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY page.name_key COLLATE "C", page.id

-- name: list_messages
-- plan: custom
-- The page is cut before its recipients are looked up; one who has acknowledged a message is named twice.
SELECT m.id, m.org_id, m.project_id, m.key, p.key, s.name, m.subject, m.body, d.created_ts, d.thread_id, d.importance,
       d.ack_required, (SELECT has_vector FROM mcp.vector_state('mcp_mail', d.id::text)), m.updated_at, r.recipients
FROM (
    SELECT d.id, row_number() OVER newest AS nth,
           sum(octet_length(m.subject) + octet_length(m.body) + 2 * octet_length(array_to_string(d.recipient_keys, ',')))
               OVER newest AS upto
    FROM (
        SELECT d.id, d.created_ts, d.recipient_keys FROM mcp.mail_seen_by(:org_id::text) d
        WHERE d.kind = 'message'
          AND (:id::bigint IS NULL OR d.id = :id::bigint)
          AND (:key::text IS NULL OR d.id = ANY (ARRAY(
            SELECT m.id FROM mcp.mail_messages_seen_by(:org_id::text) m WHERE m.key = :key::text)))
          AND (:allowed::bigint[] IS NULL OR d.project_ids && :allowed::bigint[])
          AND (:project_id::bigint IS NULL OR d.project_ids @> ARRAY[:project_id::bigint])
          AND (:thread_id::text IS NULL OR d.thread_id = :thread_id::text)
          AND (:sender::text IS NULL OR d.sender_key = :sender::text)
          AND (:recipient::text IS NULL OR :recipient::text = ANY (d.recipient_keys))
          AND (:importance::text IS NULL OR d.importance = :importance::text)
          AND (:ack_required::boolean IS NULL OR d.ack_required = :ack_required::boolean)
        ORDER BY d.created_ts DESC, d.id
        LIMIT :limit::int OFFSET :offset::bigint
    ) d
    JOIN mcp.mail_messages m ON m.id = d.id
    WINDOW newest AS (ORDER BY d.created_ts DESC, d.id ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.mail_documents d ON d.id = page.id
JOIN mcp.mail_messages m ON m.id = d.id
JOIN mcp.mail_projects p ON p.id = m.project_id
JOIN mcp.mail_agents s ON s.id = m.sender_id
CROSS JOIN LATERAL (
    SELECT json_agg(json_build_array(o.role, a.name, o.acknowledged_at) ORDER BY o.role, o.place) AS recipients
    FROM mcp.mail_recipients o JOIN mcp.mail_agents a ON a.id = o.agent_id
    WHERE o.message_id = m.id
) r
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY d.created_ts DESC, d.id

-- name: count_messages
-- plan: custom
SELECT count(*) FROM mcp.mail_seen_by(:org_id::text) d
WHERE d.kind = 'message'
  AND (:key::text IS NULL OR d.id = ANY (ARRAY(
    SELECT m.id FROM mcp.mail_messages_seen_by(:org_id::text) m WHERE m.key = :key::text)))
  AND (:allowed::bigint[] IS NULL OR d.project_ids && :allowed::bigint[])
  AND (:project_id::bigint IS NULL OR d.project_ids @> ARRAY[:project_id::bigint])
  AND (:thread_id::text IS NULL OR d.thread_id = :thread_id::text)
  AND (:sender::text IS NULL OR d.sender_key = :sender::text)
  AND (:recipient::text IS NULL OR :recipient::text = ANY (d.recipient_keys))
  AND (:importance::text IS NULL OR d.importance = :importance::text)
  AND (:ack_required::boolean IS NULL OR d.ack_required = :ack_required::boolean)

-- name: projects_of_agent
-- Agents of one name are one agent to a caller who sees both, the global one and the organisation's own.
SELECT DISTINCT m.project_id
FROM mcp.mail_agents_seen_by(:org_id::text) a
JOIN mcp.mail_memberships m ON m.agent_id = a.id
WHERE a.name_key = :name_key
ORDER BY 1

-- name: has_other_members
-- Of every organisation: a global project has members of many.
SELECT EXISTS (
    SELECT FROM mcp.mail_memberships m
    WHERE m.project_id = :id::bigint
      AND m.agent_id <> ALL (ARRAY(
        SELECT a.id FROM mcp.mail_agents_seen_by(:org_id::text) a WHERE a.name_key = :name_key::text)))

-- name: projects_of_product
SELECT l.project_id
FROM mcp.mail_products_seen_by(:org_id::text) p
JOIN mcp.mail_product_projects l ON l.product_id = p.id
WHERE p.id = :id::bigint
ORDER BY 1

-- name: count_mail_documents
SELECT count(*) FROM mcp.mail_documents

-- name: mail_sources
SELECT d.id, coalesce(m.subject, a.name, p.name), coalesce(m.body, a.description, p.key || E'\n' || p.description),
       d.text_hash, s.text_hash
FROM mcp.mail_documents d
LEFT JOIN mcp.documents s ON s.collection = 'mcp_mail' AND s.key = d.id::text
LEFT JOIN mcp.mail_messages m ON m.id = d.id
LEFT JOIN mcp.mail_agents a ON a.id = d.id
LEFT JOIN mcp.mail_projects p ON p.id = d.id
WHERE d.id > :after::bigint AND num_nonnulls(m.id, a.id, p.id) = 1 AND hashint8(d.id) % :every::int = 0
ORDER BY d.id
LIMIT :limit::int

-- name: mail_with_other_words
-- As PostgreSQL writes them: of many places of a word it keeps some. A text that is new since it was looked at has words
-- of its own.
SELECT d.id
FROM json_to_recordset(:rows::json) AS r (id bigint, search_vector text, text_hash text)
JOIN mcp.mail_documents d ON d.id = r.id AND d.text_hash = r.text_hash
WHERE d.search_vector::text <> r.search_vector::tsvector::text

-- name: set_mail_words
-- Where somebody has written something new in the meantime, that is what is searched. Returns which ones were written.
UPDATE mcp.mail_documents d SET search_vector = r.search_vector::tsvector, text_hash = r.text_hash
FROM json_to_recordset(:rows::json) AS r (id bigint, old_hash text, search_vector text, text_hash text)
WHERE d.id = r.id AND d.text_hash = r.old_hash
RETURNING d.id

-- name: broken_mail_rules
-- Each row is a rule, what breaks it, and how.
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
