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

-- name: servers_due
-- Enabled servers that were not asked in these hours, each organisation's in turn, the longest unasked first.
SELECT e.id, e.org_id, e.name, e.document, coalesce(named.server, substr(e.path, 2)), coalesce(i.kind, 'none'),
       s.outcome, coalesce(s.gone, '{}')
FROM mcp.registry_entities e
LEFT JOIN mcp.server_sightings s ON s.server_id = e.id
LEFT JOIN mcp.server_identities i ON i.server_id = e.id
LEFT JOIN LATERAL (
    SELECT n.server FROM mcp.named_servers n
    WHERE n.entity_id = e.id AND EXISTS (
        SELECT FROM mcp.tools t WHERE t.server = n.server AND t.org_id IS NOT DISTINCT FROM n.org_id)
    ORDER BY n.server = substr(e.path, 2) DESC, n.server COLLATE "C" LIMIT 1) named ON true
WHERE e.kind = 'server' AND e.is_enabled
  AND (s.seen_at IS NULL OR s.seen_at < clock_timestamp() - make_interval(secs => 3600 * :hours::float8))
ORDER BY row_number() OVER (PARTITION BY e.org_id ORDER BY s.seen_at NULLS FIRST, e.id), e.org_id NULLS FIRST
LIMIT :limit::int

-- name: listed_before
-- An organisation's own tools of a server that it may list; operations of an interface are listed nowhere.
SELECT id, name, is_switched_off, tags, metadata FROM mcp.tools
WHERE server = :server AND type = 'tool' AND {{own org_id}} AND metadata -> 'http' IS NULL
ORDER BY id

-- name: note_sighting
INSERT INTO mcp.server_sightings AS s (server_id, seen_at, outcome, tools, error, gone)
SELECT e.id, clock_timestamp(), :outcome, :tools::int, :error, :gone::bigint[]
FROM mcp.registry_entities e WHERE e.id = :server_id::bigint
ON CONFLICT (server_id) DO UPDATE SET
    seen_at = excluded.seen_at, outcome = excluded.outcome, tools = excluded.tools, error = excluded.error,
    gone = excluded.gone
