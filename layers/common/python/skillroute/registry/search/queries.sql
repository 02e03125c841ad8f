-- The keyword side of registry search. A keyword is found where all of its trigrams are and it is part of a word; the
-- index over trigrams serves the first, and leaves little to the second. Each keyword comes once for what is global and
-- once for the caller's organisation, for the index holds trigrams with the organisation that they are of.

-- name: keyword_search
-- The best of each kind and those that the query names, and how many of each kind there are in all. Paths, which are
-- long, are looked up only for those that tie with the last one or are better; and all of it is one JSON value, which is
-- read faster than rows. A common word is in tens of thousands of rows, so what is done for each of them counts: they are
-- added up keyword by keyword, under one number, which is negative for agents.
WITH found AS (
    SELECT w.signed_id, w.boost
    FROM unnest(:patterns::text[], :trigrams::text[]) AS k (pattern, trigrams)
    CROSS JOIN LATERAL (
        SELECT CASE w.kind WHEN 'server' THEN w.entity_id ELSE -w.entity_id END AS signed_id,
               sum((:boosts::float8[])[w.place]) AS boost
        FROM mcp.words_seen_by(:org_id::text, :rights::jsonb) w
        WHERE mcp.trigrams(w.org_id, w.words) @> k.trigrams::text[] AND w.words LIKE k.pattern
          AND (w.is_enabled OR :include_disabled::boolean)
          AND (:kind::text IS NULL OR w.kind = :kind::text)
        GROUP BY signed_id
    ) AS w
), sums AS MATERIALIZED (
    SELECT s.*, CASE WHEN :by_coverage::boolean THEN s.coverage ELSE s.boost END AS score
    FROM (
        SELECT abs(signed_id) AS entity_id, signed_id > 0 AS is_server, sum(boost) AS boost,
               -- Rounded, for sums of fractions depend on their order, and what is equal must tie.
               CASE WHEN :by_coverage::boolean
                    THEN round(sum(boost / (boost + :half::float8)) / :keyword_count::int * 1e9) / 1e9
                    ELSE 0 END AS coverage
        FROM found
        GROUP BY signed_id
    ) AS s
    WHERE cardinality(:tags::text[]) = 0 OR EXISTS (
        SELECT FROM mcp.registry_entities e WHERE e.id = s.entity_id AND e.tag_keys @> :tags::text[])
), kinds AS MATERIALIZED (
    SELECT t.is_server, t.total, (
        -- The last of the best; null where there are fewer.
        SELECT s.score FROM sums s WHERE s.is_server = t.is_server
        ORDER BY s.score DESC OFFSET :limit::int - 1 LIMIT 1) AS least
    FROM (SELECT is_server, count(*) AS total FROM sums GROUP BY is_server) AS t
), best AS MATERIALIZED (
    SELECT s.*, k.total
    FROM sums s
    JOIN kinds k ON k.is_server = s.is_server
    WHERE :limit::int IS NULL OR k.least IS NULL OR s.score >= k.least
       OR s.entity_id IN (SELECT n.id FROM mcp.registry_entities n WHERE n.name_key = ANY (:names::text[]))
), cut AS (
    SELECT e.id, e.kind, e.path, e.name, e.name_key, b.boost, b.coverage, b.total,
           -- As Python orders them, whatever the database's own order is.
           row_number() OVER (PARTITION BY e.kind ORDER BY b.score DESC, e.path COLLATE "C", e.id) AS nth
    FROM best b
    -- Not a join: a plan for all of them would read the whole table for these few.
    CROSS JOIN LATERAL (SELECT * FROM mcp.registry_entities e WHERE e.id = b.entity_id OFFSET 0) AS e
)
SELECT json_agg(
    json_build_array(id, kind, path, name, boost, coverage, total, :limit::int IS NULL OR nth <= :limit::int)
    ORDER BY kind, nth)
FROM cut
WHERE :limit::int IS NULL OR nth <= :limit::int OR name_key = ANY (:names::text[])

-- name: tagged_entities
-- What has the tags, by path: for a query that says nothing else to look for.
SELECT e.id, e.path, e.name
FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
WHERE (e.is_enabled OR :include_disabled::boolean)
  AND e.kind = :kind::text AND e.tag_keys @> :tags::text[]
ORDER BY e.path COLLATE "C", e.id
LIMIT :limit::int

-- name: keyword_boosts
SELECT e.id, e.kind, e.path, e.name, coalesce(sum(k.boost), 0),
       round(coalesce(sum(k.boost / (k.boost + :half::float8)) / cardinality(:keywords::text[]), 0) * 1e9) / 1e9
