-- Tools, prompts and resources.

-- name: item_states
-- Two branches, because "is not distinct from" finds no use for the index tools_key: with one, 100 keys among 10,000
-- items took 85 ms; with two, 0.3 ms.
SELECT k.server, k.type, k.name, t.id, t.content_hash, coalesce(d.text_hash, ''),
       v.has_vector, v.is_refused, t.is_active, t.is_switched_off, t.requests
FROM json_to_recordset(:keys::json) AS k (server text, type text, name text)
CROSS JOIN LATERAL (
    SELECT id, content_hash, is_active, is_switched_off, requests FROM mcp.tools
    WHERE org_id IS NULL AND :org_id::text IS NULL
      AND server = k.server AND type = k.type AND name = k.name
    UNION ALL
    SELECT id, content_hash, is_active, is_switched_off, requests FROM mcp.tools
    WHERE org_id = :org_id::text AND server = k.server AND type = k.type AND name = k.name
) t
LEFT JOIN mcp.documents d ON d.collection = 'mcp_unified_search' AND d.key = t.id::text
CROSS JOIN LATERAL mcp.vector_state('mcp_unified_search', t.id::text) v

-- name: server_texts
SELECT server, said FROM mcp.server_texts(:org_id::text, :names::text[])

-- name: drop_packaged_requests
WITH locked AS MATERIALIZED (
    SELECT t.id FROM mcp.tools t
    JOIN json_to_recordset(:keys::json) AS k (server text, type text, name text) USING (server, type, name)
    WHERE {{own t.org_id}} AND t.requests -> 0 ->> 'source' = 'packaged'
    ORDER BY t.server, t.type, t.name
    FOR NO KEY UPDATE OF t
)
UPDATE mcp.tools t SET requests = NULL FROM locked WHERE t.id = locked.id

-- name: upsert_items
-- Rows are locked in key order, so that two batches with the same items wait instead of deadlocking. Those that are the
-- same already are returned as well: what they say may be cut into other words, or has a vector now. Requests that are null
-- are those that are stored; all are returned with those that they have. One that another transaction deletes while this
-- waits for it is written anew, and still seen as it was: by its key it is one of those that were written.
WITH r AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:rows::json) AS r (
        server text, type text, name text, name_key text, description text, input_schema json, output_schema json,
        annotations json, tags text[], metadata json, content_hash text, requests jsonb)
), written AS (
    INSERT INTO mcp.tools AS t (
        org_id, server, type, name, name_key, description, input_schema, output_schema, annotations, tags, metadata,
        content_hash, requests)
    SELECT :org_id::text, r.server, r.type, r.name, r.name_key, r.description, r.input_schema, r.output_schema,
           r.annotations, r.tags, r.metadata, r.content_hash, r.requests
    FROM r
    ORDER BY r.server, r.type, r.name
    ON CONFLICT ON CONSTRAINT tools_key DO UPDATE SET
        name_key = excluded.name_key,
        description = excluded.description,
        input_schema = excluded.input_schema,
        output_schema = excluded.output_schema,
        annotations = excluded.annotations,
        tags = excluded.tags,
        metadata = excluded.metadata,
        content_hash = excluded.content_hash,
        -- Packaged requests never replace those that somebody wrote, be it since the item was read.
        requests = CASE WHEN excluded.requests -> 0 ->> 'source' = 'packaged'
                             AND t.requests -> 0 ->> 'source' IS DISTINCT FROM 'packaged'
                        THEN coalesce(t.requests, excluded.requests) ELSE coalesce(excluded.requests, t.requests) END,
        updated_at = clock_timestamp()
    WHERE t.content_hash <> excluded.content_hash OR (excluded.requests IS NOT NULL AND excluded.requests IS DISTINCT FROM t.requests)
    RETURNING t.id, t.server, t.type, t.name, (t.xmax = 0) AS created, t.requests
)
SELECT id, server, type, name, created, true, requests FROM written
UNION ALL
SELECT t.id, t.server, t.type, t.name, false, false, t.requests
FROM r
JOIN LATERAL (
    SELECT id, server, type, name, requests FROM mcp.tools
    WHERE org_id IS NULL AND :org_id::text IS NULL AND server = r.server AND type = r.type AND name = r.name
    UNION ALL
    SELECT id, server, type, name, requests FROM mcp.tools
    WHERE org_id = :org_id::text AND server = r.server AND type = r.type AND name = r.name
) t ON (r.server, r.type, r.name) NOT IN (SELECT server, type, name FROM written)

