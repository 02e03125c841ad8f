-- Outcomes with what their searches showed.

-- name: evidence
-- The last outcome of each caller for a tool of a search, where the search showed the tool as it is now, to the same
-- organisation, and the tool is still searched. The newest searches.
WITH last AS (
    SELECT DISTINCT ON (o.search_id, o.tool_id, o.caller)
           o.search_id, o.tool_id, o.caller, o.outcome, o.source
    FROM mcp.outcomes o
    WHERE o.org_id IS NOT DISTINCT FROM :org_id::text AND o.may_teach AND o.tool_id IS NOT NULL
    ORDER BY o.search_id, o.tool_id, o.caller, o.id DESC
)
SELECT r.search_id::text, r.nth, r.asked_at, r.query, r.vector, r.caller AS asked_by, l.tool_id, l.caller, l.outcome, l.source
FROM last l
JOIN mcp.receipts r ON r.search_id = l.search_id AND r.org_id IS NOT DISTINCT FROM :org_id::text
JOIN mcp.items_seen_by(:org_id::text) t ON t.id = l.tool_id AND t.is_active
WHERE r.may_teach AND r.model = :model AND r.vector IS NOT NULL
  AND EXISTS (SELECT FROM jsonb_array_elements(r.shown) AS s (shown)
              WHERE (s.shown ->> 0)::bigint = l.tool_id AND s.shown ->> 1 = t.content_hash)
ORDER BY r.asked_at DESC, r.search_id, r.nth, l.tool_id, l.caller
LIMIT :limit

-- name: organisations_to_learn
-- Those with outcomes that are newer than their last run, where that is long enough ago and their work does not wait;
-- what was given up is tried again after as long. None where a person chose what is live. They take turns: first who never learned, then who has not for the
-- longest time. The recursion steps from organisation to organisation through the index, however many outcomes there are.
WITH RECURSIVE organisations AS (
    (SELECT org_id FROM mcp.outcomes WHERE org_id IS NOT NULL ORDER BY org_id LIMIT 1)
    UNION ALL
    SELECT following.org_id
    FROM organisations o
    CROSS JOIN LATERAL (
        SELECT org_id FROM mcp.outcomes WHERE org_id > o.org_id ORDER BY org_id LIMIT 1) following
), known AS (
    SELECT o.org_id, 'org/' || o.org_id AS key, r.began_at, r.is_held,
           EXISTS (SELECT FROM mcp.outcomes n
                   WHERE n.org_id = o.org_id AND n.reported_at > coalesce(r.began_at, '-infinity') AND n.may_teach) AS has_new
    FROM organisations o LEFT JOIN mcp.learning_runs r ON r.org_id = o.org_id
    UNION ALL
    SELECT NULL, 'global', r.began_at, r.is_held,
           EXISTS (SELECT FROM mcp.outcomes n
                   WHERE n.org_id IS NULL AND n.reported_at > coalesce(r.began_at, '-infinity') AND n.may_teach)
    FROM (VALUES (1)) AS one LEFT JOIN mcp.learning_runs r ON r.org_id IS NULL
)
SELECT k.org_id
FROM known k LEFT JOIN mcp.outbox b ON b.queue = 'learn' AND b.key = k.key
WHERE k.has_new AND k.is_held IS NOT TRUE
  AND coalesce(k.began_at, '-infinity') <= now() - make_interval(secs => :every_s::float8)
  AND coalesce(b.dead_at, CASE WHEN b.key IS NULL THEN '-infinity' ELSE 'infinity' END::timestamptz)
      <= now() - make_interval(secs => :every_s::float8)
ORDER BY k.began_at NULLS FIRST, k.key
LIMIT greatest(0, :most::int - (SELECT count(*) FROM mcp.outbox WHERE queue = 'learn' AND dead_at IS NULL))

-- name: learning_begins
SELECT now()

-- name: note_learning_run
INSERT INTO mcp.learning_runs AS r (org_id, began_at) VALUES (:org_id::text, :began_at::timestamptz)
ON CONFLICT ON CONSTRAINT learning_runs_of_org DO UPDATE SET began_at = greatest(r.began_at, excluded.began_at)
