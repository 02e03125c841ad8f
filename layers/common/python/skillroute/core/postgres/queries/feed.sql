-- The change feed, as an index reads it.

-- name: poll_changes
-- One snapshot answers all of it: what changed, and how far that look reached. The position stops at the oldest
-- transaction that is still open, so that what commits late is not passed over.
SELECT s.epoch::text, s.embedding_model, s.embedding_dimension,
       pg_snapshot_xmin(pg_current_snapshot())::text, :position::text::xid8 > s.pruned_to,
       c.collection, c.item_id, c.xid::text
FROM mcp.index_state s
LEFT JOIN mcp.index_changes c ON c.xid >= :position::text::xid8

-- name: load_tools
SELECT t.id::text,
       CASE WHEN (t.embedding_model, t.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN t.embedding END,
       t.lexical_text, t.type, t.name, t.description, t.server, t.org_id, t.content_hash, t.skill_keys, t.primary_skill_key
FROM mcp.items_with_skills t
CROSS JOIN mcp.index_state s
WHERE t.is_active AND t.id = ANY (:keys::text[]::bigint[])

-- name: load_tools_after
-- All of them, a page at a time, by id.
SELECT t.id::text,
       CASE WHEN (t.embedding_model, t.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN t.embedding END,
       t.lexical_text, t.type, t.name, t.description, t.server, t.org_id, t.content_hash, t.skill_keys, t.primary_skill_key
FROM mcp.items_with_skills t
CROSS JOIN mcp.index_state s
WHERE t.is_active AND t.id > :after::text::bigint
ORDER BY t.id
LIMIT :limit::int

-- name: load_skills
-- With the organisations that have a skill of their own by the id of a global one, which they do not see therefore.
SELECT c.key,
       CASE WHEN (c.embedding_model, c.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN c.embedding END,
       c.lexical_text, c.name, c.description, c.org_id,
       ARRAY(SELECT own.org_id FROM mcp.skill_categories own
             WHERE c.org_id IS NULL AND own.id = c.id AND own.org_id IS NOT NULL AND own.deleted_at IS NULL ORDER BY 1)
FROM mcp.skill_categories c
CROSS JOIN mcp.index_state s
WHERE c.is_active AND c.key = ANY (:keys::text[])

-- name: load_skills_after
SELECT c.key,
       CASE WHEN (c.embedding_model, c.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN c.embedding END,
       c.lexical_text, c.name, c.description, c.org_id,
       ARRAY(SELECT own.org_id FROM mcp.skill_categories own
             WHERE c.org_id IS NULL AND own.id = c.id AND own.org_id IS NOT NULL AND own.deleted_at IS NULL ORDER BY 1)
FROM mcp.skill_categories c
CROSS JOIN mcp.index_state s
WHERE c.is_active AND c.key > :after
ORDER BY c.key
LIMIT :limit::int

-- name: load_entities
SELECT e.id::text,
       CASE WHEN (e.embedding_model, e.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN e.embedding END,
       e.kind, e.path, e.name, e.tag_keys, e.org_id, e.is_enabled
FROM mcp.registry_entities e
CROSS JOIN mcp.index_state s
WHERE e.id = ANY (:keys::text[]::bigint[])

-- name: load_entities_after
SELECT e.id::text,
       CASE WHEN (e.embedding_model, e.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN e.embedding END,
       e.kind, e.path, e.name, e.tag_keys, e.org_id, e.is_enabled
FROM mcp.registry_entities e
CROSS JOIN mcp.index_state s
WHERE e.id > :after::text::bigint
ORDER BY e.id
LIMIT :limit::int

-- name: load_mail
SELECT d.id::text,
       CASE WHEN (d.embedding_model, d.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN d.embedding END,
       d.title, d.body, d.kind, d.org_id, d.project_ids, d.sender_key, d.recipient_keys, d.thread_id, d.importance,
       d.ack_required, d.created_ts
FROM mcp.mail_documents d
CROSS JOIN mcp.index_state s
WHERE d.id = ANY (:keys::text[]::bigint[])

-- name: load_mail_after
SELECT d.id::text,
       CASE WHEN (d.embedding_model, d.embedding_dimension) = (s.embedding_model, s.embedding_dimension) THEN d.embedding END,
       d.title, d.body, d.kind, d.org_id, d.project_ids, d.sender_key, d.recipient_keys, d.thread_id, d.importance,
       d.ack_required, d.created_ts
FROM mcp.mail_documents d
CROSS JOIN mcp.index_state s
WHERE d.id > :after::text::bigint
ORDER BY d.id
LIMIT :limit::int

-- name: count_records
-- Of the tables, not of the views that records are read from: those join what counting does not need.
SELECT (SELECT count(*) FROM mcp.tools WHERE is_active)
     + (SELECT count(*) FROM mcp.skill_categories WHERE is_active)
     + (SELECT count(*) FROM mcp.registry_entities)
     + (SELECT count(*) FROM mcp.mail_documents)

-- name: index_state
-- Held until the transaction ends, so that a reindex cannot change the model under a writer.
SELECT epoch::text, embedding_model, embedding_dimension FROM mcp.index_state FOR SHARE

-- name: stored_model
-- The same for a look that holds nothing.
SELECT embedding_model, embedding_dimension FROM mcp.index_state

-- name: claim_model
-- The first vector ever written decides the model; whoever comes later sees it.
UPDATE mcp.index_state SET embedding_model = :name, embedding_dimension = :dimension::int
WHERE embedding_model IS NULL

-- name: switch_model
UPDATE mcp.index_state
-- Nothing is missing for who reads everything anew; and a database restored elsewhere counts from the start.
SET embedding_model = :name, embedding_dimension = :dimension::int, epoch = gen_random_uuid(), pruned_to = '0'

-- name: ensure_position
INSERT INTO mcp.index_positions (index_name) VALUES (:index_name) ON CONFLICT DO NOTHING

-- name: hold_position
SELECT epoch::text, position::text FROM mcp.index_positions WHERE index_name = :index_name FOR UPDATE

-- name: save_position
UPDATE mcp.index_positions SET epoch = :epoch::text::uuid, position = :position::text::xid8, updated_at = now()
WHERE index_name = :index_name

-- name: prune_changes
-- Changes of items that are long gone. Those of living items stay: each is one row, its latest change.
WITH pruned AS (
    DELETE FROM mcp.index_changes c
    WHERE c.changed_at < now() - make_interval(secs => :older_than_s::float8)
      -- Positions stop at the oldest open transaction. What lies beyond it is kept: else an index that has just read
      -- everything would stand before it, and would have to do so again at every look.
      AND c.xid < pg_snapshot_xmin(pg_current_snapshot())
      AND NOT EXISTS (SELECT FROM mcp.tools t WHERE c.collection = 'mcp_unified_search' AND t.id::text = c.item_id)
      AND NOT EXISTS (SELECT FROM mcp.skill_categories s
                      WHERE c.collection = 'mcp_skills' AND s.key = c.item_id AND s.deleted_at IS NULL)
      AND NOT EXISTS (SELECT FROM mcp.registry_entities e
                      WHERE c.collection = 'mcp_registry' AND e.id::text = c.item_id)
      AND NOT EXISTS (SELECT FROM mcp.mail_documents d WHERE c.collection = 'mcp_mail' AND d.id::text = c.item_id)
    RETURNING c.xid
), moved AS (
    UPDATE mcp.index_state SET pruned_to = greatest(pruned_to, (SELECT max(xid) FROM pruned))
    WHERE EXISTS (SELECT FROM pruned)
)
SELECT count(*) FROM pruned
