-- Agent Skills: folders with a SKILL.md.

-- name: agent_skill_states
-- plan: custom
-- What is stored under an organisation's own paths, with the hashes of the texts that are searched.
SELECT s.path, s.content_hash,
       array(SELECT d.text_hash FROM mcp.agent_skill_pieces p
             JOIN mcp.documents d ON d.collection = 'mcp_agent_skills' AND d.key = p.id::text
             WHERE p.agent_skill_id = s.id)
FROM unnest(:paths::text[]) AS k (path)
JOIN mcp.agent_skills s ON s.path = k.path AND {{own_by_index s.org_id}}

-- name: upsert_agent_skills
-- In the order of their paths, so that two calls with the same ones wait instead of deadlocking. Those that are the same
-- already are locked as well, and not returned.
INSERT INTO mcp.agent_skills AS s (org_id, path, name, description, frontmatter, content_hash)
SELECT :org_id::text, r.path, r.name, r.description, r.frontmatter, r.content_hash
FROM json_to_recordset(:rows::json) AS r (path text, name text, description text, frontmatter json, content_hash text)
ORDER BY r.path
ON CONFLICT ON CONSTRAINT agent_skills_key DO UPDATE SET
    description = excluded.description,
    frontmatter = excluded.frontmatter,
    content_hash = excluded.content_hash,
    updated_at = clock_timestamp()
WHERE s.content_hash <> excluded.content_hash
RETURNING s.path, s.xmax = 0

-- name: agent_skill_ids
-- plan: custom
SELECT s.path, s.id FROM mcp.agent_skills s WHERE s.path = ANY (:paths::text[]) AND {{own_by_index s.org_id}}

-- name: delete_agent_skill_files
DELETE FROM mcp.agent_skill_files WHERE agent_skill_id = ANY (:ids::bigint[])

-- name: insert_agent_skill_files
INSERT INTO mcp.agent_skill_files (agent_skill_id, path, mime_type, digest, content)
SELECT r.agent_skill_id, r.path, r.mime_type, r.digest, decode(r.content, 'base64')
FROM json_to_recordset(:rows::json) AS r (
    agent_skill_id bigint, path text, mime_type text, digest text, content text)

-- name: agent_skill_pieces
SELECT id, agent_skill_id, nth, heading, content FROM mcp.agent_skill_pieces
WHERE agent_skill_id = ANY (:ids::bigint[])
ORDER BY agent_skill_id, nth

-- name: delete_agent_skill_pieces
DELETE FROM mcp.agent_skill_pieces WHERE id = ANY (:ids::bigint[])

-- name: move_agent_skill_pieces
UPDATE mcp.agent_skill_pieces p SET nth = r.nth
FROM json_to_recordset(:rows::json) AS r (id bigint, nth int)
WHERE p.id = r.id AND p.nth <> r.nth

-- name: insert_agent_skill_pieces
INSERT INTO mcp.agent_skill_pieces (agent_skill_id, nth, heading, content)
SELECT r.agent_skill_id, r.nth, r.heading, r.content
FROM json_to_recordset(:rows::json) AS r (agent_skill_id bigint, nth int, heading text, content text)
ORDER BY r.agent_skill_id, r.nth
RETURNING id, agent_skill_id, nth

-- name: get_agent_skill
SELECT s.id, s.org_id, s.path, s.name, s.description, s.frontmatter,
       (SELECT json_agg(json_build_array(f.path, octet_length(f.content), f.digest, f.mime_type) ORDER BY f.path)
        FROM mcp.agent_skill_files f WHERE f.agent_skill_id = s.id),
       s.is_active,
       (SELECT bool_and(v.has_vector) FROM mcp.agent_skill_pieces p
        CROSS JOIN LATERAL mcp.vector_state('mcp_agent_skills', p.id::text) v WHERE p.agent_skill_id = s.id),
       s.content_hash, s.created_at, s.updated_at
FROM mcp.agent_skills_seen_by(:org_id::text) s
WHERE s.id = :id::bigint

