-- What use left behind, as people look at it. Organisations are compared so that the index by organisation serves, which
-- IS NOT DISTINCT FROM does not use.

-- name: unserved_requests
-- plan: custom
-- The latest requests that nothing was found for, or that a caller reported nothing fits; equal ones as one, the most
-- frequent first. One whose tool was called after all is none of them.
WITH asked AS (
    (SELECT search_id, nth FROM mcp.receipts r
     WHERE CASE WHEN :org_id::text IS NULL THEN r.org_id IS NULL ELSE r.org_id = :org_id::text END AND no_match
       AND asked_at >= now() - make_interval(days => :days::integer)
     ORDER BY asked_at DESC
     LIMIT :max_receipts::integer)
    UNION
    (SELECT r.search_id, r.nth
     FROM (SELECT DISTINCT search_id FROM mcp.outcomes o
           WHERE CASE WHEN :org_id::text IS NULL THEN o.org_id IS NULL ELSE o.org_id = :org_id::text END AND outcome = 'nothing_fits'
             AND reported_at >= now() - make_interval(days => :days::integer)) AS o
     JOIN mcp.receipts r USING (search_id)
     WHERE r.org_id IS NOT DISTINCT FROM :org_id::text
       AND r.asked_at >= now() - make_interval(days => :days::integer)
     ORDER BY r.asked_at DESC
     LIMIT :max_receipts::integer)
), chosen AS MATERIALIZED (
    SELECT r.search_id, r.query_hash, r.model, r.query, r.vector, r.caller, r.asked_at, r.shown
    FROM asked JOIN mcp.receipts r USING (search_id, nth)
    WHERE NOT EXISTS (
        SELECT FROM mcp.outcomes o
        WHERE o.search_id = r.search_id AND o.org_id IS NOT DISTINCT FROM r.org_id
          AND o.outcome IN ('called', 'succeeded')
          AND EXISTS (SELECT FROM jsonb_array_elements(r.shown) e WHERE (e ->> 0)::bigint = o.tool_id))
    ORDER BY r.asked_at DESC
    LIMIT :max_receipts::integer
), merged AS (
    SELECT query_hash, model,
           (array_agg(query ORDER BY asked_at DESC) FILTER (WHERE query IS NOT NULL))[1] AS query,
           (array_agg(vector ORDER BY asked_at DESC))[1] AS vector,
           count(DISTINCT search_id) AS searches,
           array_remove(array_agg(DISTINCT caller), NULL) AS callers,
           max(asked_at) AS last_at
    FROM chosen
    GROUP BY query_hash, model
    ORDER BY searches DESC, last_at DESC, query_hash
    LIMIT :max_wordings::integer
), nearest AS (
    SELECT query_hash, model, jsonb_object_agg(tool_id, times) AS tools
    FROM (SELECT c.query_hash, c.model, e.value ->> 0 AS tool_id, count(*) AS times
          FROM chosen c, jsonb_array_elements(c.shown) WITH ORDINALITY AS e (value, place)
          WHERE e.place <= 5
          GROUP BY c.query_hash, c.model, e.value ->> 0) AS counted
    GROUP BY query_hash, model
)
SELECT m.query_hash, m.model, m.query, m.vector, m.searches, m.callers, m.last_at, coalesce(n.tools, '{}')
FROM merged m
LEFT JOIN nearest n ON n.query_hash = m.query_hash AND n.model IS NOT DISTINCT FROM m.model
ORDER BY m.searches DESC, m.last_at DESC, m.query_hash

-- name: titles_of_tools
SELECT id, server, name FROM mcp.items_seen_by(:org_id::text, :rights::jsonb)
WHERE id = ANY (:ids::bigint[])

-- name: judged_requests
-- plan: custom
-- Texts that outcomes say which tools are right for: the last of a caller for a tool of a search counts. A tool is
-- right that was called more often than it was reported wrong; nothing is where nothing of the search was. Of a text whose right tools are all gone nothing is left.
WITH last AS MATERIALIZED (
    SELECT DISTINCT ON (search_id, caller, tool_id) search_id, tool_id, outcome
    FROM (SELECT id, search_id, caller, tool_id, outcome FROM mcp.outcomes o
          WHERE CASE WHEN :org_id::text IS NULL THEN o.org_id IS NULL ELSE o.org_id = :org_id::text END AND may_teach
            AND reported_at >= now() - make_interval(days => :days::integer)
          ORDER BY reported_at DESC
          LIMIT :max_outcomes::integer) AS latest
    ORDER BY search_id, caller, tool_id, id DESC
), reported AS (
    SELECT r.query, r.search_id, r.asked_at, l.tool_id, l.outcome
    FROM last l
    JOIN mcp.receipts r ON r.search_id = l.search_id AND r.org_id IS NOT DISTINCT FROM :org_id::text
    WHERE length(r.query) <= 1000
      AND (l.tool_id IS NULL AND NOT EXISTS (
               SELECT FROM last other
               WHERE other.search_id = l.search_id AND other.outcome IN ('called', 'succeeded'))
           OR EXISTS (SELECT FROM jsonb_array_elements(r.shown) e WHERE (e ->> 0)::bigint = l.tool_id))
), voted AS (
    SELECT query, tool_id, count(*) FILTER (WHERE outcome IN ('called', 'succeeded')) AS times
    FROM reported
    WHERE tool_id IS NOT NULL
    GROUP BY query, tool_id
    HAVING count(*) FILTER (WHERE outcome IN ('called', 'succeeded')) > count(*) FILTER (WHERE outcome = 'wrong')
), served AS (
    SELECT v.query,
           array_agg(DISTINCT CASE WHEN t.server = '' THEN t.name ELSE t.server || '/' || t.name END) AS titles
    FROM voted v
    JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) t ON t.id = v.tool_id AND t.is_active
    GROUP BY v.query
), judged AS MATERIALIZED (
    SELECT r.query, coalesce(s.titles, '{}') AS titles, count(DISTINCT r.search_id) AS searches,
           max(r.asked_at) AS last_at
    FROM reported r
    LEFT JOIN served s USING (query)
    WHERE s.query IS NOT NULL
       OR r.tool_id IS NULL AND NOT EXISTS (SELECT FROM voted v WHERE v.query = r.query)
    GROUP BY r.query, s.titles
)
SELECT (SELECT count(*) FROM judged), page.query, page.titles, page.searches, page.last_at
FROM (SELECT) AS whole
LEFT JOIN (SELECT query, titles, searches, last_at FROM judged
           ORDER BY searches DESC, query COLLATE "C"
           LIMIT :limit::integer OFFSET :offset::integer) AS page ON true

