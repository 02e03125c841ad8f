-- Items as lines of an export, and as they come back.
--
-- Owners are compared by CASE, of which a plan for the values of a run keeps one branch: `IS NOT DISTINCT FROM` finds no
-- index, and would walk through the rows of all others.

-- name: exported_items
-- plan: custom
-- A page of exactly one organisation's own, cut by rows, then by bytes, as `list_items` is.
SELECT t.id, t.server, t.type, t.name, t.description, t.input_schema, t.output_schema, t.annotations, t.tags, t.metadata,
       t.requests, t.is_switched_off, t.created_at
FROM (
    SELECT id, row_number() OVER by_id AS nth, sum(
        octet_length(description) + octet_length(metadata::text) + coalesce(octet_length(input_schema::text), 0)
        + coalesce(octet_length(output_schema::text), 0) + coalesce(octet_length(annotations::text), 0)
        + coalesce(octet_length(requests::text), 0)) OVER by_id AS upto
    FROM (
        SELECT t.* FROM mcp.tools t
        WHERE {{own_by_index t.org_id}} AND t.id > :after::bigint
        ORDER BY t.id
        LIMIT :limit::int
    ) page
    WINDOW by_id AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.tools t ON t.id = page.id
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY t.id

-- name: version_of_items
-- plan: custom
-- The transaction that wrote a row is another one after each write of it.
SELECT count(*) || '-' || coalesce(sum(hashtextextended(t.id || ':' || t.xmin, 0)::numeric), 0)
FROM mcp.tools t WHERE {{own_by_index t.org_id}}

-- name: restore_switches
-- plan: custom
-- Locked by id before they are written. What is switched on is active where its server is.
WITH locked AS MATERIALIZED (
    SELECT t.id, r.is_switched_off
    FROM json_to_recordset(:rows::json) AS r (server text, type text, name text, is_switched_off boolean)
    JOIN mcp.tools t ON {{own_by_index t.org_id}}
        AND (t.server, t.type, t.name) = (r.server, r.type, r.name)
    WHERE t.is_switched_off <> r.is_switched_off
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE mcp.tools t
SET is_switched_off = l.is_switched_off, updated_at = clock_timestamp(),
    is_active = NOT l.is_switched_off AND NOT t.is_quarantined AND t.server <> ALL (:disabled_servers::text[])
FROM locked l
WHERE t.id = l.id
RETURNING t.server, t.type, t.name

-- name: reserve_items
-- The rows of items that are not there yet, in the order of the call: equal results of a search are ordered by their ids,
-- so a copy must have them in the same order. `upsert_items` fills them in the same transaction.
INSERT INTO mcp.tools (org_id, server, type, name, content_hash, created_at)
SELECT :org_id::text, r.server, r.type, r.name, '', coalesce(r.created_at, now())
FROM json_to_recordset(:rows::json) AS r (place int, server text, type text, name text, created_at timestamptz)
ORDER BY r.place
ON CONFLICT ON CONSTRAINT tools_key DO NOTHING
RETURNING server, type, name
