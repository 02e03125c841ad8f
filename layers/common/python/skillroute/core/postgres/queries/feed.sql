-- The change feed, as an index reads it.

-- name: poll_changes
-- One snapshot answers all of it: what changed, and how far that look reached. The position is such a snapshot.
-- The limit says that there is one row. Without it PostgreSQL expects hundreds, for which it thinks a plan of its own for
-- each position pays, and planning is a third of the time: 0.135 ms instead of 0.085.
SELECT s.epoch::text, s.embedding_model, s.embedding_dimension, s.previous_model, s.previous_dimension,
       pg_current_snapshot()::text,
       -- What was pruned had been seen, and the database was not restored to a moment before the position.
       s.pruned_to < pg_snapshot_xmin(:position::text::pg_snapshot)
           AND pg_snapshot_xmax(:position::text::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot()),
       c.collection, c.item_id, c.xid::text
FROM (SELECT * FROM mcp.index_state LIMIT 1) s
LEFT JOIN mcp.changes_unseen_at(:position::text) AS c ON true

-- name: count_changes
-- plan: custom
-- How many `poll_changes` would return.
SELECT (SELECT count(*) FROM mcp.index_changes
        WHERE xid >= pg_snapshot_xmax(:position::text::pg_snapshot) AND xid < pg_snapshot_xmax(pg_current_snapshot()))
     + (SELECT count(*) FROM mcp.index_changes
        WHERE xid = ANY (string_to_array(split_part(:position::text, ':', 3), ',')::xid8[]))

-- name: locked_models
-- Locked until the transaction ends, so that a reindex cannot change them meanwhile.
SELECT embedding_model, embedding_dimension, previous_model, previous_dimension, next_model, next_dimension
FROM mcp.index_state FOR SHARE

-- name: models
-- The same for a look that locks nothing.
SELECT embedding_model, embedding_dimension, previous_model, previous_dimension, next_model, next_dimension
FROM mcp.index_state

-- name: claim_model
-- The first vector ever written decides the model; later writers see it.
UPDATE mcp.index_state SET embedding_model = :name, embedding_dimension = :dimension::int
WHERE embedding_model IS NULL
RETURNING true

-- name: begin_model
-- From now on every document that is written waits for a vector of it as well.
UPDATE mcp.index_state
SET (next_model, next_dimension) = (
        SELECT :name::text, :dimension::int
        WHERE (embedding_model, embedding_dimension) IS DISTINCT FROM (:name::text, :dimension::int)),
    has_unused_vectors = has_unused_vectors OR next_model IS NOT NULL

-- name: wait_for_writers
-- Who began to write before that, and knows nothing of it, is waited for.
SELECT mcp.wait_for_vector_writers()

-- name: switch_model
-- The former model stays searched by who is configured for it. Nothing is missing for who reads everything again; and a
-- database restored elsewhere counts from the start.
UPDATE mcp.index_state
SET previous_model = CASE WHEN next_model IS NULL THEN previous_model ELSE embedding_model END,
    previous_dimension = CASE WHEN next_model IS NULL THEN previous_dimension ELSE embedding_dimension END,
    switched_at = CASE WHEN next_model IS NULL THEN switched_at ELSE now() END,
    has_unused_vectors = has_unused_vectors OR previous_model IS NOT NULL,
    embedding_model = :name::text, embedding_dimension = :dimension::int, next_model = NULL, next_dimension = NULL,
    epoch = gen_random_uuid(), pruned_to = '0'
WHERE (coalesce(next_model, embedding_model), coalesce(next_dimension, embedding_dimension)) = (:name::text, :dimension::int)
RETURNING true

-- name: prune_vectors
-- Of models that are out of use, a page at a time. Nothing is looked at where there are none.
WITH pruned AS (
    DELETE FROM mcp.document_vectors
    WHERE (collection, key, model, dimension) IN (
        SELECT v.collection, v.key, v.model, v.dimension FROM mcp.index_state s
        JOIN mcp.document_vectors v ON s.has_unused_vectors
        WHERE NOT EXISTS (SELECT FROM mcp.models_in_use() m WHERE (m.model, m.dimension) = (v.model, v.dimension))
        LIMIT :limit::int)
    RETURNING true
)
UPDATE mcp.index_state SET has_unused_vectors = false
WHERE has_unused_vectors AND (SELECT count(*) FROM pruned) < :limit::int

-- name: retire_model
UPDATE mcp.index_state SET previous_model = NULL, previous_dimension = NULL, has_unused_vectors = true
WHERE previous_model IS NOT NULL AND switched_at < now() - make_interval(secs => :older_than_s::float8)

-- name: prune_changes
-- plan: custom
-- Changes of items that are long gone. Those of living items stay: each is one row, its latest change. An index of the
-- deleted ones by time leads to what is deleted, and to nothing else.
WITH pruned AS (
    DELETE FROM mcp.index_changes c
    WHERE c.is_deleted AND c.changed_at < now() - make_interval(secs => :older_than_s::float8)
      -- A position is only known to have seen what was there before its oldest open transaction. What lies beyond is
      -- kept: else an index that has just read everything would have to do so again at every look.
      AND c.xid < pg_snapshot_xmin(pg_current_snapshot())
    RETURNING c.xid
), moved AS (
    UPDATE mcp.index_state SET pruned_to = greatest(pruned_to, (SELECT max(xid) FROM pruned))
    WHERE EXISTS (SELECT FROM pruned)
)
SELECT count(*) FROM pruned

-- name: renumber_changes
-- plan: custom
-- A dump that is restored into another server brings changes, and a mark of pruning, of that server's numbers. Those that
-- this one has not reached yet can stand in no order with its own: they count as seen by all, and everything is read
-- again, once. Nearly always there is none, and one look at the end of an index says so.
WITH renumbered AS (
    UPDATE mcp.index_changes SET xid = '0' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING xid
)
UPDATE mcp.index_state SET epoch = gen_random_uuid(), pruned_to = '0'
WHERE EXISTS (SELECT FROM renumbered) OR pruned_to >= pg_snapshot_xmax(pg_current_snapshot())
RETURNING (SELECT count(*) FROM renumbered)
