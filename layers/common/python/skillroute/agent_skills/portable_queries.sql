-- Agent Skills as lines of an export, and as they come back.

-- name: exported_agent_skills
-- plan: custom
-- A page of exactly one organisation's own, cut by rows, then by bytes; files are base64, four bytes of three.
SELECT s.id, s.path, s.frontmatter, s.is_active,
       (SELECT json_agg(json_build_object(
            'path', f.path, 'base64', translate(encode(f.content, 'base64'), E'\n', ''), 'mime_type', f.mime_type)
            ORDER BY f.path)
        FROM mcp.agent_skill_files f WHERE f.agent_skill_id = s.id)
FROM (
    SELECT id, row_number() OVER by_id AS nth, sum(octet_length(frontmatter::text) + (
               SELECT sum(octet_length(f.content) * 4 / 3 + 200) FROM mcp.agent_skill_files f
               WHERE f.agent_skill_id = page.id)) OVER by_id AS upto
    FROM (
        SELECT s.* FROM mcp.agent_skills s
        WHERE {{own_by_index s.org_id}} AND s.id > :after::bigint
        ORDER BY s.id
        LIMIT :limit::int
    ) page
    WINDOW by_id AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.agent_skills s ON s.id = page.id
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY s.id

-- name: version_of_agent_skills
-- plan: custom
-- The transaction that wrote a row is another one after each write of it.
SELECT count(*) || '-' || coalesce(sum(hashtextextended(s.id || ':' || s.xmin, 0)::numeric), 0)
FROM mcp.agent_skills s WHERE {{own_by_index s.org_id}}

-- name: restore_agent_skill_switches
-- They are locked by then: those of the lines were written before, in the same transaction.
UPDATE mcp.agent_skills s SET is_active = r.is_active, updated_at = clock_timestamp()
FROM json_to_recordset(:rows::json) AS r (id bigint, is_active boolean)
WHERE s.id = r.id AND s.is_active <> r.is_active
RETURNING s.id
