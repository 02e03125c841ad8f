-- Definitions as they were approved.

-- name: settle_definitions
SELECT * FROM mcp.settle_definitions(:ids::bigint[], :how, :who)

-- name: count_changed
SELECT count(*), count(*) FILTER (WHERE :after_id::bigint IS NULL OR t.id > :after_id::bigint)
FROM mcp.approvals a
JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) t ON t.id = a.tool_id
WHERE {{own a.org_id}} AND a.changed_at IS NOT NULL AND NOT t.is_switched_off
  AND (:updated_since::timestamptz IS NULL OR a.changed_at >= :updated_since::timestamptz)
  AND (:is_quarantined::boolean IS NULL OR t.is_quarantined = :is_quarantined::boolean)

-- name: changed_items
-- An organisation's own. Cut by rows, then by bytes, and the first is shown whatever it takes.
SELECT id, org_id, server, type, name, is_active, is_quarantined, approved_by, approved_at, changed_at, before::text, after::text
FROM (
    SELECT page.*, row_number() OVER in_order AS nth,
           sum(octet_length(before::text) + octet_length(after::text)) OVER in_order AS upto
    FROM (
        SELECT t.id, t.org_id, t.server, t.type, t.name, t.is_active, t.is_quarantined, a.approved_by, a.approved_at,
               a.changed_at, a.definition AS before, mcp.definition_of(i) AS after
        FROM mcp.approvals a
        JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) t ON t.id = a.tool_id
        JOIN mcp.tools i ON i.id = t.id
        WHERE {{own a.org_id}} AND a.changed_at IS NOT NULL AND NOT t.is_switched_off
          AND (:updated_since::timestamptz IS NULL OR a.changed_at >= :updated_since::timestamptz)
          AND (:is_quarantined::boolean IS NULL OR t.is_quarantined = :is_quarantined::boolean)
          AND (:after_id::bigint IS NULL OR t.id > :after_id::bigint)
        ORDER BY t.id
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
    WINDOW in_order AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
) page
WHERE nth = 1 OR upto <= :max_bytes::bigint
ORDER BY id

-- name: lock_definitions
-- By id, as everybody does, and all that are decided on at once: two callers wait for each other in one order.
SELECT t.id FROM mcp.tools t WHERE t.id = ANY (:ids::bigint[]) ORDER BY t.id FOR NO KEY UPDATE

-- name: definitions_changed_at
SELECT tool_id, changed_at FROM mcp.approvals WHERE tool_id = ANY (:ids::bigint[]) AND changed_at IS NOT NULL

-- name: reject_definitions
-- Locked by id before they are written. What is as it was approved is no concern of this.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM mcp.tools t JOIN mcp.approvals a ON a.tool_id = t.id AND a.changed_at IS NOT NULL
    WHERE t.id = ANY (:ids::bigint[]) AND {{own t.org_id}}
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE mcp.tools t
SET is_switched_off = true, is_quarantined = true, is_active = false, updated_at = clock_timestamp()
FROM locked WHERE t.id = locked.id
RETURNING t.id
