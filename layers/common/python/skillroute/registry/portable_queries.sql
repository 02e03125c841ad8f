-- Servers and agents as lines of an export.
--
-- Owners are compared by CASE, of which a plan for the values of a run keeps one branch: `IS NOT DISTINCT FROM` finds no
-- index, and would walk through the rows of all others.

-- name: exported_entities
-- plan: custom
-- By path, as they are listed: those of one call are made in this order. Paths are texts, so they are counted off.
SELECT page.nth, e.path, e.is_enabled, e.document
FROM (
    SELECT id, nth, row_number() OVER by_nth AS place, sum(octet_length(document::text)) OVER by_nth AS upto
    FROM (
        SELECT * FROM (
            SELECT e.id, e.document, row_number() OVER (ORDER BY e.path COLLATE "C") AS nth FROM mcp.registry_entities e
            WHERE {{own_by_index e.org_id}} AND e.kind = :kind
        ) numbered
        WHERE nth > :after::bigint
        ORDER BY nth
        LIMIT :limit::int
    ) page
    WINDOW by_nth AS (ORDER BY nth ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.registry_entities e ON e.id = page.id
WHERE page.place = 1 OR page.upto <= :max_bytes::bigint
ORDER BY page.nth

-- name: version_of_entities
-- plan: custom
-- The transaction that wrote a row is another one after each write of it.
SELECT count(*) || '-' || coalesce(sum(hashtextextended(e.id || ':' || e.xmin, 0)::numeric), 0)
FROM mcp.registry_entities e
WHERE {{own_by_index e.org_id}} AND e.kind = :kind
