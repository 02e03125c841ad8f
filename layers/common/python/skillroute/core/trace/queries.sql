-- name: add_trace
-- May run twice, where the answer to the first was lost.
INSERT INTO mcp.trace (id, at, kind, outcome, code, org_id, actor, agent, roles, door, what, targets, took_ms, bytes_in,
                       bytes_out, search_id, request_id, trace_id, arguments)
SELECT r.id, r.at, r.kind, r.outcome, r.code, r.org_id, r.actor, r.agent,
       ARRAY(SELECT json_array_elements_text(r.roles)), r.door, r.what, r.targets, r.took_ms, r.bytes_in,
       r.bytes_out, r.search_id, r.request_id, r.trace_id, r.arguments
FROM json_to_recordset(:rows::json) AS r (
    id uuid, at timestamptz, kind text, outcome text, code text, org_id text, actor text, agent text, roles json,
    door text, what text, targets jsonb, took_ms real, bytes_in bigint, bytes_out bigint, search_id uuid,
    request_id text, trace_id text, arguments text
)
ON CONFLICT DO NOTHING

-- name: prune_trace
SELECT mcp.prune_trace(:days::int, :limit::int)

-- name: latest_trace
-- plan: custom
SELECT t.id, t.at, t.kind, t.outcome, t.code, t.actor, t.agent, t.roles, t.door, t.what, t.targets, t.took_ms,
       t.bytes_in, t.bytes_out, t.search_id, t.request_id, t.trace_id, t.arguments
FROM mcp.trace t
WHERE {{own_by_index t.org_id}}
  AND (:kind::text IS NULL OR t.kind = :kind::text)
  AND (:outcome::text IS NULL OR t.outcome = :outcome::text)
  AND (:actor::text IS NULL OR t.actor = :actor::text)
  AND (:since::timestamptz IS NULL OR t.at >= :since::timestamptz)
  AND (:until::timestamptz IS NULL OR t.at < :until::timestamptz)
ORDER BY t.at DESC, t.id DESC
LIMIT :limit::int

-- name: trace_after
-- plan: custom
SELECT t.id, t.at, t.kind, t.outcome, t.code, t.actor, t.agent, t.roles, t.door, t.what, t.targets, t.took_ms,
       t.bytes_in, t.bytes_out, t.search_id, t.request_id, t.trace_id, t.arguments
FROM mcp.trace t
WHERE {{own_by_index t.org_id}}
  AND (t.at, t.id) > (:after_at::timestamptz, :after_id::uuid)
  AND (:kind::text IS NULL OR t.kind = :kind::text)
  AND (:outcome::text IS NULL OR t.outcome = :outcome::text)
  AND (:actor::text IS NULL OR t.actor = :actor::text)
  AND (:since::timestamptz IS NULL OR t.at >= :since::timestamptz)
  AND (:until::timestamptz IS NULL OR t.at < :until::timestamptz)
ORDER BY t.at, t.id
LIMIT :limit::int
