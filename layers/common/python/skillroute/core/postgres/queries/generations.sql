-- The generations of an index on a server, and how far each has come (docs/adr/0034).

-- name: served_generation
-- For a search, in one look: the newest generation that is whole, of the process's own model before the current one
-- before the one before, and whether the feed goes beyond what it has seen.
SELECT s.embedding_model, s.embedding_dimension, s.previous_model, s.previous_dimension,
       g.generation, g.model, g.dimension, g.seen::text,
       g.epoch = s.epoch
           AND s.pruned_to < pg_snapshot_xmin(g.seen)
           AND pg_snapshot_xmax(g.seen) <= pg_snapshot_xmax(pg_current_snapshot())
           AND NOT mcp.is_anything_unseen_at(g.seen::text),
       EXISTS (SELECT FROM mcp.index_generations n WHERE n.index_name = :index_name AND n.ready_at IS NULL)
FROM mcp.index_state s
LEFT JOIN LATERAL (
    SELECT n.* FROM mcp.index_generations n
    WHERE n.index_name = :index_name AND n.ready_at IS NOT NULL
      AND CASE WHEN s.embedding_model IS NULL
               THEN (n.model, n.dimension) = (coalesce(:model::text, n.model), coalesce(:dimension::int, n.dimension))
               ELSE (n.model, n.dimension) IN ((s.embedding_model, s.embedding_dimension),
                                               (s.previous_model, s.previous_dimension)) END
    ORDER BY (n.model, n.dimension) IS NOT DISTINCT FROM (:model::text, :dimension::int) DESC,
             (n.model, n.dimension) = (s.embedding_model, s.embedding_dimension) DESC NULLS LAST, n.generation DESC
    LIMIT 1
) AS g ON true

-- name: lock_generations
-- Until the transaction ends. A process that finds it locked goes on without waiting.
SELECT pg_try_advisory_xact_lock(hashtextextended('mcp.index_generations ' || :index_name::text, 0))

-- name: index_generations
-- Whether each can still be followed: nothing that it has not seen was pruned, and the database was not restored to an
-- earlier moment.
SELECT g.generation, g.model, g.dimension, g.epoch::text, g.cut, g.seen::text, g.target::text, g.after_collection,
       g.after_key, g.ready_at IS NOT NULL, coalesce(g.ready_at < now() - make_interval(secs => :grace_s::float8), false),
       s.pruned_to < pg_snapshot_xmin(coalesce(g.seen, g.target))
           AND pg_snapshot_xmax(coalesce(g.seen, g.target)) <= pg_snapshot_xmax(pg_current_snapshot())
FROM mcp.index_generations g
CROSS JOIN mcp.index_state s
WHERE g.index_name = :index_name
ORDER BY g.generation

-- name: add_generation
INSERT INTO mcp.index_generations (index_name, generation, model, dimension, epoch, cut, target)
SELECT :index_name, coalesce(max(generation), 0) + 1, :model, :dimension::int, :epoch::text::uuid, :cut::smallint,
       :target::text::pg_snapshot
FROM mcp.index_generations
WHERE index_name = :index_name
RETURNING generation

-- name: save_generation
UPDATE mcp.index_generations
SET seen = :seen::text::pg_snapshot, target = :target::text::pg_snapshot, after_collection = :after_collection,
    after_key = :after_key, ready_at = CASE WHEN :is_ready::boolean THEN coalesce(ready_at, now()) END
WHERE index_name = :index_name AND generation = :generation::bigint
RETURNING (extract(epoch FROM now() - created_at) * 1000)::bigint

-- name: forget_generation
DELETE FROM mcp.index_generations WHERE index_name = :index_name AND generation = :generation::bigint

-- name: unseen_changes
-- plan: custom
-- A page of what a position did not see, in the order in which it is carried over.
SELECT c.collection, c.item_id FROM mcp.index_changes c
WHERE (c.xid >= pg_snapshot_xmax(:position::text::pg_snapshot) AND c.xid < pg_snapshot_xmax(pg_current_snapshot())
       OR c.xid = ANY (string_to_array(split_part(:position::text, ':', 3), ',')::xid8[]))
  AND (c.collection, c.item_id) > (:after_collection::text, :after_key::text)
ORDER BY c.collection, c.item_id
LIMIT :limit::int
