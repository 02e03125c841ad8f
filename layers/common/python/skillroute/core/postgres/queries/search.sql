-- Search inside PostgreSQL (docs/adr/0061).

-- name: search_state
-- Before a search: whether there are vectors at all, whether they follow documents, whether all are there; and the models.
SELECT to_regclass('mcp.search_vectors') IS NOT NULL AND EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'),
       t.is_kept, t.filled_at IS NOT NULL,
       s.embedding_model, s.embedding_dimension, s.previous_model, s.previous_dimension
FROM mcp.index_state s CROSS JOIN mcp.search_state t

-- name: nearest_points
SELECT n.place, n.key, n.score
FROM mcp.nearest_points(:asked::jsonb, :model::text, :dimension::int, :vectors::text[], :limit::bigint) AS n

-- name: points_by_words
SELECT w.key, w.score
FROM mcp.points_by_words(:asked::jsonb, :terms::int[], :weights::float8[], :limit::bigint) AS w

-- name: match_points
-- Payloads are looked up one by one: how many match is not known to the planner, which takes them for many.
SELECT m.key, CASE WHEN :with_payloads THEN (
    SELECT d.payload FROM mcp.documents d
    WHERE d.collection = :asked::jsonb ->> 'collection' AND d.key = m.key AND d.is_searchable) END
FROM mcp.match_points(:asked::jsonb, :limit::bigint) AS m (key)

-- name: count_points
SELECT mcp.count_points(:asked::jsonb)

-- name: ask_ahead
-- The rows of several of the statements above, in one round trip: those of a question have its place. What a question is
-- not is never run. Keys go through arrays, which the planner takes for short: were they rows of functions, it would take
-- the statement for one that is worth being compiled.
SELECT a.place, f.of_vector, f.key, f.score, f.payload
FROM jsonb_array_elements(:questions::jsonb) WITH ORDINALITY AS a (q, place)
CROSS JOIN LATERAL (
    SELECT n.place AS of_vector, n.key, n.score, NULL::jsonb AS payload
    FROM mcp.nearest_points(a.q -> 'asked', a.q ->> 'model', (a.q ->> 'dimension')::int, (a.q ->> 'vectors')::text[],
                            (a.q ->> 'limit')::bigint) AS n
    WHERE a.q ->> 'name' = 'nearest_points'
    UNION ALL
    SELECT NULL, w.key, w.score, NULL
    FROM mcp.points_by_words(a.q -> 'asked', (a.q ->> 'terms')::int[], (a.q ->> 'weights')::float8[],
                             (a.q ->> 'limit')::bigint) AS w
    WHERE a.q ->> 'name' = 'points_by_words'
    UNION ALL
    SELECT NULL, m.key, NULL, CASE WHEN (a.q ->> 'with_payloads')::bool THEN (
        SELECT d.payload FROM mcp.documents d
        WHERE d.collection = a.q -> 'asked' ->> 'collection' AND d.key = m.key AND d.is_searchable) END
    FROM unnest(ARRAY(SELECT mcp.match_points(a.q -> 'asked', (a.q ->> 'limit')::bigint))) AS m (key)
    WHERE a.q ->> 'name' = 'match_points'
    UNION ALL
    SELECT NULL, d.key, NULL, d.payload
    FROM mcp.documents d
    WHERE a.q ->> 'name' = 'point_payloads' AND d.collection = a.q ->> 'collection'
      AND d.key = ANY (ARRAY(SELECT jsonb_array_elements_text(a.q -> 'keys'))) AND d.is_searchable
    UNION ALL
    SELECT NULL, NULL, mcp.count_points(a.q -> 'asked'), NULL
    WHERE a.q ->> 'name' = 'count_points') AS f

-- name: point_payloads
SELECT d.key, d.payload FROM mcp.documents d
WHERE d.collection = :collection AND d.key = ANY (:keys::text[]) AND d.is_searchable

-- name: stale_search_points
SELECT * FROM mcp.stale_search_points(:collection, :keys::text[])

-- name: put_search_points
-- Of documents that the caller has locked.
SELECT mcp.put_search_points(:collection, :keys::text[])

-- name: keep_search_points
SELECT mcp.keep_search_points()

-- name: fill_search_points
SELECT filled_collection, filled_keys FROM mcp.fill_search_points(:limit::int)

-- name: points_without_words
-- Of documents that were just written; without points there are none.
SELECT p.key, p.text_hash, d.lexical_text
FROM mcp.search_points p
JOIN mcp.documents d ON (d.collection, d.key) = (p.collection, p.key) AND d.text_hash = p.text_hash
WHERE p.collection = :collection AND p.key = ANY (:keys::text[]) AND p.terms IS NULL

-- name: next_points_without_words
-- And those with words of an older cut (core/documents/index/scripts.py). Locked, as whoever writes documents does; what
-- somebody else has locked waits for the next look.
WITH locked AS MATERIALIZED (
    SELECT d.collection, d.key, d.text_hash, d.lexical_text
    FROM ((SELECT p.collection, p.key FROM mcp.search_points p WHERE p.terms IS NULL
           ORDER BY p.collection, p.key LIMIT :limit::int)
          UNION
          (SELECT p.collection, p.key FROM mcp.search_points p WHERE p.cut < 2
           ORDER BY p.collection, p.key LIMIT :limit::int)) AS p
    JOIN mcp.documents d USING (collection, key)
    ORDER BY d.collection, d.key
    FOR NO KEY UPDATE OF d SKIP LOCKED
)
SELECT l.collection, l.key, p.text_hash, l.lexical_text
FROM locked l JOIN mcp.search_points p USING (collection, key, text_hash)

-- name: set_search_words
SELECT mcp.set_search_words(:collection, :rows::json)

-- name: search_fill_left
-- How many documents are after the place that was filled last.
SELECT count(*) FROM mcp.documents d CROSS JOIN mcp.search_state t
WHERE t.filled_at IS NULL AND (d.collection, d.key) > (t.after_collection, t.after_key)

-- name: try_search_lists
-- Nobody tries again for some time, whatever becomes of it: writers wait meanwhile.
UPDATE mcp.search_state SET lists_tried_at = now()
WHERE only_row IN (
    SELECT t.only_row FROM mcp.search_state t
    WHERE t.is_kept
      AND (t.lists_tried_at IS NULL OR t.lists_tried_at < now() - make_interval(secs => :again_after_s::float8))
    FOR UPDATE SKIP LOCKED)
RETURNING true

-- name: search_dimensions
SELECT DISTINCT m.dimension FROM mcp.models_in_use() m

-- name: build_search_lists
SELECT mcp.build_search_lists(:collection, :dimension::int, :most::bigint)