-- name: list_agent_skills
-- plan: custom
-- Cut by rows, then by bytes, and ordered as `list_items` is. A file takes 150 bytes of an answer, and its names.
SELECT s.id, s.org_id, s.path, s.name, s.description, s.frontmatter,
       (SELECT json_agg(json_build_array(f.path, octet_length(f.content), f.digest, f.mime_type) ORDER BY f.path)
        FROM mcp.agent_skill_files f WHERE f.agent_skill_id = s.id),
       s.is_active,
       (SELECT bool_and(v.has_vector) FROM mcp.agent_skill_pieces p
        CROSS JOIN LATERAL mcp.vector_state('mcp_agent_skills', p.id::text) v WHERE p.agent_skill_id = s.id),
       s.content_hash, s.created_at, s.updated_at
FROM (
    SELECT id, row_number() OVER in_order AS nth,
           sum(octet_length(description) + octet_length(frontmatter::text) + (
               SELECT sum(150 + octet_length(f.path) + octet_length(f.mime_type)) FROM mcp.agent_skill_files f
               WHERE f.agent_skill_id = page.id)) OVER in_order AS upto
    FROM (
        SELECT s.* FROM mcp.agent_skills_seen_by(:org_id::text) s
        WHERE (:path::text IS NULL OR s.path = :path::text)
          AND (:name::text IS NULL OR s.name = :name::text)
          AND (:is_active::boolean IS NULL OR s.is_active = :is_active::boolean)
          AND (:updated_since::timestamptz IS NULL OR s.updated_at >= :updated_since::timestamptz)
          AND CASE WHEN :after_id::bigint IS NULL THEN true
                   WHEN :sort::text = 'path' AND :is_descending::boolean THEN (s.path, s.id) < (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'path' THEN (s.path, s.id) > (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (s.updated_at, s.id) < (:after_time::timestamptz, :after_id::bigint)
                   WHEN :sort::text = 'updated_at' THEN (s.updated_at, s.id) > (:after_time::timestamptz, :after_id::bigint)
                   WHEN :is_descending::boolean THEN s.id < :after_id::bigint
                   ELSE s.id > :after_id::bigint END
        ORDER BY CASE WHEN :sort::text = 'path' AND NOT :is_descending::boolean THEN s.path END,
                 CASE WHEN :sort::text = 'path' AND :is_descending::boolean THEN s.path END DESC,
                 CASE WHEN :sort::text = 'updated_at' AND NOT :is_descending::boolean THEN s.updated_at END,
                 CASE WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN s.updated_at END DESC,
                 CASE WHEN NOT :is_descending::boolean THEN s.id END,
                 s.id DESC
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
    WINDOW in_order AS (ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.agent_skills s ON s.id = page.id
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY page.nth

-- name: count_agent_skills
-- plan: custom
SELECT count(*), count(*) FILTER (WHERE
    CASE WHEN :after_id::bigint IS NULL THEN true
         WHEN :sort::text = 'path' AND :is_descending::boolean THEN (s.path, s.id) < (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'path' THEN (s.path, s.id) > (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (s.updated_at, s.id) < (:after_time::timestamptz, :after_id::bigint)
         WHEN :sort::text = 'updated_at' THEN (s.updated_at, s.id) > (:after_time::timestamptz, :after_id::bigint)
         WHEN :is_descending::boolean THEN s.id < :after_id::bigint
         ELSE s.id > :after_id::bigint END)
FROM mcp.agent_skills_seen_by(:org_id::text) s
WHERE (:path::text IS NULL OR s.path = :path::text)
  AND (:name::text IS NULL OR s.name = :name::text)
  AND (:is_active::boolean IS NULL OR s.is_active = :is_active::boolean)
  AND (:updated_since::timestamptz IS NULL OR s.updated_at >= :updated_since::timestamptz)

-- name: agent_skill_file
-- By its path or by its digest, of which the first is null or the second.
SELECT f.path, octet_length(f.content), f.digest, f.mime_type, f.content
FROM mcp.agent_skills_seen_by(:org_id::text) s
JOIN mcp.agent_skill_files f ON f.agent_skill_id = s.id
WHERE s.id = :id::bigint AND (f.path = :path::text OR f.digest = :digest::text)
ORDER BY f.path
LIMIT 1

-- name: lock_agent_skill
SELECT id FROM mcp.agent_skills WHERE id = :id::bigint AND {{own org_id}}
FOR UPDATE

-- name: delete_agent_skill
DELETE FROM mcp.agent_skills WHERE id = :id::bigint AND {{own org_id}}
RETURNING id

-- name: switch_agent_skill
UPDATE mcp.agent_skills SET is_active = :is_active::boolean, updated_at = clock_timestamp()
WHERE id = :id::bigint AND {{own org_id}}
