-- States of what was learned.

-- name: insert_learned_state
INSERT INTO mcp.learned_states (org_id, model, was_better, report)
VALUES (:org_id::text, :model, :was_better::boolean, :report::jsonb)
RETURNING id

-- name: insert_learned_requests
-- Tools that were deleted, changed or forgotten since learning began are left out.
INSERT INTO mcp.learned_requests (state_id, tool_id, nth, vector, share, words, searches, callers)
SELECT :state_id::bigint, r.tool_id, r.nth, decode(r.vector, 'base64'), r.share, r.words, r.searches, r.callers
FROM jsonb_to_recordset(:requests::jsonb) AS r (
    tool_id bigint, nth smallint, vector text, share real, words text[], searches integer, callers integer)
WHERE EXISTS (SELECT FROM mcp.tools t WHERE t.id = r.tool_id AND t.is_active AND t.said_at <= :began_at::timestamptz)
  AND EXISTS (SELECT FROM mcp.outcomes o
              WHERE o.tool_id = r.tool_id AND o.org_id IS NOT DISTINCT FROM :org_id::text)

-- name: insert_learned_pairs
INSERT INTO mcp.learned_pairs (state_id, tool_id, with_id, searches)
SELECT :state_id::bigint, p.tool_id, p.with_id, p.searches
FROM jsonb_to_recordset(:pairs::jsonb) AS p (tool_id bigint, with_id bigint, searches integer)
WHERE EXISTS (SELECT FROM mcp.tools t WHERE t.id = p.tool_id AND t.is_active AND t.said_at <= :began_at::timestamptz)
  AND EXISTS (SELECT FROM mcp.tools t WHERE t.id = p.with_id AND t.is_active AND t.said_at <= :began_at::timestamptz)

-- name: lock_learned_states
-- One change of what is live at a time.
SELECT pg_advisory_xact_lock(hashtextextended('learned_states ' || coalesce(:org_id::text, ''), 0))

-- name: end_live_state
UPDATE mcp.learned_states SET is_live = false WHERE is_live AND org_id IS NOT DISTINCT FROM :org_id::text

-- name: make_state_live
UPDATE mcp.learned_states SET is_live = true
WHERE id = :state_id::bigint AND org_id IS NOT DISTINCT FROM :org_id::text
RETURNING id

-- name: hold_live_state
INSERT INTO mcp.learning_runs AS r (org_id, is_held) VALUES (:org_id::text, :is_held::boolean)
ON CONFLICT ON CONSTRAINT learning_runs_of_org DO UPDATE SET is_held = excluded.is_held

-- name: is_live_state_held
SELECT EXISTS (SELECT FROM mcp.learning_runs WHERE org_id IS NOT DISTINCT FROM :org_id::text AND is_held)

-- name: drop_old_states
DELETE FROM mcp.learned_states
WHERE org_id IS NOT DISTINCT FROM :org_id::text AND NOT is_live AND id NOT IN (
    SELECT id FROM mcp.learned_states WHERE org_id IS NOT DISTINCT FROM :org_id::text ORDER BY id DESC LIMIT :kept)

-- name: live_versions
-- An organisation's own first. Where a person chose that none is live, the global one does not count either.
SELECT org_id, id, revision FROM mcp.learned_states
WHERE is_live AND model = :model AND (org_id = :org_id::text OR org_id IS NULL AND (
    NOT EXISTS (SELECT FROM mcp.learning_runs r WHERE r.org_id = :org_id::text AND r.is_held)
    OR EXISTS (SELECT FROM mcp.learned_states own WHERE own.is_live AND own.org_id = :org_id::text)))
ORDER BY org_id

-- name: learned_vectors
-- Of an organisation's own state, and of the global one for tools that the first has nothing of.
SELECT r.tool_id, r.vector, r.share
FROM mcp.learned_requests r JOIN mcp.learned_states s ON s.id = r.state_id
WHERE r.state_id = ANY (:state_ids::bigint[]) AND (s.org_id IS NOT NULL OR NOT EXISTS (
    SELECT FROM mcp.learned_requests o JOIN mcp.learned_states p ON p.id = o.state_id
    WHERE o.state_id = ANY (:state_ids::bigint[]) AND p.org_id IS NOT NULL AND o.tool_id = r.tool_id))
ORDER BY r.tool_id, r.nth

-- name: learned_pairs
SELECT p.tool_id, p.with_id, max(p.searches) AS searches
FROM mcp.learned_pairs p
WHERE p.state_id = ANY (:state_ids::bigint[])
GROUP BY p.tool_id, p.with_id
ORDER BY p.tool_id, searches DESC, p.with_id

-- name: list_learned_states
SELECT s.id, s.org_id, s.made_at, s.model, s.is_live, s.was_better, s.report,
       count(r.tool_id) AS requests, count(DISTINCT r.tool_id) AS tools
FROM mcp.learned_states s LEFT JOIN mcp.learned_requests r ON r.state_id = s.id
WHERE s.org_id IS NOT DISTINCT FROM :org_id::text
GROUP BY s.id ORDER BY s.id DESC LIMIT :limit

-- name: learned_of_tools
-- What a state has of each tool, as people look at it.
SELECT t.id, t.server, t.name, r.words, r.share, r.searches, r.callers
FROM mcp.learned_requests r JOIN mcp.tools t ON t.id = r.tool_id
WHERE r.state_id = :state_id::bigint
ORDER BY t.server, t.name, t.id, r.nth LIMIT :limit OFFSET :offset

-- name: count_learned_of_state
-- No row where the organisation has no such state.
SELECT (SELECT count(*) FROM mcp.learned_requests r WHERE r.state_id = s.id)
FROM mcp.learned_states s
WHERE s.id = :state_id::bigint AND s.org_id IS NOT DISTINCT FROM :org_id::text

-- name: count_use
-- plan: custom
-- What is kept of an organisation. Compared so that the index by organisation serves, which IS NOT DISTINCT FROM does
-- not use.
SELECT (SELECT count(DISTINCT search_id) FROM mcp.receipts r
        WHERE CASE WHEN :org_id::text IS NULL THEN r.org_id IS NULL ELSE r.org_id = :org_id::text END),
       (SELECT count(*) FROM mcp.outcomes o
        WHERE CASE WHEN :org_id::text IS NULL THEN o.org_id IS NULL ELSE o.org_id = :org_id::text END),
       (SELECT count(DISTINCT caller) FROM mcp.receipts r
        WHERE CASE WHEN :org_id::text IS NULL THEN r.org_id IS NULL ELSE r.org_id = :org_id::text END)
