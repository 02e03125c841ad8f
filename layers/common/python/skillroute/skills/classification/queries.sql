-- What classifiers need to know, and what became of it.

-- name: tools_to_classify
-- `decided_by` is who decided last, or 'human' when a person assigned one of its skills.
SELECT t.id, t.org_id, t.name, t.description, t.server, t.input_schema, coalesce(d.texts, '{}'), v.embedding,
       r.input_hash,
       CASE WHEN EXISTS (SELECT FROM mcp.tool_skill_assignments a
                         WHERE a.tool_id = t.id AND a.source IN ('human_manual', 'human_override'))
            THEN 'human' ELSE r.classifier END,
       r.classified_at, o.version, t.type, t.requests
FROM mcp.tools t
LEFT JOIN mcp.documents d ON d.collection = 'mcp_unified_search' AND d.key = t.id::text
LEFT JOIN mcp.document_vectors v ON v.collection = 'mcp_unified_search' AND v.key = t.id::text
    AND (v.model, v.dimension) = (:model::text, :dimension::int)
LEFT JOIN mcp.tool_classifications r ON r.tool_id = t.id
LEFT JOIN mcp.outbox o ON o.queue = 'classify' AND o.key = t.id::text
WHERE t.id = ANY (:ids::bigint[])

-- name: tools_to_write_requests_for
-- Those that nobody wrote requests for; with `again` also those whose requests are packaged or a language model's. An
-- empty list says that none are wanted.
SELECT id FROM mcp.tools
WHERE {{own org_id}} AND type = 'tool' AND is_active
  AND (:server::text IS NULL OR server = :server::text)
  AND (requests IS NULL
       OR (:again::boolean AND requests <> '[]'
           AND NOT jsonb_path_exists(requests, '$[*] ? (@.source != "llm" && @.source != "packaged")')))
ORDER BY id
LIMIT :limit::bigint

-- name: tools_with_requests
SELECT id FROM mcp.tools WHERE id = ANY (:ids::bigint[]) AND requests IS NOT NULL AND requests <> '[]'

-- name: lock_tools
SELECT id FROM mcp.tools WHERE id = ANY (:ids::bigint[]) ORDER BY id FOR NO KEY UPDATE

-- name: skill_fingerprints
-- Changes with whatever a classifier knows of a skill: its texts, their vector, and the tools that people gave it.
SELECT c.key,
       concat_ws(':', d.text_hash, v.model, v.embedding IS NOT NULL, p.fingerprint)
FROM mcp.skills_seen_by(:org_id::text) c
LEFT JOIN mcp.documents d ON d.collection = 'mcp_skills' AND d.key = c.key
LEFT JOIN mcp.document_vectors v ON v.collection = 'mcp_skills' AND v.key = c.key
    AND (v.model, v.dimension) = (:model::text, :dimension::int)
LEFT JOIN (
    SELECT a.skill_key,
           count(*) || ':' || sum(hashtextextended(concat_ws(':', t.id, v.text_hash, a.confidence), 0)::numeric)
               AS fingerprint
    FROM mcp.skills_seen_by(:org_id::text) s
    JOIN mcp.tool_skill_assignments a ON a.skill_key = s.key AND a.owner IN ('', s.org_id)
    JOIN mcp.tools t ON t.id = a.tool_id AND t.is_active
    JOIN mcp.document_vectors v ON v.collection = 'mcp_unified_search' AND v.key = t.id::text
        AND (v.model, v.dimension) = (:model::text, :dimension::int) AND v.embedding IS NOT NULL
    WHERE a.source IN ('human_manual', 'human_override')
    GROUP BY a.skill_key
) p ON p.skill_key = c.key
WHERE c.is_active
ORDER BY c.key

-- name: skills_to_offer
SELECT c.key, c.id::text, c.org_id, c.name, c.description, c.keywords, c.examples, v.embedding
FROM mcp.skill_categories c
LEFT JOIN mcp.document_vectors v ON v.collection = 'mcp_skills' AND v.key = c.key
    AND (v.model, v.dimension) = (:model::text, :dimension::int)
WHERE c.is_active AND c.key = ANY (:keys::text[])

-- name: record_classifications
INSERT INTO mcp.tool_classifications AS r (tool_id, input_hash, classifier)
SELECT n.tool_id, n.input_hash, :classifier
FROM json_to_recordset(:rows::json) AS n (tool_id bigint, input_hash text)
ORDER BY n.tool_id
ON CONFLICT (tool_id) DO UPDATE SET
    input_hash = excluded.input_hash, classifier = excluded.classifier, classified_at = clock_timestamp()

-- name: queue_unclassified
-- Tools without a decision and that wait in no queue: what was lost, however it was. Young ones are left alone. The
-- first of each organisation comes before the second of any.
SELECT mcp.enqueue('classify', array_agg(lost.id::text)) IS NULL, count(*)
FROM (
    SELECT t.id FROM mcp.tools t
    WHERE t.created_at < now() - make_interval(secs => :older_than_s::float8)
      AND NOT EXISTS (SELECT FROM mcp.tool_classifications r WHERE r.tool_id = t.id)
      AND NOT EXISTS (SELECT FROM mcp.tool_skill_assignments a WHERE a.tool_id = t.id)
      AND NOT EXISTS (SELECT FROM mcp.outbox o WHERE o.queue = 'classify' AND o.key = t.id::text)
    ORDER BY row_number() OVER (PARTITION BY t.org_id ORDER BY t.id), t.id
    LIMIT :limit::int
) lost

-- name: forget_classifications
DELETE FROM mcp.tool_classifications WHERE tool_id = ANY (:ids::bigint[])

-- name: forget_unassigned
-- What was classified and fits nowhere may fit a skill that came since.
DELETE FROM mcp.tool_classifications r USING mcp.tools t
WHERE t.id = r.tool_id AND {{own t.org_id}} AND r.classifier <> 'human'
  AND NOT EXISTS (SELECT FROM mcp.tool_skill_assignments a WHERE a.tool_id = r.tool_id)
RETURNING r.tool_id

-- name: kept_text_vectors
SELECT text_hash, embedding FROM mcp.text_vectors
WHERE (model, dimension) = (:model::text, :dimension::int) AND text_hash = ANY (:hashes::text[])

-- name: keep_text_vectors
-- The order keeps two that write the same ones from waiting for each other.
INSERT INTO mcp.text_vectors (model, dimension, text_hash, embedding)
SELECT :model::text, :dimension::int, n.text_hash, decode(n.embedding, 'hex')
FROM json_to_recordset(:rows::json) AS n (text_hash text, embedding text)
ORDER BY n.text_hash
ON CONFLICT DO NOTHING

-- name: prune_text_vectors
WITH gone AS (
    DELETE FROM mcp.text_vectors WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM mcp.text_vectors WHERE made_at < now() - make_interval(days => :days::int)
        ORDER BY made_at LIMIT :limit::int))
    RETURNING 1
)
SELECT count(*) FROM gone
