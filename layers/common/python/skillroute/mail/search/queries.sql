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
-- Every pattern must match; there is no measure of how well.
SELECT json_agg(json_build_array(id, 1.0) ORDER BY id)
FROM (
    SELECT d.id
    FROM mcp.mail_passing(:kind::text, :org_id::text, :project_ids::bigint[], :importance::text[], :sender::text,
                          :recipients::text[], :party::text, :thread_id::text, :ack_required::boolean, :min_ts::bigint,
                          :max_ts::bigint) d
    JOIN mcp.documents s ON s.collection = 'mcp_mail' AND s.key = d.id::text
    WHERE s.lexical_text ILIKE ALL (:patterns::text[])
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
-- Of those asked for, in their order, the first that have room together; and the place of the first that has none.
SELECT json_agg(json_build_object(
    'id', m.id, 'bytes', s.size, 'key', m.key, 'project_id', m.project_id, 'thread_id', d.thread_id, 'subject', m.subject,
    'snippet', left(m.body, :snippet::int), 'importance', d.importance, 'ack_required', d.ack_required,
    'created_ts', d.created_ts, 'sender', sender.name,
    'recipients', (
        SELECT json_agg(json_build_array(o.role, a.name) ORDER BY o.place)
        FROM mcp.mail_recipients o JOIN mcp.mail_agents a ON a.id = o.agent_id
        WHERE o.message_id = m.id))) FILTER (WHERE s.fits),
    min(s.nth) FILTER (WHERE NOT s.fits)
FROM (
    SELECT sized.*, sum(size) OVER by_place <= :room::bigint OR row_number() OVER by_place = 1 AS fits
    FROM (
        SELECT w.nth, m.id, octet_length(m.subject) + least(octet_length(m.body), 4 * :snippet::int)
               + octet_length(array_to_string(d.recipient_keys, ',')) AS size
        FROM unnest(:ids::bigint[]) WITH ORDINALITY AS w (id, nth)
        JOIN mcp.mail_messages m ON m.id = w.id JOIN mcp.mail_documents d ON d.id = w.id
    ) sized
    WINDOW by_place AS (ORDER BY nth ROWS UNBOUNDED PRECEDING)
) s
JOIN mcp.mail_messages m ON m.id = s.id
JOIN mcp.mail_documents d ON d.id = m.id
JOIN mcp.mail_agents sender ON sender.id = m.sender_id

-- name: found_agents
SELECT json_agg(json_build_object(
    'id', a.id, 'bytes', s.size, 'name', a.name, 'description', a.description, 'contact', a.contact,
    'created_ts', d.created_ts, 'project_ids', d.project_ids)) FILTER (WHERE s.fits),
    min(s.nth) FILTER (WHERE NOT s.fits)
FROM (
    SELECT sized.*, sum(size) OVER by_place <= :room::bigint OR row_number() OVER by_place = 1 AS fits
    FROM (
        SELECT w.nth, a.id, octet_length(a.name) + octet_length(a.description) + octet_length(a.contact)
               + 8 * cardinality(d.project_ids) AS size
        FROM unnest(:ids::bigint[]) WITH ORDINALITY AS w (id, nth)
        JOIN mcp.mail_agents a ON a.id = w.id JOIN mcp.mail_documents d ON d.id = w.id
    ) sized
    WINDOW by_place AS (ORDER BY nth ROWS UNBOUNDED PRECEDING)
) s
JOIN mcp.mail_agents a ON a.id = s.id
JOIN mcp.mail_documents d ON d.id = a.id

-- name: found_projects
SELECT json_agg(json_build_object(
    'id', p.id, 'bytes', s.size, 'key', p.key, 'name', p.name, 'description', p.description,
    'created_ts', d.created_ts)) FILTER (WHERE s.fits),
    min(s.nth) FILTER (WHERE NOT s.fits)
FROM (
    SELECT sized.*, sum(size) OVER by_place <= :room::bigint OR row_number() OVER by_place = 1 AS fits
    FROM (
        SELECT w.nth, p.id, octet_length(p.key) + octet_length(p.name) + octet_length(p.description) AS size
        FROM unnest(:ids::bigint[]) WITH ORDINALITY AS w (id, nth) JOIN mcp.mail_projects p ON p.id = w.id
    ) sized
    WINDOW by_place AS (ORDER BY nth ROWS UNBOUNDED PRECEDING)
) s
JOIN mcp.mail_projects p ON p.id = s.id
JOIN mcp.mail_documents d ON d.id = p.id

-- name: mail_texts
SELECT key::bigint, texts[1] FROM mcp.documents WHERE collection = 'mcp_mail' AND key = ANY (:ids::bigint[]::text[])
