-- The questions of message search. Hits are one JSON value, which is read faster than rows.

-- name: mail_full_text
-- plan: custom
SELECT json_agg(json_build_array(id, rank) ORDER BY rank DESC, id)
FROM (
    SELECT d.id, ts_rank(d.search_vector, :query::text::tsquery, 1) AS rank
    FROM mcp.mail_passing(:kind::text, :org_id::text, :project_ids::bigint[], :importance::text[], :sender::text,
                          :recipients::text[], :party::text, :thread_id::text, :ack_required::boolean, :min_ts::bigint,
                          :max_ts::bigint) d
    WHERE d.search_vector @@ :query::text::tsquery
    ORDER BY rank DESC, d.id
    LIMIT :limit::int
) hits

-- name: mail_containing
-- plan: custom
-- Every pattern must match; nothing tells how well.
SELECT json_agg(json_build_array(id, 1.0) ORDER BY id)
FROM (
    SELECT d.id
    FROM mcp.mail_passing(:kind::text, :org_id::text, :project_ids::bigint[], :importance::text[], :sender::text,
                          :recipients::text[], :party::text, :thread_id::text, :ack_required::boolean, :min_ts::bigint,
                          :max_ts::bigint) d
    WHERE (d.title || E'\n' || d.body) ILIKE ALL (:patterns::text[])
    ORDER BY d.id
    LIMIT :limit::int
) hits

-- name: mail_listed
-- plan: custom
SELECT json_agg(json_build_array(id, created_ts))
FROM (
    SELECT d.id, d.created_ts
    FROM mcp.mail_passing(:kind::text, :org_id::text, :project_ids::bigint[], :importance::text[], :sender::text,
                          :recipients::text[], :party::text, :thread_id::text, :ack_required::boolean, :min_ts::bigint,
                          :max_ts::bigint) d
    WHERE :after_id::bigint IS NULL OR d.id > :after_id::bigint
    ORDER BY d.id
    LIMIT :limit::int
) hits

-- name: mail_newest
-- plan: custom
SELECT json_agg(json_build_array(id, created_ts))
FROM (
    SELECT d.id, d.created_ts
    FROM mcp.mail_passing(:kind::text, :org_id::text, :project_ids::bigint[], :importance::text[], :sender::text,
                          :recipients::text[], :party::text, :thread_id::text, :ack_required::boolean, :min_ts::bigint,
                          :max_ts::bigint) d
    -- The first half says where to begin in the index of the newest.
    WHERE (:after_id::bigint IS NULL OR d.created_ts <= :after_ts::bigint)
      AND (:after_id::bigint IS NULL OR d.created_ts < :after_ts::bigint OR d.id > :after_id::bigint)
    ORDER BY d.created_ts DESC, d.id
    LIMIT :limit::int
) hits

-- name: mail_count
-- plan: custom
SELECT count(*)
FROM mcp.mail_passing(:kind::text, :org_id::text, :project_ids::bigint[], :importance::text[], :sender::text,
                      :recipients::text[], :party::text, :thread_id::text, :ack_required::boolean, :min_ts::bigint,
                      :max_ts::bigint)

-- name: mail_created
SELECT json_agg(json_build_array(id, created_ts)) FROM mcp.mail_documents WHERE id = ANY (:ids::bigint[])

-- name: mail_outside
SELECT json_agg(id) FROM mcp.mail_documents WHERE id = ANY (:ids::bigint[]) AND NOT project_ids && :allowed::bigint[]

-- name: found_messages
SELECT json_agg(json_build_object(
    'id', m.id, 'key', m.key, 'project_id', m.project_id, 'thread_id', d.thread_id, 'subject', m.subject,
    'snippet', left(m.body, :snippet::int), 'importance', d.importance, 'ack_required', d.ack_required,
    'created_ts', d.created_ts, 'sender', s.name,
    'recipients', (
        SELECT json_agg(json_build_array(o.role, a.name) ORDER BY o.place)
        FROM mcp.mail_recipients o JOIN mcp.mail_agents a ON a.id = o.agent_id
        WHERE o.message_id = m.id)))
FROM mcp.mail_messages m
JOIN mcp.mail_documents d ON d.id = m.id
JOIN mcp.mail_agents s ON s.id = m.sender_id
WHERE m.id = ANY (:ids::bigint[])

-- name: found_agents
SELECT json_agg(json_build_object(
    'id', a.id, 'name', a.name, 'description', a.description, 'contact', a.contact, 'created_ts', d.created_ts,
    'project_ids', d.project_ids))
FROM mcp.mail_agents a JOIN mcp.mail_documents d ON d.id = a.id
WHERE a.id = ANY (:ids::bigint[])

-- name: found_projects
SELECT json_agg(json_build_object(
    'id', p.id, 'key', p.key, 'name', p.name, 'description', p.description, 'created_ts', d.created_ts))
FROM mcp.mail_projects p JOIN mcp.mail_documents d ON d.id = p.id
WHERE p.id = ANY (:ids::bigint[])

-- name: mail_texts
SELECT id, title || E'\n\n' || body FROM mcp.mail_documents WHERE id = ANY (:ids::bigint[])
