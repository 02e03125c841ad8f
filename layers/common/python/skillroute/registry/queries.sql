-- Servers and agents as they are written and read.

-- name: upsert_entity
-- The WHERE keeps what is the same untouched; then nothing comes back, and `lock_entity` returns its id.
INSERT INTO mcp.registry_entities AS e (
    org_id, kind, path, name, name_key, description, tags, tag_keys, capabilities, skills, document, is_enabled, content_hash)
VALUES (
    :org_id::text, :kind, :path, :name, :name_key, :description, :tags::text[], :tag_keys::text[], :capabilities::text[],
    :skills::json, :document::json, coalesce(:is_enabled::boolean, true), :content_hash)
ON CONFLICT ON CONSTRAINT registry_entities_key DO UPDATE SET
    name = excluded.name,
    name_key = excluded.name_key,
    description = excluded.description,
    tags = excluded.tags,
    tag_keys = excluded.tag_keys,
    capabilities = excluded.capabilities,
    skills = excluded.skills,
    document = excluded.document,
    is_enabled = coalesce(:is_enabled::boolean, e.is_enabled),
    content_hash = excluded.content_hash,
    updated_at = clock_timestamp()
WHERE e.content_hash <> excluded.content_hash OR e.is_enabled <> coalesce(:is_enabled::boolean, e.is_enabled)
RETURNING e.id, (e.xmax = 0)

-- name: lock_entity
SELECT id FROM mcp.registry_entities
WHERE {{own org_id}} AND kind = :kind AND path = :path
FOR UPDATE

-- name: share_names
-- A writer of tools of servers that are not registered (yet) has no row to lock. This makes a registration wait, and is
-- a statement of its own because what is read after the wait must see what was waited for.
SELECT pg_advisory_xact_lock_shared(hashtextextended(concat_ws(' ', 'mcp.registry', :org_id::text, k.key), 0))
FROM (SELECT DISTINCT mcp.server_key(n.name) AS key FROM unnest(:names::text[]) AS n (name) ORDER BY 1) AS k

-- name: claim_names
-- Everything that a server is to be called, and all that it was called.
SELECT k.key, pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'mcp.registry', :org_id::text, k.key), 0))
FROM (
    SELECT s.key FROM json_to_recordset(:servers::json) AS r (path text, name text, of_document text)
    CROSS JOIN LATERAL mcp.server_keys_of(r.path, r.name, json_build_object('name', r.of_document)) s
    UNION
    SELECT s.key FROM json_to_recordset(:servers::json) AS r (path text)
    JOIN mcp.registry_entities e ON e.kind = 'server' AND e.path = r.path AND {{own e.org_id}}
    JOIN mcp.server_keys s ON s.entity_id = e.id
    ORDER BY 1
) AS k

-- name: lock_servers
-- By path, so that two writers wait for each other instead of deadlocking.
SELECT id FROM mcp.registry_entities
WHERE id = ANY (array(
    SELECT m.entity_id FROM unnest(:names::text[]) AS n (name)
    CROSS JOIN LATERAL mcp.server_meant(:org_id::text, n.name) m WHERE m.entity_id IS NOT NULL))
ORDER BY path COLLATE "C"
FOR UPDATE

-- name: lock_namesakes
-- Those that share a name with what is registered as well: which items are theirs may change.
SELECT id FROM mcp.registry_entities
WHERE id = ANY (array(
    SELECT k.entity_id FROM mcp.server_keys k
    WHERE k.key = ANY (:keys::text[]) AND {{own k.org_id}}))
ORDER BY path COLLATE "C"
FOR UPDATE

-- name: namesakes
SELECT DISTINCT o.entity_id FROM mcp.server_keys k
JOIN mcp.server_keys o ON o.key = k.key AND o.org_id IS NOT DISTINCT FROM k.org_id AND o.entity_id <> k.entity_id
WHERE k.entity_id = :id::bigint

-- name: names_of_servers
SELECT entity_id, server FROM mcp.named_servers WHERE entity_id = ANY (:ids::bigint[]) ORDER BY entity_id, server

-- name: ambiguous_names
SELECT k.entity_id, n.server,
       (SELECT array_agg(e.path ORDER BY e.path COLLATE "C") FROM mcp.server_keys o
        JOIN mcp.entities_seen_by(:org_id::text, :rights::jsonb) e ON e.id = o.entity_id
        WHERE o.key = n.key AND o.org_id IS NOT DISTINCT FROM n.org_id)
