-- name: server_of_item
-- The registered server that items of an organisation mean by a name: one of the same organisation alone, so that nobody
-- has a server of others called with what only these may send it.
SELECT e.id, e.org_id, e.name, e.document, e.is_enabled
FROM mcp.named_servers n
JOIN mcp.entities_seen_by(:org_id::text) e ON e.id = n.entity_id
WHERE n.server = :server::text AND n.org_id IS NOT DISTINCT FROM e.org_id
  AND e.org_id IS NOT DISTINCT FROM :item_org_id::text

-- name: begin_call
SELECT mcp.begin_call(:id::uuid, :org_id::text, :key::text, :most::int, :seconds::float8)

-- name: end_call
SELECT mcp.end_call(:id::uuid)

-- name: is_call_cancelled
SELECT is_cancelled FROM mcp.calls_in_flight WHERE id = :id::uuid

-- name: cancel_calls
SELECT mcp.cancel_calls(:key::text)
