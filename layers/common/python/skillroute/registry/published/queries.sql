-- The registry as the API of MCP registries shows it.

-- name: published_servers
-- All that a caller sees, without what is large: names decide which are versions of one server, and what a page has.
SELECT e.id, e.org_id IS NOT NULL, e.path, e.name, coalesce(e.document ->> 'name', e.document -> 'server' ->> 'name'),
       coalesce(e.document ->> 'version', e.document -> 'server' ->> 'version'), e.is_enabled, e.updated_at
FROM mcp.entities_seen_by(:org_id::text) e
WHERE e.kind = 'server'

-- name: published_documents
SELECT e.id, e.name, e.description, e.document, e.created_at
FROM mcp.entities_seen_by(:org_id::text) e
WHERE e.kind = 'server' AND e.id = ANY (:ids::bigint[])
