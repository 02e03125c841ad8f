-- What a registered server says of itself is a part of what its items are found by (docs/adr/0069): the last of their
-- document's texts, behind U+001F, with which no other text begins.

-- Null without a description: the name alone finds nothing more, and is in the item's own text.
CREATE FUNCTION mcp.server_text(name text, description text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT chr(31) || left(btrim(regexp_replace(name || ': ' || description, '\s+', ' ', 'g')), 1000)
    WHERE btrim(description, E' \t\n\r') <> ''
$$;

-- What is said by the servers that an organisation's items of these names mean; others are left out.
CREATE FUNCTION mcp.server_texts(of_org text, names text[]) RETURNS TABLE (server text, said text)
LANGUAGE sql STABLE AS $$
    SELECT n.name, mcp.server_text(e.name, e.description)
    FROM unnest(names) AS n (name)
    CROSS JOIN LATERAL mcp.server_meant(of_org, n.name) m
    JOIN mcp.registry_entities e ON e.id = m.entity_id
    WHERE mcp.server_text(e.name, e.description) IS NOT NULL
$$;

-- A document's texts with what its server says, or without, instead of what it had.
CREATE FUNCTION mcp.texts_within(texts text[], said text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array(SELECT t.text FROM unnest(texts) WITH ORDINALITY AS t (text, nth)
                 WHERE t.nth <= 3 OR NOT starts_with(t.text, chr(31)) ORDER BY t.nth)
           || CASE WHEN said IS NULL THEN '{}'::text[] ELSE ARRAY[said] END
$$;

-- As `core.hashing.text_hash` makes it.
CREATE FUNCTION mcp.text_hash(texts text[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT encode(sha256(string_agg(int8send(octet_length(t.bytes)) || t.bytes, '' ORDER BY t.nth)), 'hex')
    FROM (
        SELECT convert_to(u.text, 'UTF8') AS bytes, u.nth FROM unnest(texts) WITH ORDINALITY AS u (text, nth)
    ) t
$$;

-- Items are locked by id, then their documents by key, as by everybody. Their vectors are found by until there are new ones.
CREATE FUNCTION mcp.follow_server_texts(of_org text, names text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    ids bigint[];
BEGIN
    ids := array(
        SELECT t.id FROM mcp.tools t
        JOIN mcp.documents d ON d.collection = 'mcp_unified_search' AND d.key = t.id::text
        JOIN mcp.named_servers n ON n.server = t.server AND n.org_id IS NOT DISTINCT FROM of_org
        LEFT JOIN mcp.registry_entities e ON e.id = n.entity_id
        WHERE t.server = ANY (names) AND t.org_id IS NOT DISTINCT FROM of_org
          AND d.texts <> mcp.texts_within(d.texts, mcp.server_text(e.name, e.description))
        ORDER BY t.id
        FOR NO KEY UPDATE OF t);
    IF ids = '{}' THEN
        RETURN;
    END IF;
    PERFORM mcp.lock_documents('mcp_unified_search', ids::text[]);
    WITH changed AS (
        UPDATE mcp.documents d
        SET texts = mcp.texts_within(d.texts, mcp.server_text(e.name, e.description)),
            text_hash = mcp.text_hash(
                mcp.texts_within(d.texts, mcp.server_text(e.name, e.description)) || d.lexical_text)
        FROM mcp.tools t
        JOIN mcp.named_servers n ON n.server = t.server AND n.org_id IS NOT DISTINCT FROM of_org
        LEFT JOIN mcp.registry_entities e ON e.id = n.entity_id
        WHERE t.id = ANY (ids) AND d.collection = 'mcp_unified_search' AND d.key = t.id::text
        RETURNING d.key, d.text_hash
    )
    UPDATE mcp.document_vectors v
    SET text_hash = changed.text_hash, derived = coalesce(v.derived, v.embedding), embedding = NULL, refusal = NULL
    FROM changed
    WHERE v.collection = 'mcp_unified_search' AND v.key = changed.key;
END $$;

-- What an item was found by meanwhile goes as soon as there is a vector of its texts.
CREATE FUNCTION mcp.forget_former_vector() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.derived := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER former_vector_goes BEFORE UPDATE ON mcp.document_vectors
    FOR EACH ROW WHEN (NEW.collection = 'mcp_unified_search' AND NEW.derived IS NOT NULL
        AND num_nonnulls(NEW.embedding, NEW.refusal) = 1)
    EXECUTE FUNCTION mcp.forget_former_vector();

CREATE FUNCTION mcp.follow_named_server() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.follow_server_texts(NEW.org_id, ARRAY[NEW.server]);
    RETURN NULL;
END $$;
CREATE TRIGGER another_server_meant AFTER UPDATE ON mcp.named_servers
    FOR EACH ROW WHEN (OLD.entity_id IS DISTINCT FROM NEW.entity_id) EXECUTE FUNCTION mcp.follow_named_server();

CREATE FUNCTION mcp.follow_server_text() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.follow_server_texts(NEW.org_id, array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = NEW.id));
    RETURN NULL;
END $$;
CREATE TRIGGER server_described AFTER UPDATE ON mcp.registry_entities
    FOR EACH ROW WHEN (NEW.kind = 'server' AND (OLD.name, OLD.description) IS DISTINCT FROM (NEW.name, NEW.description))
    EXECUTE FUNCTION mcp.follow_server_text();

-- As in 0003, but an item's former vector counts as its own: it lacked none, and its skills do not lose it meanwhile.
CREATE OR REPLACE FUNCTION mcp.queue_changed_vectors() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.enqueue('classify', (
        SELECT array_agg(after.key)
        FROM before JOIN after USING (collection, key, model, dimension)
        JOIN mcp.searched_models() s ON (s.model, s.dimension) = (after.model, after.dimension)
        WHERE after.collection = 'mcp_unified_search'
          AND num_nonnulls(before.embedding, before.derived) = 0 AND after.embedding IS NOT NULL));
    PERFORM mcp.enqueue('aggregate', (
        SELECT array_agg(changed.key) FROM (
            SELECT CASE after.collection WHEN 'mcp_skills' THEN after.key ELSE c.key END AS key
            FROM before JOIN after USING (collection, key, model, dimension)
            JOIN mcp.searched_models() s ON (s.model, s.dimension) = (after.model, after.dimension)
            LEFT JOIN mcp.tool_skill_assignments a
              ON a.tool_id = CASE after.collection WHEN 'mcp_unified_search' THEN after.key::bigint END
            LEFT JOIN mcp.skill_categories c ON c.key = a.skill_key AND a.owner IN ('', c.org_id)
            WHERE CASE after.collection
                  WHEN 'mcp_skills' THEN before.embedding IS DISTINCT FROM after.embedding
                  WHEN 'mcp_unified_search' THEN
                      coalesce(before.embedding, before.derived) IS DISTINCT FROM coalesce(after.embedding, after.derived)
                  ELSE false END
        ) AS changed
        WHERE changed.key IS NOT NULL));
    RETURN NULL;
END $$;
