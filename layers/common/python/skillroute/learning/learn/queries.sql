-- Outcomes with what their searches showed.

-- name: evidence
-- What became of tools that searches of an organisation showed, where they still say the same: the last outcome of a tool
-- and search, a person's before a program's, for the text that the tool suited best. A caller is who asked, who alone
-- knows the search; so many of each count before the newest are taken, or one could push out what the others did.
WITH last AS (
    SELECT DISTINCT ON (o.search_id, o.tool_id) o.search_id, o.tool_id, o.outcome
    FROM mcp.outcomes o
    WHERE o.org_id IS NOT DISTINCT FROM :org_id::text AND o.may_teach AND o.tool_id IS NOT NULL
    ORDER BY o.search_id, o.tool_id, o.source = 'person' DESC, o.id DESC
), shown AS (
    SELECT DISTINCT ON (l.search_id, l.tool_id)
           l.search_id, l.tool_id, l.outcome, r.nth, r.caller, r.asked_at
    FROM last l
    JOIN mcp.receipts r ON r.search_id = l.search_id AND r.org_id IS NOT DISTINCT FROM :org_id::text
    JOIN mcp.items_seen_by(:org_id::text) t ON t.id = l.tool_id AND t.is_active AND t.said_at <= r.asked_at
    CROSS JOIN LATERAL jsonb_array_elements(r.shown) WITH ORDINALITY AS s (tool, place)
    WHERE r.may_teach AND r.model = :model AND r.vector IS NOT NULL AND (s.tool ->> 0)::bigint = l.tool_id
    ORDER BY l.search_id, l.tool_id, s.place, r.nth
), numbered AS (
    SELECT s.*, row_number() OVER (PARTITION BY s.caller, s.asked_at::date, s.tool_id
                                   ORDER BY s.asked_at DESC, s.search_id) AS of_tool,
           row_number() OVER (PARTITION BY s.caller, s.asked_at::date ORDER BY s.asked_at DESC, s.search_id) AS of_day
    FROM shown s
), counting AS (
    SELECT * FROM numbered WHERE of_tool <= :of_tool AND of_day <= :of_day
    ORDER BY asked_at DESC, search_id, tool_id LIMIT :limit
)
SELECT c.search_id::text, c.asked_at, r.query, r.vector, c.caller, c.tool_id, c.outcome
FROM counting c JOIN mcp.receipts r ON r.search_id = c.search_id AND r.nth = c.nth
ORDER BY c.asked_at, c.search_id, c.tool_id

-- name: callers_who_ask
-- How many callers of an organisation search, two at most: all without a name are one.
SELECT count(*) FROM (
    SELECT DISTINCT coalesce(caller, '') FROM mcp.receipts
    WHERE org_id IS NOT DISTINCT FROM :org_id::text AND may_teach LIMIT 2) AS found

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