-- name: items_without_document
-- Both are written in one transaction, and seen in one snapshot.
SELECT t.id::text FROM mcp.tools t
WHERE NOT EXISTS (SELECT FROM mcp.documents d WHERE d.collection = 'mcp_unified_search' AND d.key = t.id::text)
ORDER BY t.id
LIMIT :limit::int

-- name: lock_item
SELECT id FROM mcp.tools WHERE id = :id::bigint AND {{own org_id}}
FOR UPDATE

-- name: switch_item
-- Its server is locked and enabled where it is switched on.
UPDATE mcp.tools
SET is_switched_off = :is_switched_off::boolean, is_active = NOT :is_switched_off::boolean AND NOT is_quarantined,
    updated_at = clock_timestamp()
WHERE id = :id::bigint AND {{own org_id}}

-- name: get_item
SELECT t.id, t.org_id, t.server, t.type, t.name, t.description, t.input_schema, t.output_schema, t.annotations,
       t.tags, t.metadata, t.requests, t.content_hash, t.is_active, t.is_switched_off, t.is_quarantined,
       (SELECT has_vector FROM mcp.vector_state('mcp_unified_search', t.id::text)), k.skill_ids, k.primary_skill_id,
       t.created_at, t.updated_at
FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t
CROSS JOIN LATERAL mcp.skills_of_item(t.id, :org_id::text, :rights::jsonb) k
WHERE t.id = :id::bigint

-- name: get_items
-- The active items of some ids, in their order, as many as have room together; of the others the id alone is returned.
SELECT page.id, t.id, t.org_id, t.server, t.type, t.name, t.description, t.input_schema, t.output_schema, t.annotations,
       t.tags, t.metadata, t.requests, t.content_hash, t.is_active, t.is_switched_off, t.is_quarantined,
       (SELECT has_vector FROM mcp.vector_state('mcp_unified_search', t.id::text)), k.skill_ids, k.primary_skill_id,
       t.created_at, t.updated_at
FROM (
    SELECT t.id, row_number() OVER in_order AS nth, sum(
        octet_length(description) + octet_length(metadata::text) + coalesce(octet_length(input_schema::text), 0)
        + coalesce(octet_length(output_schema::text), 0) + coalesce(octet_length(annotations::text), 0)
        + coalesce(octet_length(requests::text), 0)) OVER in_order AS upto
    FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t
    WHERE t.id = ANY (:ids::bigint[]) AND t.is_active
    WINDOW in_order AS (ORDER BY array_position(:ids::bigint[], t.id) ROWS UNBOUNDED PRECEDING)
) page
LEFT JOIN mcp.tools t ON t.id = page.id AND (page.nth = 1 OR page.upto <= :max_bytes::bigint)
LEFT JOIN LATERAL mcp.skills_of_item(t.id, :org_id::text, :rights::jsonb) k ON true
ORDER BY page.nth

-- name: list_items
-- plan: custom
-- The page is cut by rows, then by bytes, and only what is left of it is read: 1,000 items may be 250 MB.
-- With the values of a run each CASE of the order is one of its branches, or a constant that orders nothing.
SELECT t.id, t.org_id, t.server, t.type, t.name, t.description, t.input_schema, t.output_schema, t.annotations,
       t.tags, t.metadata, t.requests, t.content_hash, t.is_active, t.is_switched_off, t.is_quarantined,
       (SELECT has_vector FROM mcp.vector_state('mcp_unified_search', t.id::text)), k.skill_ids, k.primary_skill_id,
       t.created_at, t.updated_at
