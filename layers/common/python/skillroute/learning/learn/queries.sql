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
JOIN mcp.tools t ON t.id = l.tool_id AND t.is_active AND (t.org_id IS NULL OR t.org_id = :org_id::text)
WHERE r.may_teach AND r.model = :model AND r.vector IS NOT NULL
  AND EXISTS (SELECT FROM jsonb_array_elements(r.shown) AS s (shown)
              WHERE (s.shown ->> 0)::bigint = l.tool_id AND s.shown ->> 1 = t.content_hash)
ORDER BY r.asked_at DESC, r.search_id, r.nth, l.tool_id, l.caller
LIMIT :limit

-- name: organisations_to_learn
-- Those with outcomes that are newer than what was learned last, where that is long enough ago.
SELECT o.org_id, count(*) AS outcomes
FROM mcp.outcomes o
WHERE o.may_teach AND o.reported_at > coalesce((
    SELECT max(s.made_at) FROM mcp.learned_states s WHERE s.org_id IS NOT DISTINCT FROM o.org_id), '-infinity')
GROUP BY o.org_id
HAVING NOT EXISTS (
    SELECT FROM mcp.learned_states s
    WHERE s.org_id IS NOT DISTINCT FROM o.org_id AND s.made_at > now() - make_interval(secs => :every_s))
ORDER BY outcomes DESC LIMIT :limit
