-- Searchable documents of all collections and their vectors (docs/adr/0033).

-- name: put_documents
SELECT * FROM mcp.put_documents(:collection, :rows::json, :model::text, :dimension::int, :keep_derived::boolean)

-- name: document_hashes
SELECT key, text_hash FROM mcp.documents WHERE collection = :collection AND key = ANY (:keys::text[])

-- name: document_tasks
-- Those that have no vector of the model.
SELECT d.key, d.texts, d.text_hash
FROM mcp.documents d
LEFT JOIN mcp.document_vectors v
  ON v.collection = d.collection AND v.key = d.key AND v.model = :model::text AND v.dimension = :dimension::int
WHERE d.collection = :collection AND d.key = ANY (:keys::text[]) AND v.embedding IS NULL AND v.refusal IS NULL
ORDER BY d.key

-- name: refused_documents
-- Those whose texts the model does not take.
SELECT v.key
FROM mcp.document_vectors v
WHERE v.collection = :collection AND v.key = ANY (:keys::text[])
  AND (v.model, v.dimension) = (:model::text, :dimension::int) AND v.refusal IS NOT NULL

-- name: documents_to_embed
-- Those that wait for a vector of the model, the first of each organisation before the second of any.
SELECT d.key, d.texts, d.text_hash
FROM mcp.document_vectors v
JOIN mcp.documents d USING (collection, key)
WHERE v.collection = :collection AND (v.model, v.dimension) = (:model::text, :dimension::int)
  AND v.embedding IS NULL AND v.refusal IS NULL
ORDER BY row_number() OVER (PARTITION BY d.org_id ORDER BY d.key), d.key
LIMIT :limit::int

-- name: documents_to_reembed
SELECT d.key, d.texts, d.text_hash
FROM mcp.documents d
LEFT JOIN mcp.document_vectors v
  ON v.collection = d.collection AND v.key = d.key AND v.model = :model::text AND v.dimension = :dimension::int
 AND v.text_hash = d.text_hash
WHERE d.collection = :collection AND d.key > :after AND v.embedding IS NULL AND v.refusal IS NULL
ORDER BY d.key
LIMIT :limit::int

-- name: count_documents_to_reembed
SELECT count(*)
FROM mcp.documents d
LEFT JOIN mcp.document_vectors v
  ON v.collection = d.collection AND v.key = d.key AND v.model = :model::text AND v.dimension = :dimension::int
 AND v.text_hash = d.text_hash
WHERE d.collection = :collection AND v.embedding IS NULL AND v.refusal IS NULL

-- name: lock_documents
SELECT mcp.lock_documents(:collection, :keys::text[])

-- name: set_document_vectors
-- Or why there is none, where the text is still the one that they were made of, and the model one that is in use. A
-- refusal leaves a vector alone that somebody else got of the same text.
-- Documents that somebody else has locked are left out and returned: writers lock documents in several steps, and who
-- locked one while waiting for another would deadlock with them.
WITH r AS (
    SELECT * FROM json_to_recordset(:rows::json) AS r (id text, text_hash text, embedding text, refusal text)
), locked AS MATERIALIZED (
    SELECT d.key, d.text_hash FROM mcp.documents d
    WHERE d.collection = :collection AND d.key IN (SELECT r.id FROM r)
    ORDER BY d.key
    FOR NO KEY UPDATE SKIP LOCKED
), put AS (
    INSERT INTO mcp.document_vectors AS v (collection, key, model, dimension, text_hash, embedding, refusal)
    SELECT :collection, locked.key, :model::text, :dimension::int, locked.text_hash, decode(r.embedding, 'hex'), r.refusal
    FROM locked JOIN r ON r.id = locked.key AND r.text_hash = locked.text_hash
    JOIN mcp.models_in_use() m ON (m.model, m.dimension) = (:model::text, :dimension::int)
    ORDER BY locked.key
    ON CONFLICT (collection, key, model, dimension) DO UPDATE SET
        text_hash = excluded.text_hash, embedding = excluded.embedding, refusal = excluded.refusal
    WHERE excluded.embedding IS NOT NULL OR v.embedding IS NULL OR v.text_hash <> excluded.text_hash
)
SELECT d.key FROM r JOIN mcp.documents d ON d.collection = :collection AND d.key = r.id
WHERE d.key NOT IN (SELECT locked.key FROM locked)

-- name: refused_texts
-- With what people know them by.
SELECT v.collection, v.key, d.org_id, d.payload ->> 'name', v.model, v.refusal
FROM mcp.document_vectors v
JOIN mcp.documents d USING (collection, key)
JOIN mcp.models_in_use() m ON (m.model, m.dimension) = (v.model, v.dimension)
WHERE v.refusal IS NOT NULL AND (:collection::text IS NULL OR v.collection = :collection)
ORDER BY v.collection, v.key, v.model
LIMIT :limit::int