-- name: count_receipts
-- plan: custom
SELECT count(*), count(*) FILTER (
    WHERE :after_time::timestamptz IS NULL
       OR (asked_at, search_id, nth) > (:after_time::timestamptz, :after_search::uuid, :after_nth::smallint))
FROM mcp.receipts r
WHERE CASE WHEN :org_id::text IS NULL THEN r.org_id IS NULL ELSE r.org_id = :org_id::text END
  AND (:caller::text IS NULL OR caller = :caller::text)

-- name: list_receipts
-- plan: custom
SELECT r.search_id, r.nth, r.caller, r.may_teach, r.door, r.asked_at, r.query, r.query_hash, r.model, r.shown,
       r.no_match, coalesce((
           SELECT jsonb_agg(jsonb_build_array(o.tool_id, o.outcome, o.caller, o.may_teach, o.source, o.reported_at)
                            ORDER BY o.id)
           FROM mcp.outcomes o
           WHERE o.search_id = r.search_id AND o.org_id IS NOT DISTINCT FROM r.org_id), '[]')
FROM mcp.receipts r
WHERE CASE WHEN :org_id::text IS NULL THEN r.org_id IS NULL ELSE r.org_id = :org_id::text END
  AND (:caller::text IS NULL OR r.caller = :caller::text)
  AND (:after_time::timestamptz IS NULL
       OR (r.asked_at, r.search_id, r.nth) > (:after_time::timestamptz, :after_search::uuid, :after_nth::smallint))
ORDER BY r.asked_at, r.search_id, r.nth
LIMIT :limit::integer

-- name: delete_receipts_of_caller
-- Some of them: a statement that deletes all would hold its locks for as long as it takes.
WITH gone AS (
    DELETE FROM mcp.receipts
    WHERE (search_id, nth) IN (
        SELECT search_id, nth FROM mcp.receipts
        WHERE caller = :caller::text AND org_id IS NOT DISTINCT FROM :org_id::text
        LIMIT :max_rows::integer)
    RETURNING 1
)
SELECT count(*) FROM gone

-- name: delete_outcomes_of_caller
WITH gone AS (
    DELETE FROM mcp.outcomes
    WHERE id IN (
        SELECT id FROM mcp.outcomes
        WHERE caller = :caller::text AND org_id IS NOT DISTINCT FROM :org_id::text
        LIMIT :max_rows::integer)
    RETURNING 1
)
SELECT count(*) FROM gone

-- name: delete_learned_of_one_caller
-- Learned requests of one caller alone, in all states of the organisation, and the pairs of these states: where a
-- request needed one caller only, so did a pair. State by state, some of them.
WITH chosen AS (
    SELECT r.state_id, r.tool_id, r.nth
    FROM mcp.learned_requests r JOIN mcp.learned_states s ON s.id = r.state_id
    WHERE r.callers = 1 AND s.org_id IS NOT DISTINCT FROM :org_id::text
    ORDER BY r.state_id, r.tool_id, r.nth
    LIMIT :max_rows::integer
), gone AS (
    DELETE FROM mcp.learned_requests
    WHERE (state_id, tool_id, nth) IN (SELECT state_id, tool_id, nth FROM chosen)
    RETURNING state_id
), parted AS (
    DELETE FROM mcp.learned_pairs WHERE state_id IN (SELECT state_id FROM chosen)
), revised AS (
    UPDATE mcp.learned_states SET revision = revision + 1 WHERE id IN (SELECT state_id FROM gone)
)
SELECT count(*) FROM gone

-- name: delete_outcomes_of_tool
WITH gone AS (
    DELETE FROM mcp.outcomes
    WHERE id IN (
        SELECT id FROM mcp.outcomes
        WHERE tool_id = :tool_id::bigint AND org_id IS NOT DISTINCT FROM :org_id::text
        LIMIT :max_rows::integer)
    RETURNING 1
)
SELECT count(*) FROM gone

-- name: forget_tool
-- In all states of the organisation, live or not, so that none brings it back.
WITH own AS (
    SELECT id FROM mcp.learned_states WHERE org_id IS NOT DISTINCT FROM :org_id::text
), gone AS (
    DELETE FROM mcp.learned_requests
    WHERE tool_id = :tool_id::bigint AND state_id IN (SELECT id FROM own)
    RETURNING state_id
), parted AS (
    DELETE FROM mcp.learned_pairs
    WHERE (tool_id = :tool_id::bigint OR with_id = :tool_id::bigint) AND state_id IN (SELECT id FROM own)
    RETURNING state_id
), revised AS (
    UPDATE mcp.learned_states SET revision = revision + 1
    WHERE id IN (SELECT state_id FROM gone UNION SELECT state_id FROM parted)
    RETURNING id
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM parted), (SELECT count(*) FROM revised)
