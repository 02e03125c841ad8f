-- The change feed (docs/adr/0001).
-- Triggers write the feed, so that no code path, and no operator at a prompt, can change a row unseen by the index.

CREATE TABLE mcp.index_changes (
    collection text NOT NULL,
    item_id    text NOT NULL,
    xid        xid8 NOT NULL DEFAULT pg_current_xact_id(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    is_deleted boolean,                                  -- the item is gone for good, and one day the change is pruned
    PRIMARY KEY (collection, item_id)
);
-- Every search asks for the rows at or after its position.
CREATE INDEX index_changes_xid ON mcp.index_changes (xid);
CREATE INDEX index_changes_deleted ON mcp.index_changes (changed_at) WHERE is_deleted;

-- One row: the model of the stored vectors, and the epoch that tells every index to read everything again.
CREATE TABLE mcp.index_state (
    only_row            boolean PRIMARY KEY DEFAULT true,
    epoch               uuid NOT NULL DEFAULT gen_random_uuid(),
    embedding_model     text,
    embedding_dimension integer,
    pruned_to           xid8 NOT NULL DEFAULT '0',       -- an index that has not read up to here must read everything
    -- The model that takes over when all vectors of it are there, and the one that it took over from, which processes
    -- may still be configured for (decision 37, docs/adr/0035).
    next_model          text,
    next_dimension      integer,
    previous_model      text,
    previous_dimension  integer,
    switched_at         timestamptz,
    has_unused_vectors  boolean NOT NULL DEFAULT false,  -- of models that are out of use
    CONSTRAINT index_state_only_row CHECK (only_row),
    CONSTRAINT index_state_model_whole CHECK ((embedding_model IS NULL) = (embedding_dimension IS NULL)),
    CONSTRAINT index_state_next_whole CHECK ((next_model IS NULL) = (next_dimension IS NULL)),
    CONSTRAINT index_state_previous_whole CHECK (
        (previous_model IS NULL) = (previous_dimension IS NULL)
        AND (previous_model IS NULL OR (embedding_model IS NOT NULL AND switched_at IS NOT NULL)))
);
INSERT INTO mcp.index_state DEFAULT VALUES;

-- What is on an index server, and how far it has read; an embedded replica keeps its own position in memory.
CREATE TABLE mcp.index_generations (
    index_name       text NOT NULL,
    generation       bigint NOT NULL,
    model            text NOT NULL,
    dimension        integer NOT NULL,
    epoch            uuid NOT NULL,
    seen             pg_snapshot,                        -- null while it is being filled
    target           pg_snapshot,                        -- what it has seen when all that is under way is there
    after_collection text,                               -- how far that has come; the next process goes on from there
    after_key        text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    ready_at         timestamptz,                        -- since when it is whole, and searched
    PRIMARY KEY (index_name, generation),
    CONSTRAINT index_generations_position CHECK (num_nonnulls(seen, target) > 0),
    CONSTRAINT index_generations_ready CHECK (ready_at IS NULL OR seen IS NOT NULL)
);

-- Rows are locked in key order: two transactions that touch the same items then wait instead of deadlocking.
-- `are_gone` says of each whether it is gone for good; null, or no array at all, leaves that as it was.
CREATE FUNCTION mcp.log_change(changed_collection text, changed_ids text[], are_gone boolean[] DEFAULT NULL) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO mcp.index_changes AS logged (collection, item_id, is_deleted)
    SELECT changed_collection, changed.item_id, bool_or(changed.is_gone)
    FROM unnest(changed_ids, are_gone) AS changed (item_id, is_gone)
    WHERE changed.item_id IS NOT NULL
    GROUP BY changed.item_id
    ORDER BY changed.item_id
    ON CONFLICT (collection, item_id) DO UPDATE
    SET xid = excluded.xid, changed_at = excluded.changed_at,
        is_deleted = coalesce(excluded.is_deleted, logged.is_deleted)
$$;

-- What a position did not see (a snapshot): transactions that began after it, and those that were open in it. Neither half
-- repeats what the position saw, however long a transaction stays open (docs/adr/0034). A change from beyond this moment
-- came with a dump of another server, whose transactions had higher numbers.
--
-- Every search asks this. It is planned once in a connection, since planning took longer than the rest, and such a plan
-- must not depend on how few rows the table had when it was made, nor be compiled for how many it may have.
CREATE FUNCTION mcp.changes_unseen_at(seen text) RETURNS TABLE (collection text, item_id text, xid xid8)
LANGUAGE plpgsql STABLE ROWS 10
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY
    SELECT c.collection, c.item_id, c.xid FROM mcp.index_changes c
    WHERE c.xid >= pg_snapshot_xmax(seen::pg_snapshot) AND c.xid < pg_snapshot_xmax(pg_current_snapshot())
    UNION ALL
    SELECT c.collection, c.item_id, c.xid FROM mcp.index_changes c
    WHERE c.xid = ANY (string_to_array(split_part(seen, ':', 3), ',')::xid8[]);
END $$;

-- The same question for a yes or no, which reads one row of each half at most.
CREATE FUNCTION mcp.is_anything_unseen_at(seen text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM mcp.index_changes c
        WHERE c.xid >= pg_snapshot_xmax(seen::pg_snapshot) AND c.xid < pg_snapshot_xmax(pg_current_snapshot())
    ) OR EXISTS (
        SELECT FROM mcp.index_changes c
        WHERE c.xid = ANY (string_to_array(split_part(seen, ':', 3), ',')::xid8[])
    );
END $$;

-- TRUNCATE names no rows, so everything is read again.
CREATE FUNCTION mcp.start_new_epoch() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mcp.index_state SET epoch = gen_random_uuid(), pruned_to = '0';
    IF TG_TABLE_NAME = 'documents' THEN  -- all of them are gone for good
        UPDATE mcp.index_changes SET is_deleted = true WHERE is_deleted IS NOT TRUE;
    END IF;
    RETURN NULL;
END $$;

-- Searchable documents (docs/adr/0033): everything that is searched, of all kinds, one row each, and its vectors. Feed,
-- indexes, embedding and upkeep go over these two tables and know no kinds. A collection says by a function
-- `mcp.<collection>_documents(keys)` which of its rows are documents, whose, whether they are searched, and with what
-- payload; its texts come from the application, which cuts them.
CREATE TABLE mcp.documents (
    collection    text COLLATE "C" NOT NULL,
    key           text COLLATE "C" NOT NULL,
    org_id        text,                                  -- null: global, seen by every organisation
    is_searchable boolean NOT NULL,                      -- whether it is in the index
    texts         text[] NOT NULL,                       -- what is embedded: the whole of it, then views (docs/adr/0003)
    lexical_text  text NOT NULL,                         -- what words are looked for in
    text_hash     text NOT NULL,                         -- of both
    payload       jsonb NOT NULL,                        -- what the index filters by and answers with
    PRIMARY KEY (collection, key),
    CONSTRAINT documents_org_not_blank CHECK (org_id <> '')
);

-- One row for each document and model: of the current model, and of the next one while a change of model is under way.
-- Searching vectors in PostgreSQL is one more column, or an index, of this table.
CREATE TABLE mcp.document_vectors (
    collection text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    model      text NOT NULL,
    dimension  integer NOT NULL,
    text_hash  text NOT NULL,                            -- of the texts that the vector is of, or that wait for one
    embedding  bytea,                                    -- float32, little-endian; null until it could be made
    derived    bytea,                                    -- found by this instead: a skill by the mean of its tools
    refusal    text,                                     -- why there is none: the model does not take these texts
    PRIMARY KEY (collection, key, model, dimension),
    FOREIGN KEY (collection, key) REFERENCES mcp.documents ON DELETE CASCADE,
    CONSTRAINT document_vectors_whole CHECK (
        dimension > 0
        AND coalesce(octet_length(embedding), 4 * dimension) = 4 * dimension
        AND coalesce(octet_length(derived), 4 * dimension) = 4 * dimension),
    CONSTRAINT document_vectors_refused_has_none CHECK (refusal IS NULL OR embedding IS NULL)
);
-- What waits to be embedded, and what cannot be; both nearly always empty.
CREATE INDEX document_vectors_waiting ON mcp.document_vectors (collection, key)
    WHERE embedding IS NULL AND refusal IS NULL;
CREATE INDEX document_vectors_refused ON mcp.document_vectors (collection, key) WHERE refusal IS NOT NULL;

-- The models whose vectors are searched: by each process those that it can embed queries for.
CREATE FUNCTION mcp.searched_models() RETURNS TABLE (model text, dimension integer)
LANGUAGE sql STABLE AS $$
    SELECT embedding_model, embedding_dimension FROM mcp.index_state WHERE embedding_model IS NOT NULL
    UNION
    SELECT previous_model, previous_dimension FROM mcp.index_state WHERE previous_model IS NOT NULL
$$;

-- The models that vectors are kept of.
CREATE FUNCTION mcp.models_in_use() RETURNS TABLE (model text, dimension integer)
LANGUAGE sql STABLE AS $$
    SELECT * FROM mcp.searched_models()
    UNION
    SELECT next_model, next_dimension FROM mcp.index_state WHERE next_model IS NOT NULL
$$;

-- Wait for the end of all transactions that write vectors, and hold others up until the end of this one.
CREATE FUNCTION mcp.wait_for_vector_writers() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE mcp.document_vectors IN SHARE ROW EXCLUSIVE MODE;
END $$;

-- Documents are locked in the order of their keys, and only then read from their rows: what was committed while a
-- transaction waited for a lock is seen by its next statement.
CREATE FUNCTION mcp.lock_documents(of_collection text, keys text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    PERFORM FROM mcp.documents d
    WHERE d.collection = of_collection AND d.key = ANY (keys) ORDER BY d.key FOR NO KEY UPDATE;
END $$;

-- Bring documents up to their rows.
CREATE FUNCTION mcp.project_documents(of_collection text, keys text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF keys IS NULL THEN
        RETURN;
    END IF;
    PERFORM mcp.lock_documents(of_collection, keys);
    EXECUTE format('
        UPDATE mcp.documents d SET org_id = r.org_id, is_searchable = r.is_searchable, payload = r.payload
        FROM mcp.%I($2) r
        WHERE d.collection = $1 AND d.key = r.key
          AND (d.org_id, d.is_searchable, d.payload) IS DISTINCT FROM (r.org_id, r.is_searchable, r.payload)',
        of_collection || '_documents') USING of_collection, keys;
END $$;

-- Documents that say something else than their rows, or whose row is gone.
CREATE FUNCTION mcp.stale_documents(of_collection text, keys text[]) RETURNS SETOF text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY EXECUTE format('
        SELECT d.key FROM mcp.documents d
        LEFT JOIN mcp.%I($2) r ON r.key = d.key
        WHERE d.collection = $1 AND d.key = ANY ($2)
          AND (r.key IS NULL
               OR (d.org_id, d.is_searchable, d.payload) IS DISTINCT FROM (r.org_id, r.is_searchable, r.payload))',
        of_collection || '_documents') USING of_collection, keys;
END $$;

-- Write the texts of documents whose rows are there, with vectors of one model, or its refusals, or without. A vector of
-- the same texts stays; another one goes, unless `keep_derived`: then the document is found by it until the new one is
-- there. Returns which documents or vectors changed, which have a vector that is searched now, and which are refused.
CREATE FUNCTION mcp.put_documents(
    of_collection text, given json, of_model text, of_dimension integer, keep_derived boolean,
    OUT document_key text, OUT is_changed boolean, OUT is_embedded boolean, OUT is_refused boolean
) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    keys text[] := (SELECT array_agg(r.key) FROM json_to_recordset(given) AS r (key text));
    same_texts text[];
    written text[];
    with_vector text[];
BEGIN
    PERFORM mcp.lock_documents(of_collection, keys);
    same_texts := ARRAY(
        SELECT d.key FROM json_to_recordset(given) AS r (key text, texts text[])
        JOIN mcp.documents d ON d.collection = of_collection AND d.key = r.key AND d.texts = r.texts);
    EXECUTE format('
        WITH put AS (INSERT INTO mcp.documents AS d
            (collection, key, org_id, is_searchable, texts, lexical_text, text_hash, payload)
        SELECT $1, r.key, v.org_id, v.is_searchable, r.texts, r.lexical_text, r.text_hash, v.payload
        FROM json_to_recordset($2) AS r (key text, texts text[], lexical_text text, text_hash text)
        JOIN mcp.%I($3) v ON v.key = r.key
        ORDER BY r.key COLLATE "C"
        ON CONFLICT (collection, key) DO UPDATE SET
            org_id = excluded.org_id, is_searchable = excluded.is_searchable, payload = excluded.payload,
            texts = excluded.texts, lexical_text = excluded.lexical_text, text_hash = excluded.text_hash
        WHERE (d.org_id, d.is_searchable, d.payload, d.text_hash) IS DISTINCT FROM
              (excluded.org_id, excluded.is_searchable, excluded.payload, excluded.text_hash)
        RETURNING d.key)
        SELECT array_agg(key) FROM put',
        of_collection || '_documents') INTO written USING of_collection, given, keys;
    -- Who makes a model the first one waits, or is waited for: else these would have no row that waits for a vector of it.
    PERFORM FROM mcp.index_state WHERE embedding_model IS NULL FOR SHARE;
    WITH put AS (INSERT INTO mcp.document_vectors AS v (collection, key, model, dimension, text_hash, embedding, refusal)
    SELECT d.collection, d.key, m.model, m.dimension, d.text_hash,
           CASE WHEN (m.model, m.dimension) = (of_model, of_dimension) THEN decode(r.embedding, 'hex') END,
           CASE WHEN (m.model, m.dimension) = (of_model, of_dimension) THEN r.refusal END
    FROM json_to_recordset(given) AS r (key text, embedding text, refusal text)
    JOIN mcp.documents d ON d.collection = of_collection AND d.key = r.key
    CROSS JOIN mcp.models_in_use() m
    ORDER BY d.key
    ON CONFLICT (collection, key, model, dimension) DO UPDATE SET
        text_hash = excluded.text_hash,
        embedding = CASE WHEN excluded.embedding IS NOT NULL THEN excluded.embedding
                         WHEN v.key = ANY (same_texts) THEN v.embedding END,
        derived = CASE WHEN keep_derived AND num_nonnulls(excluded.embedding, excluded.refusal) = 0
                            AND v.key <> ALL (same_texts)
                       THEN coalesce(v.derived, v.embedding) ELSE v.derived END,
        refusal = CASE WHEN excluded.embedding IS NOT NULL THEN NULL
                       WHEN v.key <> ALL (same_texts) THEN excluded.refusal
                       WHEN v.embedding IS NULL THEN coalesce(excluded.refusal, v.refusal) END
    WHERE v.text_hash <> excluded.text_hash
       OR (excluded.embedding IS NOT NULL AND excluded.embedding IS DISTINCT FROM v.embedding)
       OR (excluded.refusal IS NOT NULL AND v.embedding IS NULL AND v.refusal IS NULL)
    RETURNING v.key)
    SELECT array_agg(put.key) INTO with_vector FROM put;
    RETURN QUERY SELECT k, k IN (SELECT unnest(written)) OR k IN (SELECT unnest(with_vector)), v.has_vector, v.is_refused
                 FROM unnest(keys) AS k CROSS JOIN LATERAL mcp.vector_state(of_collection, k) v;
END $$;

-- Whether a document is found by meaning, and whether it is not since a model that is searched refuses its texts. For
-- joins: PostgreSQL makes it part of their plan, where functions of one value start a query of their own for each row.
CREATE FUNCTION mcp.vector_state(of_collection text, of_key text) RETURNS TABLE (has_vector boolean, is_refused boolean)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(bool_or(v.embedding IS NOT NULL), false),
           coalesce(bool_or(v.refusal IS NOT NULL) AND NOT bool_or(v.embedding IS NOT NULL), false)
    FROM mcp.document_vectors v
    JOIN mcp.index_state s ON (s.embedding_model, s.embedding_dimension) = (v.model, v.dimension)
                           OR (s.previous_model, s.previous_dimension) = (v.model, v.dimension)
    WHERE v.collection = of_collection AND v.key = of_key
$$;

-- Rows of a slice's table that changed, or are gone: arguments are the collection and the column that is the key.
CREATE FUNCTION mcp.project_changed_rows() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    keys text[];
BEGIN
    EXECUTE format('SELECT array_agg(%I::text) FROM changed', TG_ARGV[1]) INTO keys;
    PERFORM mcp.project_documents(TG_ARGV[0], keys);
    RETURN NULL;
END $$;
CREATE FUNCTION mcp.delete_documents_of_rows() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    keys text[];
BEGIN
    EXECUTE format('SELECT array_agg(%I::text) FROM changed', TG_ARGV[1]) INTO keys;
    PERFORM mcp.lock_documents(TG_ARGV[0], keys);
    DELETE FROM mcp.documents d WHERE d.collection = TG_ARGV[0] AND d.key = ANY (keys);
    RETURN NULL;
END $$;
CREATE FUNCTION mcp.delete_documents_of_table() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mcp.documents d WHERE d.collection = TG_ARGV[0];
    UPDATE mcp.index_state SET epoch = gen_random_uuid(), pruned_to = '0';  -- it is quicker to read everything again
    RETURN NULL;
END $$;

-- Documents, and vectors that are searched, write the change feed.
CREATE FUNCTION mcp.log_document_changes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.log_change(c.collection, c.keys, c.are_gone)
    FROM (
        SELECT collection, array_agg(key) AS keys, array_agg(TG_OP = 'DELETE') AS are_gone
        FROM changed GROUP BY collection ORDER BY collection
    ) AS c;
    RETURN NULL;
END $$;
CREATE FUNCTION mcp.log_vector_changes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.log_change(c.collection, c.keys)
    FROM (
        SELECT v.collection, array_agg(v.key) AS keys
        FROM changed v
        JOIN mcp.index_state s ON (s.embedding_model, s.embedding_dimension) = (v.model, v.dimension)
                               OR (s.previous_model, s.previous_dimension) = (v.model, v.dimension)
        GROUP BY v.collection
        ORDER BY v.collection
    ) AS c;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_inserted AFTER INSERT ON mcp.documents
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_document_changes();
CREATE TRIGGER documents_updated AFTER UPDATE ON mcp.documents
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_document_changes();
CREATE TRIGGER documents_deleted AFTER DELETE ON mcp.documents
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_document_changes();
CREATE TRIGGER documents_truncated AFTER TRUNCATE ON mcp.documents
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.start_new_epoch();
CREATE TRIGGER vectors_inserted AFTER INSERT ON mcp.document_vectors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_vector_changes();
CREATE TRIGGER vectors_updated AFTER UPDATE ON mcp.document_vectors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_vector_changes();
CREATE TRIGGER vectors_truncated AFTER TRUNCATE ON mcp.document_vectors
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.start_new_epoch();