-- name: count_refused_texts
SELECT count(*)
FROM mcp.document_vectors v
JOIN mcp.models_in_use() m ON (m.model, m.dimension) = (v.model, v.dimension)
WHERE v.refusal IS NOT NULL

-- name: count_awaited_vectors
-- By model, those that are yet to be computed.
SELECT v.model, v.dimension, count(*)
FROM mcp.document_vectors v
JOIN mcp.models_in_use() m ON (m.model, m.dimension) = (v.model, v.dimension)
WHERE v.embedding IS NULL AND v.refusal IS NULL
GROUP BY v.model, v.dimension

-- name: retry_refused_texts
WITH locked AS MATERIALIZED (
    SELECT d.collection, d.key FROM mcp.documents d
    WHERE (:collection::text IS NULL OR d.collection = :collection) AND (:keys::text[] IS NULL OR d.key = ANY (:keys::text[]))
      AND EXISTS (SELECT FROM mcp.document_vectors v
                  WHERE v.collection = d.collection AND v.key = d.key AND v.refusal IS NOT NULL)
    ORDER BY d.collection, d.key
    FOR NO KEY UPDATE
)
UPDATE mcp.document_vectors v SET refusal = NULL
FROM locked
WHERE v.collection = locked.collection AND v.key = locked.key AND v.refusal IS NOT NULL
RETURNING v.key

-- name: documents_without_vector
-- Those that no search by meaning finds: they wait, or the model does not take their texts.
SELECT d.key
FROM mcp.documents d
LEFT JOIN mcp.document_vectors v
  ON v.collection = d.collection AND v.key = d.key AND v.model = :model::text AND v.dimension = :dimension::int
WHERE d.collection = :collection AND d.key = ANY (:keys::text[]) AND num_nonnulls(v.embedding, v.derived) = 0

-- name: await_vectors
-- Of documents that were written before anybody knew a model.
INSERT INTO mcp.document_vectors (collection, key, model, dimension, text_hash)
SELECT d.collection, d.key, :name::text, :dimension::int, d.text_hash
FROM mcp.documents d
ORDER BY d.collection, d.key
ON CONFLICT (collection, key, model, dimension) DO NOTHING

-- name: load_documents
SELECT d.key, coalesce(v.derived, v.embedding), d.lexical_text, d.payload
FROM mcp.documents d
LEFT JOIN mcp.document_vectors v
  ON v.collection = d.collection AND v.key = d.key AND v.model = :model::text AND v.dimension = :dimension::int
WHERE d.collection = :collection AND d.key = ANY (:keys::text[]) AND d.is_searchable

-- name: load_documents_after
-- All of them, a page at a time, by key.
SELECT d.key, coalesce(v.derived, v.embedding), d.lexical_text, d.payload
FROM mcp.documents d
LEFT JOIN mcp.document_vectors v
  ON v.collection = d.collection AND v.key = d.key AND v.model = :model::text AND v.dimension = :dimension::int
WHERE d.collection = :collection AND d.key > :after AND d.is_searchable
ORDER BY d.key
LIMIT :limit::int

-- name: count_documents
SELECT count(*) FROM mcp.documents WHERE is_searchable

-- name: count_documents_up_to
SELECT count(*) FROM (SELECT FROM mcp.documents WHERE is_searchable LIMIT :limit::int) AS d

-- name: document_vector
SELECT embedding FROM mcp.document_vectors
WHERE collection = :collection AND key = :key AND (model, dimension) = (:model::text, :dimension::int)

-- name: derive_vector
-- Null: found by its own texts. The document is locked, as by everybody who writes vectors, so that what its triggers read
-- beside the vector is what they write.
WITH locked AS MATERIALIZED (
    SELECT d.collection, d.key FROM mcp.documents d
    WHERE d.collection = :collection AND d.key = :key
    FOR NO KEY UPDATE
)
UPDATE mcp.document_vectors v SET derived = nullif(decode(:vector::text, 'hex'), v.embedding)
FROM locked
WHERE (v.collection, v.key) = (locked.collection, locked.key) AND (v.model, v.dimension) = (:model::text, :dimension::int)
  AND coalesce(v.derived, v.embedding) IS DISTINCT FROM coalesce(decode(:vector::text, 'hex'), v.embedding)
RETURNING v.key

-- name: document_keys
SELECT key FROM mcp.documents WHERE collection = :collection AND key > :after ORDER BY key LIMIT :limit::int

-- name: stale_documents
SELECT * FROM mcp.stale_documents(:collection, :keys::text[])

-- name: project_documents
SELECT mcp.project_documents(:collection, :keys::text[])

-- name: delete_documents
DELETE FROM mcp.documents WHERE collection = :collection AND key = ANY (:keys::text[])