FROM mcp.server_keys k
JOIN mcp.named_servers n ON n.key = k.key AND n.org_id IS NOT DISTINCT FROM k.org_id AND n.is_ambiguous
WHERE k.entity_id = ANY (:ids::bigint[])
  AND EXISTS (SELECT FROM mcp.tools t WHERE t.server = n.server AND t.org_id IS NOT DISTINCT FROM n.org_id)
ORDER BY n.server

-- name: texts_of_servers
SELECT r.server, mcp.server_text(r.name, r.description)
FROM json_to_recordset(:rows::json) AS r (server text, name text, description text)
WHERE mcp.server_text(r.name, r.description) IS NOT NULL

-- name: waiting_items
-- From those that wait, which nearly always are none.
SELECT DISTINCT t.id
FROM mcp.document_vectors v
JOIN mcp.tools t ON t.id = v.key::bigint
JOIN mcp.named_servers n ON n.server = t.server AND n.org_id IS NOT DISTINCT FROM t.org_id
WHERE v.collection = 'mcp_unified_search' AND v.embedding IS NULL AND v.refusal IS NULL
  AND n.entity_id = ANY (:ids::bigint[])
ORDER BY t.id
LIMIT :limit::int

-- name: orgs_naming_servers
SELECT DISTINCT org_id FROM mcp.named_servers ORDER BY org_id

-- name: mend_server_texts
SELECT mcp.follow_server_texts(:org_id::text, array(
    SELECT n.server FROM mcp.named_servers n WHERE {{own n.org_id}}))

-- name: disabled_servers
SELECT n.server FROM mcp.registry_entities e
JOIN mcp.named_servers n ON n.entity_id = e.id
WHERE e.id = ANY (:ids::bigint[]) AND NOT e.is_enabled
UNION
SELECT substr(path, 2) FROM mcp.registry_entities WHERE id = ANY (:ids::bigint[]) AND NOT is_enabled

-- name: lock_entities
SELECT id FROM mcp.registry_entities WHERE id = ANY (:ids::bigint[])
ORDER BY path COLLATE "C", id
FOR UPDATE

-- name: get_entity
SELECT e.id, e.org_id, e.kind, e.path, e.name, e.description, e.tags, e.capabilities, e.skills, e.document,
       e.is_enabled, (SELECT has_vector FROM mcp.vector_state('mcp_registry', e.id::text)), e.created_at, e.updated_at,
       (SELECT count(*) FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t
        WHERE t.server = ANY (array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = e.id))
          AND t.type = 'tool' AND NOT t.is_switched_off
          AND (t.is_active OR NOT e.is_enabled AND NOT t.is_quarantined)
          AND t.org_id IS NOT DISTINCT FROM e.org_id),
       array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = e.id AND EXISTS (
                 SELECT FROM mcp.tools t WHERE t.server = n.server AND t.org_id IS NOT DISTINCT FROM n.org_id)
             ORDER BY n.server COLLATE "C"),
       s.outcome, s.seen_at, CASE WHEN {{own e.org_id}} THEN s.error END
FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
LEFT JOIN mcp.server_sightings s ON s.server_id = e.id
WHERE e.id = :id::bigint AND e.kind = :kind

-- name: list_entities
-- plan: custom
-- Cut by rows, then by bytes, and ordered as `list_items` is.
SELECT e.id, e.org_id, e.kind, e.path, e.name, e.description, e.tags, e.capabilities, e.skills, e.document,
       e.is_enabled, (SELECT has_vector FROM mcp.vector_state('mcp_registry', e.id::text)), e.created_at, e.updated_at,
       (SELECT count(*) FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) t
        WHERE t.server = ANY (array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = e.id))
          AND t.type = 'tool' AND NOT t.is_switched_off
          AND (t.is_active OR NOT e.is_enabled AND NOT t.is_quarantined)
          AND t.org_id IS NOT DISTINCT FROM e.org_id),
       array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = e.id AND EXISTS (
                 SELECT FROM mcp.tools t WHERE t.server = n.server AND t.org_id IS NOT DISTINCT FROM n.org_id)
             ORDER BY n.server COLLATE "C"),
       s.outcome, s.seen_at, CASE WHEN {{own e.org_id}} THEN s.error END
