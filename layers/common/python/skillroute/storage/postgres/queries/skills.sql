-- Skills and the assignment of tools to them.

-- name: insert_skill
INSERT INTO mcp.skill_categories (
    id, org_id, name, description, keywords, examples, parent_domain, text_hash, embedding_texts, lexical_text,
    description_embedding, embedding, embedding_model, embedding_dimension)
VALUES (
    :id, :org_id::text, :name, :description, :keywords::text[], :examples::text[], :parent_domain::text,
    :text_hash, :embedding_texts::text[], :lexical_text,
    decode(:embedding::text, 'hex'), decode(:embedding::text, 'hex'),
    CASE WHEN :embedding::text IS NOT NULL THEN :model::text END,
    CASE WHEN :embedding::text IS NOT NULL THEN :dimension::int END)
ON CONFLICT (id) DO NOTHING
RETURNING id

-- name: get_skill
SELECT c.id, c.org_id, c.name, c.description, c.keywords, c.examples, c.parent_domain, c.is_active, c.tool_count,
       c.created_at, c.updated_at
FROM mcp.skills_with_counts c
WHERE c.id = :id AND (c.org_id IS NULL OR c.org_id = :org_id::text)

-- name: existing_skill_ids
-- Held to the end of the transaction, so that none is removed between this look and an assignment.
SELECT id::text FROM mcp.skill_categories WHERE id = ANY (:ids::text[]) AND deleted_at IS NULL AND (org_id IS NULL OR org_id = :org_id::text)
ORDER BY id FOR KEY SHARE

-- name: existing_item_ids
-- Held to the end of the transaction: of two replacements of the same assignments the later one sees the earlier one.
SELECT id FROM mcp.tools WHERE id = ANY (:ids::bigint[]) AND org_id IS NOT DISTINCT FROM :org_id::text
ORDER BY id FOR NO KEY UPDATE

-- name: delete_assignments
-- What a tool no longer has. What stays is updated in place, so that a search never finds the tool without skills.
DELETE FROM mcp.tool_skill_assignments a
USING (SELECT unnest(:tool_ids::bigint[]) AS tool_id) AS touched
WHERE a.tool_id = touched.tool_id
  AND NOT EXISTS (
    SELECT FROM json_to_recordset(:rows::json) AS r (tool_id bigint, skill_id text)
    WHERE r.tool_id = a.tool_id AND r.skill_id = a.skill_id)
RETURNING a.skill_id::text

-- name: demote_primaries
-- Before new primaries are set, so that at no moment a tool has two (tool_skill_assignments_one_primary).
UPDATE mcp.tool_skill_assignments a SET is_primary = false
FROM json_to_recordset(:rows::json) AS r (tool_id bigint, skill_id text, is_primary boolean)
WHERE a.tool_id = r.tool_id AND a.skill_id = r.skill_id AND a.is_primary AND NOT r.is_primary

-- name: upsert_assignments
INSERT INTO mcp.tool_skill_assignments AS a (tool_id, skill_id, confidence, is_primary, source)
SELECT r.tool_id, r.skill_id, r.confidence, r.is_primary, :source
FROM json_to_recordset(:rows::json)
     AS r (tool_id bigint, skill_id text, confidence double precision, is_primary boolean)
ORDER BY r.tool_id, r.skill_id
ON CONFLICT ON CONSTRAINT tool_skill_assignments_key DO UPDATE SET
    confidence = excluded.confidence, is_primary = excluded.is_primary, source = excluded.source, assigned_at = now()
WHERE (a.confidence, a.is_primary, a.source) IS DISTINCT FROM
      (excluded.confidence, excluded.is_primary, excluded.source)
RETURNING a.skill_id::text

-- name: member_embeddings
-- A page of a skill's members. Those without a vector of the model are skipped (skill-contract BR-004).
SELECT a.tool_id::text, t.embedding, a.confidence
FROM mcp.tool_skill_assignments a
JOIN mcp.tools t ON t.id = a.tool_id
WHERE a.skill_id = :id AND a.tool_id > :after::text::bigint AND t.is_active
  AND (t.embedding_model, t.embedding_dimension) = (:model::text, :dimension::int)
ORDER BY a.tool_id
LIMIT :limit::int

-- name: description_embedding
SELECT description_embedding FROM mcp.skill_categories WHERE id = :id AND (embedding_model, embedding_dimension) = (:model::text, :dimension::int)

-- name: set_skill_embedding
UPDATE mcp.skill_categories
SET embedding = decode(:embedding, 'hex')
WHERE id = :id AND (embedding_model, embedding_dimension) = (:model::text, :dimension::int)
  AND embedding IS DISTINCT FROM decode(:embedding, 'hex')
RETURNING id

-- name: skills_to_embed
SELECT id::text, embedding_texts, text_hash
FROM mcp.skill_categories
WHERE embedding IS NULL AND deleted_at IS NULL AND id > :after
ORDER BY id
LIMIT :limit::int

-- name: skills_to_reembed
SELECT id::text, embedding_texts, text_hash
FROM mcp.skill_categories
WHERE deleted_at IS NULL AND id > :after
  AND (embedding_model, embedding_dimension) IS DISTINCT FROM (:model::text, :dimension::int)
ORDER BY id
LIMIT :limit::int

-- name: set_description_embeddings
UPDATE mcp.skill_categories c
SET description_embedding = decode(r.embedding, 'hex'), embedding = decode(r.embedding, 'hex'),
    embedding_model = :model, embedding_dimension = :dimension::int
FROM json_to_recordset(:rows::json) AS r (id text, text_hash text, embedding text)
WHERE c.id = r.id AND c.text_hash = r.text_hash

-- name: count_skills
SELECT count(*) FROM mcp.skill_categories WHERE is_active

-- name: skill_ids
SELECT id::text FROM mcp.skill_categories WHERE deleted_at IS NULL ORDER BY id

-- name: skills_of_items
SELECT DISTINCT skill_id::text FROM mcp.tool_skill_assignments WHERE tool_id = ANY (:ids::bigint[])

-- name: lock_skill
SELECT id FROM mcp.skill_categories WHERE id = :id AND deleted_at IS NULL FOR NO KEY UPDATE
