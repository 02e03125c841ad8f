-- name: add_receipts
-- May run twice, where the answer to the first was lost.
INSERT INTO mcp.receipts (search_id, nth, org_id, caller, may_teach, door, asked_at, query, query_hash, model, vector,
                          shown, no_match)
SELECT r.search_id, r.nth, r.org_id, r.caller, r.may_teach, r.door, r.asked_at, r.query, r.query_hash, r.model,
       decode(r.vector, 'base64'), r.shown, r.no_match
FROM json_to_recordset(:rows::json) AS r (
    search_id uuid, nth smallint, org_id text, caller text, may_teach boolean, door text, asked_at timestamptz,
    query text, query_hash text, model text, vector text, shown jsonb, no_match boolean
)
ON CONFLICT DO NOTHING

-- name: prune_receipts
WITH gone AS (
    DELETE FROM mcp.receipts WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM mcp.receipts r
        WHERE r.asked_at < now() - make_interval(days => :days::int)
        ORDER BY r.asked_at
        LIMIT :limit::int
    ))
    RETURNING 1
)
SELECT count(*) FROM gone

-- name: prune_outcomes
WITH gone AS (
    DELETE FROM mcp.outcomes WHERE ctid = ANY (ARRAY(
        SELECT o.ctid FROM mcp.outcomes o
        WHERE o.reported_at < now() - make_interval(days => :days::int)
        ORDER BY o.reported_at
        LIMIT :limit::int
    ))
    RETURNING 1
)
SELECT count(*) FROM gone