FROM (
    SELECT id, row_number() OVER in_order AS nth,
           sum(octet_length(description) + octet_length(skills::text) + octet_length(document::text)) OVER in_order AS upto
    FROM (
        SELECT e.* FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
        WHERE e.kind = :kind
          AND (:path::text IS NULL OR e.path = :path::text)
          AND (:tag::text IS NULL OR :tag::text = ANY (e.tag_keys))
          AND (:is_enabled::boolean IS NULL OR e.is_enabled = :is_enabled::boolean)
          AND (:seen_outcome::text IS NULL OR EXISTS (
              SELECT FROM mcp.server_sightings s WHERE s.server_id = e.id AND s.outcome = :seen_outcome::text))
          AND (:updated_since::timestamptz IS NULL OR e.updated_at >= :updated_since::timestamptz)
          AND CASE WHEN :after_id::bigint IS NULL THEN true
                   WHEN :sort::text = 'path' AND :is_descending::boolean THEN (e.path, e.id) < (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'path' THEN (e.path, e.id) > (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'name' AND :is_descending::boolean THEN (e.name, e.id) < (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'name' THEN (e.name, e.id) > (:after_text::text, :after_id::bigint)
                   WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (e.updated_at, e.id) < (:after_time::timestamptz, :after_id::bigint)
                   WHEN :sort::text = 'updated_at' THEN (e.updated_at, e.id) > (:after_time::timestamptz, :after_id::bigint)
                   WHEN :is_descending::boolean THEN e.id < :after_id::bigint
                   ELSE e.id > :after_id::bigint END
        ORDER BY CASE WHEN :sort::text = 'path' AND NOT :is_descending::boolean THEN e.path END,
                 CASE WHEN :sort::text = 'path' AND :is_descending::boolean THEN e.path END DESC,
                 CASE WHEN :sort::text = 'name' AND NOT :is_descending::boolean THEN e.name END,
                 CASE WHEN :sort::text = 'name' AND :is_descending::boolean THEN e.name END DESC,
                 CASE WHEN :sort::text = 'updated_at' AND NOT :is_descending::boolean THEN e.updated_at END,
                 CASE WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN e.updated_at END DESC,
                 CASE WHEN NOT :is_descending::boolean THEN e.id END,
                 e.id DESC
        LIMIT :limit::int OFFSET :offset::bigint
    ) page
    WINDOW in_order AS (ROWS UNBOUNDED PRECEDING)
) page
JOIN mcp.registry_entities e ON e.id = page.id
LEFT JOIN mcp.server_sightings s ON s.server_id = e.id
WHERE page.nth = 1 OR page.upto <= :max_bytes::bigint
ORDER BY page.nth

-- name: count_entities
-- plan: custom
SELECT count(*), count(*) FILTER (WHERE
    CASE WHEN :after_id::bigint IS NULL THEN true
         WHEN :sort::text = 'path' AND :is_descending::boolean THEN (e.path, e.id) < (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'path' THEN (e.path, e.id) > (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'name' AND :is_descending::boolean THEN (e.name, e.id) < (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'name' THEN (e.name, e.id) > (:after_text::text, :after_id::bigint)
         WHEN :sort::text = 'updated_at' AND :is_descending::boolean THEN (e.updated_at, e.id) < (:after_time::timestamptz, :after_id::bigint)
         WHEN :sort::text = 'updated_at' THEN (e.updated_at, e.id) > (:after_time::timestamptz, :after_id::bigint)
         WHEN :is_descending::boolean THEN e.id < :after_id::bigint
         ELSE e.id > :after_id::bigint END)
FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
WHERE e.kind = :kind
  AND (:path::text IS NULL OR e.path = :path::text)
  AND (:tag::text IS NULL OR :tag::text = ANY (e.tag_keys))
  AND (:is_enabled::boolean IS NULL OR e.is_enabled = :is_enabled::boolean)
  AND (:seen_outcome::text IS NULL OR EXISTS (
      SELECT FROM mcp.server_sightings s WHERE s.server_id = e.id AND s.outcome = :seen_outcome::text))
  AND (:updated_since::timestamptz IS NULL OR e.updated_at >= :updated_since::timestamptz)

-- name: delete_entity
-- An organisation deletes its own entities, nobody else's and no global one.
DELETE FROM mcp.registry_entities
WHERE id = :id::bigint AND kind = :kind AND {{own org_id}}
RETURNING id

-- name: set_entity_enabled
UPDATE mcp.registry_entities
SET updated_at = CASE WHEN is_enabled = :is_enabled::boolean THEN updated_at ELSE clock_timestamp() END,
    is_enabled = :is_enabled::boolean
WHERE id = :id::bigint AND kind = :kind AND {{own org_id}}
RETURNING id

-- name: entity_ids
SELECT id FROM mcp.registry_entities WHERE id > :after::bigint ORDER BY id LIMIT :limit::int

-- name: entity_sources
SELECT e.id, e.kind, e.path, e.name, e.description, e.tags, e.capabilities, e.skills
FROM mcp.registry_entities e
WHERE e.id = ANY (:ids::bigint[])
ORDER BY e.id

-- name: server_tool_sources
-- A disabled server's tools are all inactive, and say what it is found by all the same: by a search for disabled ones now,
-- and by everybody as soon as it is enabled.
SELECT e.id, t.id, t.name, t.description
FROM mcp.registry_entities e
JOIN mcp.tools t ON t.server = ANY (array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = e.id)) AND t.type = 'tool' AND NOT t.is_switched_off
    AND (t.is_active OR NOT e.is_enabled AND NOT t.is_quarantined) AND t.org_id IS NOT DISTINCT FROM e.org_id
WHERE e.kind = 'server' AND e.id = ANY (:ids::bigint[])
ORDER BY t.name COLLATE "C", t.id

-- name: delete_stale_words
DELETE FROM mcp.registry_words w
USING json_to_recordset(:rows::json) AS r (place smallint, tool_id bigint)
WHERE w.entity_id = :id::bigint AND w.place = r.place AND w.tool_id IS NOT DISTINCT FROM r.tool_id

-- name: insert_new_words
INSERT INTO mcp.registry_words (entity_id, place, tool_id, words, org_id, kind, is_enabled)
SELECT e.id, r.place, r.tool_id, r.words, e.org_id, e.kind, e.is_enabled
FROM mcp.registry_entities e
CROSS JOIN json_to_recordset(:rows::json) AS r (place smallint, tool_id bigint, words text)
WHERE e.id = :id::bigint
ON CONFLICT ON CONSTRAINT registry_words_key DO NOTHING

-- name: entity_words
SELECT entity_id, place, tool_id, words FROM mcp.registry_words
WHERE entity_id = ANY (:ids::bigint[])
ORDER BY entity_id, place, tool_id

-- name: broken_registry_rules
-- Each row is a rule, what breaks it, and how.
-- A search by words looks at these copies alone to know who may find an entity.
SELECT 'words belong to whom their server or agent does', e.id::text, count(*) || ' rows of words do not'
FROM mcp.registry_words w
JOIN mcp.registry_entities e ON e.id = w.entity_id
WHERE (w.org_id, w.kind, w.is_enabled) IS DISTINCT FROM (e.org_id, e.kind, e.is_enabled)
GROUP BY e.id
UNION ALL
SELECT 'no item of a disabled server is searched', t.id::text, 'it is active'
FROM mcp.registry_entities e
JOIN mcp.tools t ON t.server = ANY (array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = e.id)) AND t.org_id IS NOT DISTINCT FROM e.org_id
WHERE e.kind = 'server' AND NOT e.is_enabled AND t.is_active
LIMIT :limit::int

-- name: mend_words
-- The entities are locked first, in the order that all lock them, so that none is enabled or disabled meanwhile.
WITH locked AS MATERIALIZED (
    SELECT e.id, e.org_id, e.kind, e.is_enabled FROM mcp.registry_entities e
    WHERE EXISTS (
        SELECT FROM mcp.registry_words w
        WHERE w.entity_id = e.id AND (w.org_id, w.kind, w.is_enabled) IS DISTINCT FROM (e.org_id, e.kind, e.is_enabled))
    ORDER BY e.path COLLATE "C", e.id
    FOR UPDATE
)
UPDATE mcp.registry_words w
SET org_id = locked.org_id, kind = locked.kind, is_enabled = locked.is_enabled
FROM locked
WHERE w.entity_id = locked.id
  AND (w.org_id, w.kind, w.is_enabled) IS DISTINCT FROM (locked.org_id, locked.kind, locked.is_enabled)

-- name: mend_items
-- Servers are locked before their items, and these by id, as by everybody.
WITH disabled AS MATERIALIZED (
    SELECT e.id, e.org_id FROM mcp.registry_entities e
    WHERE e.kind = 'server' AND NOT e.is_enabled
    ORDER BY e.path COLLATE "C", e.id
    FOR UPDATE
)
SELECT mcp.follow_named_servers(d.org_id, array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = d.id))
FROM disabled d