FROM (
    SELECT id, row_number() OVER in_order AS nth, sum(
        octet_length(description) + octet_length(metadata::text) + coalesce(octet_length(input_schema::text), 0)
        + coalesce(octet_length(output_schema::text), 0) + coalesce(octet_length(annotations::text), 0)
        + coalesce(octet_length(requests::text), 0)) OVER in_order AS upto
    FROM (
        SELECT t.* FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t
        WHERE (:type::text IS NULL OR t.type = :type::text)
          AND (:server::text IS NULL OR t.server = :server::text)
          AND (:name::text IS NULL OR t.name = :name::text)
          AND (:tag::text IS NULL OR :tag::text = ANY (t.tags))
          AND (:is_active::boolean IS NULL OR t.is_active = :is_active::boolean)
          AND (:updated_since::timestamptz IS NULL OR t.updated_at >= :updated_since::timestamptz)
          AND (:skill_id::text IS NULL OR EXISTS (
                SELECT FROM mcp.tool_skill_assignments a
                JOIN mcp.skills_seen_by(:org_id::text, :rights::jsonb) c ON c.key = a.skill_key AND c.is_active
                WHERE a.tool_id = t.id AND c.id = ANY (string_to_array(:skill_id::text, ',')) AND (c.org_id IS NULL OR c.org_id = t.org_id)))
          AND CASE WHEN :after_id::bigint IS NULL THEN true
                   WHEN :sort::text = 'name' AND :is_descending::boolean THEN (t.name, t.id) < (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'name' THEN (t.name, t.id) > (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (t.updated_at, t.id) < (:after_time::timestamptz, :after_id::bigint)
                   WHEN :sort::text = 'updated_at' THEN (t.updated_at, t.id) > (:after_time::timestamptz, :after_id::bigint)
                   WHEN :is_descending::boolean THEN t.id < :after_id::bigint
                   ELSE t.id > :after_id::bigint END
        ORDER BY CASE WHEN :sort::text = 'name' AND NOT :is_descending::boolean THEN t.name END,
                 CASE WHEN :sort::text = 'name' AND :is_descending::boolean THEN t.name END DESC,
                 CASE WHEN :sort::text = 'updated_at' AND NOT :is_descending::boolean THEN t.updated_at END,
                 CASE WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN t.updated_at END DESC,
                 CASE WHEN NOT :is_descending::boolean THEN t.id END,
                 t.id DESC
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
    WINDOW in_order AS (ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.tools t ON t.id = page.id
CROSS JOIN LATERAL mcp.skills_of_item(t.id, :org_id::text, :rights::jsonb) k
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY page.nth

-- name: count_items
-- plan: custom
SELECT count(*), count(*) FILTER (WHERE
    CASE WHEN :after_id::bigint IS NULL THEN true
         WHEN :sort::text = 'name' AND :is_descending::boolean THEN (t.name, t.id) < (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'name' THEN (t.name, t.id) > (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (t.updated_at, t.id) < (:after_time::timestamptz, :after_id::bigint)
         WHEN :sort::text = 'updated_at' THEN (t.updated_at, t.id) > (:after_time::timestamptz, :after_id::bigint)
         WHEN :is_descending::boolean THEN t.id < :after_id::bigint
         ELSE t.id > :after_id::bigint END)
FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t
WHERE (:type::text IS NULL OR t.type = :type::text)
  AND (:server::text IS NULL OR t.server = :server::text)
  AND (:name::text IS NULL OR t.name = :name::text)
  AND (:tag::text IS NULL OR :tag::text = ANY (t.tags))
  AND (:is_active::boolean IS NULL OR t.is_active = :is_active::boolean)
  AND (:updated_since::timestamptz IS NULL OR t.updated_at >= :updated_since::timestamptz)
  AND (:skill_id::text IS NULL OR EXISTS (
        SELECT FROM mcp.tool_skill_assignments a
        JOIN mcp.skills_seen_by(:org_id::text, :rights::jsonb) c ON c.key = a.skill_key AND c.is_active
        WHERE a.tool_id = t.id AND c.id = ANY (string_to_array(:skill_id::text, ',')) AND (c.org_id IS NULL OR c.org_id = t.org_id)))

-- name: rule_servers
SELECT mcp.rule_servers(:org_id::text, :server::text)

-- name: item_counts
SELECT type, count(*) FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) WHERE is_active GROUP BY type ORDER BY type

-- name: delete_item
-- An organisation deletes its own items, nobody else's and no global one.
DELETE FROM mcp.tools WHERE id = :id::bigint AND {{own org_id}}
RETURNING id

-- name: items_by_id
SELECT id, org_id, server, type, name FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) WHERE id = ANY (:ids::bigint[])

-- name: items_of_server
-- An organisation's own, one more than asked for where there are more.
SELECT id, org_id, server, type, name FROM mcp.tools
WHERE server = :server AND {{own org_id}} AND (:type::text IS NULL OR type = :type::text)
ORDER BY id
LIMIT :limit::int

-- name: delete_items
-- Locked by id before they go, as by everybody who locks more than one.
WITH locked AS MATERIALIZED (
    SELECT id FROM mcp.tools
    WHERE id = ANY (:ids::bigint[]) AND {{own org_id}}
    ORDER BY id
    FOR UPDATE
)
DELETE FROM mcp.tools t USING locked WHERE t.id = locked.id
RETURNING t.id

-- name: delete_other_tools
DELETE FROM mcp.tools
WHERE {{own org_id}} AND server = :server AND type = 'tool' AND name <> ALL (:names::text[])
RETURNING id

-- name: item_schemas
-- As text, since what is remembered is counted in bytes. Schemas beyond the room are not sent, and those out of line are
-- not even read: their size stands in their pointers.
-- The ids are materialized so that their number is no reason to plan again: for fewer than ten PostgreSQL would plan at
-- each run, which took longer than the rest.
WITH wanted AS MATERIALIZED (SELECT :ids::bigint[] AS ids)
SELECT id, content_hash, size, upto <= :room::bigint,
       CASE WHEN upto <= :room::bigint THEN input_schema::text END,
       CASE WHEN upto <= :room::bigint THEN output_schema::text END,
       CASE WHEN upto <= :room::bigint THEN annotations::text END
FROM (
    SELECT sized.*, sum(size) OVER (ORDER BY nth ROWS UNBOUNDED PRECEDING) AS upto
    FROM (
        SELECT t.id, w.nth, t.content_hash, t.input_schema, t.output_schema, t.annotations,
               coalesce(octet_length(t.input_schema::text), 0) + coalesce(octet_length(t.output_schema::text), 0)
               + coalesce(octet_length(t.annotations::text), 0) AS size
        FROM wanted CROSS JOIN unnest(wanted.ids) WITH ORDINALITY AS w (id, nth) JOIN mcp.tools t ON t.id = w.id
    ) AS sized
) AS counted

-- name: item_annotations
-- As item_schemas, of annotations alone.
WITH wanted AS MATERIALIZED (SELECT :ids::bigint[] AS ids)
SELECT id, content_hash, size, upto <= :room::bigint, CASE WHEN upto <= :room::bigint THEN annotations::text END
FROM (
    SELECT sized.*, sum(size) OVER (ORDER BY nth ROWS UNBOUNDED PRECEDING) AS upto
    FROM (
        SELECT t.id, w.nth, t.content_hash, t.annotations, coalesce(octet_length(t.annotations::text), 0) AS size
        FROM wanted CROSS JOIN unnest(wanted.ids) WITH ORDINALITY AS w (id, nth) JOIN mcp.tools t ON t.id = w.id
    ) AS sized
) AS counted