FROM mcp.registry_entities e
LEFT JOIN LATERAL (
    SELECT sum((:boosts::float8[])[w.place]) AS boost
    FROM mcp.words_seen_by(:org_id::text, :rights::jsonb) w, unnest(:keywords::text[]) AS k (word)
    WHERE w.entity_id = e.id AND strpos(w.words, k.word) > 0
    GROUP BY k.word
) AS k ON true
WHERE e.id = ANY (:ids::bigint[])
GROUP BY e.id

-- name: servers_of_tools
SELECT w.tool_id, e.id
FROM mcp.words_seen_by(:org_id::text, :rights::jsonb) w
JOIN mcp.registry_entities e ON e.id = w.entity_id
WHERE w.tool_id = ANY (:ids::bigint[])
  AND (e.is_enabled OR :include_disabled::boolean)
  AND (cardinality(:tags::text[]) = 0 OR e.tag_keys @> :tags::text[])

-- name: keyword_tools
SELECT json_agg(json_build_array(t.id, w.entity_id, t.server, t.name, (
    SELECT count(*) FROM unnest(:keywords::text[]) AS k (word) WHERE strpos(w.words, k.word) > 0)) ORDER BY t.id) FILTER (
    -- Behind the join: the planner would begin elsewhere for what rules ask of a row.
    WHERE :rights::jsonb IS NULL OR EXISTS (
        SELECT FROM mcp.items_seen_by(:org_id::text, :rights::jsonb) s WHERE s.id = t.id OFFSET 0))
FROM mcp.registry_words w
JOIN mcp.tools t ON t.id = w.tool_id
WHERE w.entity_id = ANY (:ids::bigint[]) AND w.tool_id IS NOT NULL

-- name: inactive_vectors
SELECT t.id, v.embedding
FROM mcp.tools t
JOIN mcp.document_vectors v ON v.collection = 'mcp_unified_search' AND v.key = t.id::text
    AND v.model = :model::text AND v.dimension = :dimension::int AND v.embedding IS NOT NULL
WHERE t.id = ANY (:ids::bigint[]) AND NOT t.is_active

-- name: found_entities
-- Documents of those that show them, in their order, as many as have room together; null of the others.
SELECT e.id, e.org_id, e.kind, e.path, e.name,
       CASE WHEN char_length(e.description) > :longest::int THEN left(e.description, :longest::int) || '…'
            ELSE e.description END,
       e.tags, e.capabilities, e.skills, CASE WHEN d.upto <= :room::bigint THEN e.document END,
       e.is_enabled, (SELECT has_vector FROM mcp.vector_state('mcp_registry', e.id::text)), e.created_at, e.updated_at,
       (SELECT count(*) FROM mcp.words_seen_by(:org_id::text, :rights::jsonb) w WHERE w.entity_id = e.id AND w.tool_id IS NOT NULL), '{}'::text[],
       NULL, NULL, NULL
FROM mcp.registry_entities e
LEFT JOIN (
    SELECT w.id, sum(octet_length(o.document::text)) OVER (ORDER BY w.nth ROWS UNBOUNDED PRECEDING) AS upto
    FROM unnest(:with_documents::bigint[]) WITH ORDINALITY AS w (id, nth) JOIN mcp.registry_entities o ON o.id = w.id
) d ON d.id = e.id
WHERE e.id = ANY (:ids::bigint[])

-- name: entity_texts
SELECT key::bigint, texts[1] FROM mcp.documents
WHERE collection = 'mcp_registry' AND key = ANY (:ids::bigint[]::text[])

-- name: tool_details
-- Schemas of those that show them, in their order, as many as have room together.
SELECT t.id,
       CASE WHEN char_length(t.description) > :longest::int THEN left(t.description, :longest::int) || '…'
            ELSE t.description END,
       CASE WHEN s.upto <= :room::bigint THEN t.input_schema END, coalesce(s.upto <= :room::bigint, true),
       CASE WHEN octet_length(t.annotations::text) <= :longest_annotations::int THEN t.annotations END
FROM mcp.tools t
LEFT JOIN (
    SELECT w.id, sum(coalesce(octet_length(o.input_schema::text), 0)) OVER (ORDER BY w.nth ROWS UNBOUNDED PRECEDING) AS upto
    FROM unnest(:with_schemas::bigint[]) WITH ORDINALITY AS w (id, nth) JOIN mcp.tools o ON o.id = w.id
) s ON s.id = t.id
WHERE t.id = ANY (:ids::bigint[])
