-- Agent Skills as agents are served them: active ones, each path once. An organisation's own hides the global one of the
-- same path. Of two skills that have a file at the same place, the inner one's is served: it must agree with its entry.

-- name: any_agent_skill
SELECT EXISTS (SELECT 1 FROM mcp.agent_skills_seen_by(:org_id::text) s WHERE s.is_active)

-- name: served_agent_skills
-- plan: custom
-- The files of a skill are its own and those of the skills within it.
WITH served AS MATERIALIZED (
    SELECT DISTINCT ON (s.path) s.id, s.path FROM mcp.agent_skills_seen_by(:org_id::text) s
    WHERE s.is_active
    ORDER BY s.path, s.org_id NULLS LAST
), page AS MATERIALIZED (
    SELECT id, path FROM served
    WHERE (:path::text IS NULL OR path = :path::text) AND (:after::text IS NULL OR path > :after::text)
    ORDER BY path
    LIMIT :limit::int
), inner_skills AS MATERIALIZED (
    SELECT page.id AS outer_id, served.id, served.path
    FROM served
    CROSS JOIN LATERAL (SELECT string_to_array(served.path, '/') AS all_of) segments
    CROSS JOIN LATERAL generate_series(0, cardinality(segments.all_of) - 1) AS k (inner_segments)
    JOIN page ON page.path = array_to_string(trim_array(segments.all_of, k.inner_segments), '/')
)
SELECT s.path, s.frontmatter,
       (SELECT json_agg(json_build_array(m.path, m.size, m.digest, m.mime_type) ORDER BY m.path)
        FROM (SELECT DISTINCT ON (i.path || '/' || f.path)
                     i.path || '/' || f.path AS path, octet_length(f.content) AS size, f.digest, f.mime_type
              FROM inner_skills i JOIN mcp.agent_skill_files f ON f.agent_skill_id = i.id
              WHERE i.outer_id = s.id
              ORDER BY i.path || '/' || f.path, length(i.path) DESC) m)
FROM page JOIN mcp.agent_skills s ON s.id = page.id
ORDER BY page.path

-- name: served_agent_skill_file
-- The pairs are the ways to cut a place into the path of a skill and that of a file within it.
WITH served AS (
    SELECT DISTINCT ON (s.path) s.id, s.path, k.file
    FROM unnest(:paths::text[], :files::text[]) AS k (path, file)
    JOIN mcp.agent_skills_seen_by(:org_id::text) s ON s.path = k.path
    WHERE s.is_active
    ORDER BY s.path, s.org_id NULLS LAST
)
SELECT f.mime_type, f.content
FROM served s JOIN mcp.agent_skill_files f ON f.agent_skill_id = s.id AND f.path = s.file
ORDER BY length(s.path) DESC
LIMIT 1

-- name: served_agent_skill_directory
-- `paths` are the directory and all above it, one of which must be a skill: what is above all skills is no directory.
WITH served AS MATERIALIZED (
    SELECT DISTINCT ON (s.path) s.id, s.path, s.description FROM mcp.agent_skills_seen_by(:org_id::text) s
    WHERE s.is_active
    ORDER BY s.path, s.org_id NULLS LAST
), files AS (
    SELECT substr(s.path || '/' || f.path, length(:directory::text) + 2) AS place, length(s.path) AS depth,
           f.mime_type, octet_length(f.content) AS size,
           CASE WHEN s.path = :directory::text AND f.path = 'SKILL.md' THEN s.description END AS description
    FROM served s JOIN mcp.agent_skill_files f ON f.agent_skill_id = s.id
    WHERE (s.path = ANY (:paths::text[]) OR starts_with(s.path, :directory::text || '/'))
      AND starts_with(s.path || '/' || f.path, :directory::text || '/')
      AND EXISTS (SELECT 1 FROM served WHERE path = ANY (:paths::text[]))
)
SELECT split_part(place, '/', 1), bool_or(position('/' IN place) > 0),
       (array_agg(mime_type ORDER BY depth DESC))[1], (array_agg(size ORDER BY depth DESC))[1], max(description)
FROM files
GROUP BY 1
ORDER BY 1
LIMIT :limit::int OFFSET :offset::bigint
