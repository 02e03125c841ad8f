-- The change feed, as an index reads it.

-- name: poll_changes
-- One snapshot answers all of it: what changed, and how far that look reached. The position stops at the oldest
-- transaction that is still open, so that what commits late is not passed over.
SELECT s.epoch::text, s.embedding_model, s.embedding_dimension,
       pg_snapshot_xmin(pg_current_snapshot())::text, :position::text::xid8 > s.pruned_to,
       c.collection, c.item_id, c.xid::text
FROM mcp.index_state s
LEFT JOIN mcp.index_changes c ON c.xid >= :position::text::xid8

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
RETURNING true

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
