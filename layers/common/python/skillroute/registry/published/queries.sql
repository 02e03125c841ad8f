-- The registry as the API of MCP registries shows it.

-- name: version_of_published_servers
-- Changes with every write of what a caller sees: each has another time.
SELECT count(*) || '-' || coalesce(sum(hashtextextended(e.id || ':' || e.updated_at, 0)::numeric), 0)
FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
WHERE e.kind = 'server'

-- name: published_servers
-- All that a caller sees, without what is large: names decide which are versions of one server, and what a page has.
-- A document is json, which each operator would read as a whole.
SELECT e.id, e.org_id IS NOT NULL, e.path, e.name, coalesce(d.name, s.name), coalesce(d.version, s.version),
       e.is_enabled, e.updated_at
FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
CROSS JOIN LATERAL json_to_record(e.document) AS d (name text, version text, server json)
LEFT JOIN LATERAL json_to_record(CASE json_typeof(d.server) WHEN 'object' THEN d.server END) AS s (name text, version text)
    ON true
WHERE e.kind = 'server'

-- name: published_documents
SELECT e.id, e.name, e.description, e.document, e.created_at
FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
WHERE e.kind = 'server' AND e.id = ANY (:ids::bigint[])
