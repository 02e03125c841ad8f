-- Search by meaning inside PostgreSQL (docs/adr/0061): the vectors of searched documents as pgvector's, what keeps points and
-- vectors in step with documents, and the lists that large collections are searched by. Applied by the first `migrate` that
-- finds the extension on the server; until then nothing here exists, and nothing follows documents.

CREATE EXTENSION IF NOT EXISTS vector;
SELECT set_config('search_path', current_setting('search_path') || ', ' || quote_ident(n.nspname), true)
FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';

CREATE TABLE mcp.search_vectors (
    collection text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    model      text NOT NULL,
    dimension  integer NOT NULL,
    org_id     text,
    filters    text[] NOT NULL,
    created_ts bigint,
    source     uuid NOT NULL,                            -- the hash of the bytes that it was made of
    dense      vector NOT NULL,
    PRIMARY KEY (collection, key, model, dimension)
);
CREATE INDEX search_vectors_org ON mcp.search_vectors (collection, org_id);
CREATE INDEX search_vectors_filters ON mcp.search_vectors USING gin (filters) WITH (fastupdate = off);
-- A page holds four of them; all of a row stays in it, where TOAST would cost a look-up for each.
ALTER TABLE mcp.search_vectors ALTER COLUMN dense SET STORAGE PLAIN;

-- float32, little-endian, read by arithmetic: 0.14 ms a vector of 384. PostgreSQL has no cast, and pgvector reads bytes only
-- from clients. Zero becomes 2 to the -127th.
CREATE FUNCTION mcp.to_vector(floats bytea) RETURNS vector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY(
        SELECT ((CASE WHEN get_byte(floats, 4 * i + 3) > 127 THEN -1 ELSE 1 END)
                * ((get_byte(floats, 4 * i + 2) | 128) * 65536 + get_byte(floats, 4 * i + 1) * 256 + get_byte(floats, 4 * i))
                * power(2::float8, ((get_byte(floats, 4 * i + 3) & 127) * 2 + (get_byte(floats, 4 * i + 2) >> 7)) - 150)
               )::real
        FROM generate_series(0, octet_length(floats) / 4 - 1) AS i)::vector
$$;

-- What writes points is planned anew each time: an import begins with empty tables, and a plan that was kept for these would
-- join all of the rows for each key.

-- Bring the vectors of points up to their documents. Who calls it holds the documents' locks.
CREATE FUNCTION mcp.put_search_vectors(of_collection text, keys text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan SET jit = off AS $$
BEGIN
    DELETE FROM mcp.search_vectors s
    WHERE s.collection = of_collection AND s.key = ANY (keys) AND NOT EXISTS (
        SELECT FROM mcp.search_points p
        JOIN mcp.document_vectors v ON (v.collection, v.key) = (p.collection, p.key)
        WHERE p.collection = s.collection AND p.key = s.key AND p.is_searchable
          AND (v.model, v.dimension) = (s.model, s.dimension) AND num_nonnulls(v.derived, v.embedding) > 0);
    WITH current AS MATERIALIZED (
        SELECT v.collection, v.key, v.model, v.dimension, p.org_id, p.filters, p.created_ts,
               coalesce(v.derived, v.embedding) AS floats, md5(coalesce(v.derived, v.embedding))::uuid AS source
        FROM mcp.document_vectors v
        JOIN mcp.search_points p ON (p.collection, p.key) = (v.collection, v.key)
        WHERE v.collection = of_collection AND v.key = ANY (keys) AND num_nonnulls(v.derived, v.embedding) > 0
          AND p.is_searchable
    ), other AS MATERIALIZED (  -- rows that change, of which only other bytes are read again
        SELECT c.*, CASE WHEN s.source = c.source THEN s.dense ELSE mcp.to_vector(c.floats) END AS dense
        FROM current c
        LEFT JOIN mcp.search_vectors s
          ON (s.collection, s.key, s.model, s.dimension) = (c.collection, c.key, c.model, c.dimension)
        WHERE s.key IS NULL OR (s.org_id, s.filters, s.created_ts, s.source)
              IS DISTINCT FROM (c.org_id, c.filters, c.created_ts, c.source)
    )
    INSERT INTO mcp.search_vectors (collection, key, model, dimension, org_id, filters, created_ts, source, dense)
    SELECT collection, key, model, dimension, org_id, filters, created_ts, source, dense FROM other
    ORDER BY key, model, dimension
    ON CONFLICT (collection, key, model, dimension) DO UPDATE SET
        org_id = excluded.org_id, filters = excluded.filters, created_ts = excluded.created_ts,
        source = excluded.source, dense = excluded.dense;
END $$;

-- Take the words of points out of the postings.
CREATE FUNCTION mcp.delete_search_postings(points bigint[]) RETURNS void
LANGUAGE sql SET plan_cache_mode = force_custom_plan SET jit = off AS $$
    DELETE FROM mcp.search_postings s
    USING (SELECT p.id, p.owner, unnest(p.terms) AS term FROM mcp.search_points p WHERE p.id = ANY (points)) AS gone
    WHERE (s.term, s.owner, s.point) = (gone.term, gone.owner, gone.id)
$$;

-- Put their words there.
CREATE FUNCTION mcp.put_search_postings(points bigint[]) RETURNS void
LANGUAGE sql SET plan_cache_mode = force_custom_plan SET jit = off AS $$
    INSERT INTO mcp.search_postings (term, owner, point, impact)
    SELECT t.term, p.owner, p.id, t.impact
    FROM mcp.search_points p CROSS JOIN LATERAL unnest(p.terms, p.impacts) AS t (term, impact)
    WHERE p.id = ANY (points)
    ORDER BY 1, 2, 3
$$;

-- Bring points up to their documents, one for each. The words of another text are to be cut anew, by the application. Who
-- calls it holds the documents' locks.
CREATE FUNCTION mcp.put_search_points(of_collection text, keys text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
    gone bigint[] := ARRAY(
        SELECT p.id FROM mcp.search_points p
        WHERE p.collection = of_collection AND p.key = ANY (keys)
          AND NOT EXISTS (SELECT FROM mcp.documents d WHERE d.collection = p.collection AND d.key = p.key));
    changed bigint[] := ARRAY(
        SELECT p.id FROM mcp.search_points p JOIN mcp.documents d ON (d.collection, d.key) = (p.collection, p.key)
        WHERE p.collection = of_collection AND p.key = ANY (keys) AND p.terms IS NOT NULL
          AND (p.text_hash, p.owner) <> (d.text_hash, mcp.posting_owner(d.collection, d.payload ->> 'org_id')));
BEGIN
    IF gone || changed <> '{}' THEN
        PERFORM mcp.delete_search_postings(gone || changed);
        DELETE FROM mcp.search_points p WHERE p.id = ANY (gone);
    END IF;
    INSERT INTO mcp.search_points AS p
        (collection, key, is_searchable, org_id, filters, created_ts, text_hash, owner)
    SELECT d.collection, d.key, d.is_searchable, d.payload ->> 'org_id', mcp.search_filters(d.collection, d.payload),
           CASE jsonb_typeof(d.payload -> 'created_ts') WHEN 'number' THEN (d.payload ->> 'created_ts')::numeric::bigint END,
           d.text_hash, mcp.posting_owner(d.collection, d.payload ->> 'org_id')
    FROM mcp.documents d
    WHERE d.collection = of_collection AND d.key = ANY (keys)
    ORDER BY d.key
    ON CONFLICT (collection, key) DO UPDATE SET
        is_searchable = excluded.is_searchable, org_id = excluded.org_id, filters = excluded.filters,
        created_ts = excluded.created_ts, text_hash = excluded.text_hash, owner = excluded.owner,
        terms = CASE WHEN p.text_hash = excluded.text_hash THEN p.terms END,
        impacts = CASE WHEN p.text_hash = excluded.text_hash THEN p.impacts END
    WHERE (p.is_searchable, p.org_id, p.filters, p.created_ts, p.text_hash, p.owner) IS DISTINCT FROM
          (excluded.is_searchable, excluded.org_id, excluded.filters, excluded.created_ts, excluded.text_hash,
           excluded.owner);
    IF changed <> '{}' THEN
        PERFORM mcp.put_search_postings(changed);
    END IF;
    PERFORM mcp.put_search_vectors(of_collection, keys);
END $$;

-- Documents whose point, or whose vectors, say something else, or that have none; and points without a document.
CREATE FUNCTION mcp.stale_search_points(of_collection text, keys text[]) RETURNS SETOF text
LANGUAGE sql STABLE SET jit = off AS $$
    SELECT k.key FROM unnest(keys) AS k (key)
    LEFT JOIN mcp.documents d ON d.collection = of_collection AND d.key = k.key
    LEFT JOIN mcp.search_points p ON p.collection = of_collection AND p.key = k.key
    WHERE (p.is_searchable, p.org_id, p.filters, p.text_hash, p.owner) IS DISTINCT FROM
          (d.is_searchable, d.payload ->> 'org_id',
           CASE WHEN d.key IS NOT NULL THEN mcp.search_filters(d.collection, d.payload) END, d.text_hash,
           CASE WHEN d.key IS NOT NULL THEN mcp.posting_owner(d.collection, d.payload ->> 'org_id') END)
    UNION
    SELECT coalesce(s.key, v.key)
    FROM (SELECT e.key, e.model, e.dimension, md5(coalesce(e.derived, e.embedding))::uuid AS source
          FROM mcp.document_vectors e
          JOIN mcp.search_points p ON (p.collection, p.key) = (e.collection, e.key) AND p.is_searchable
          WHERE e.collection = of_collection AND e.key = ANY (keys) AND num_nonnulls(e.derived, e.embedding) > 0) AS v
    FULL JOIN (SELECT s.key, s.model, s.dimension, s.source, s.org_id, s.filters FROM mcp.search_vectors s
               WHERE s.collection = of_collection AND s.key = ANY (keys)) AS s
      ON (s.key, s.model, s.dimension) = (v.key, v.model, v.dimension)
    LEFT JOIN mcp.search_points p ON p.collection = of_collection AND p.key = s.key
    WHERE s.source IS DISTINCT FROM v.source OR (s.org_id, s.filters) IS DISTINCT FROM (p.org_id, p.filters)
$$;

-- Give points the words that the application has cut, of the text that the document still has.
CREATE FUNCTION mcp.set_search_words(of_collection text, given json) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
    cut bigint[];
BEGIN
    WITH updated AS (
        UPDATE mcp.search_points p SET terms = r.terms, impacts = r.impacts
        FROM json_to_recordset(given) AS r (key text, text_hash text, terms integer[], impacts real[])
        WHERE p.collection = of_collection AND p.key = r.key AND p.text_hash = r.text_hash AND p.terms IS NULL
        RETURNING p.id
    )
    SELECT array_agg(id) INTO cut FROM updated;
    PERFORM mcp.put_search_postings(cut);
END $$;

-- From now on points follow documents. Who writes meanwhile, and knows nothing of it, is waited for, but not for long: others
-- wait behind. The next one tries again.
CREATE FUNCTION mcp.keep_search_points() RETURNS void
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
BEGIN
    LOCK TABLE mcp.documents, mcp.document_vectors IN SHARE ROW EXCLUSIVE MODE;
    UPDATE mcp.search_state SET is_kept = true WHERE NOT is_kept;
END $$;

-- The next points to fill, in the order of documents; where there are none left, all are there.
CREATE FUNCTION mcp.fill_search_points(most integer, OUT filled_collection text, OUT filled_keys text[])
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
    state mcp.search_state;
BEGIN
    SELECT * INTO state FROM mcp.search_state WHERE is_kept AND filled_at IS NULL FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT d.collection INTO filled_collection FROM mcp.documents d
    WHERE (d.collection, d.key) > (state.after_collection, state.after_key) ORDER BY d.collection, d.key LIMIT 1;
    IF filled_collection IS NULL THEN
        UPDATE mcp.search_state SET filled_at = clock_timestamp();
        RETURN;
    END IF;
    filled_keys := ARRAY(
        SELECT d.key FROM mcp.documents d
        WHERE d.collection = filled_collection
          AND (d.collection, d.key) > (state.after_collection, state.after_key)
        ORDER BY d.key LIMIT most);
    PERFORM mcp.lock_documents(filled_collection, filled_keys);
    PERFORM mcp.put_search_points(filled_collection, filled_keys);
    UPDATE mcp.search_state SET after_collection = filled_collection, after_key = filled_keys[cardinality(filled_keys)];
END $$;

-- Where the extension is gone, as after a restore into a server that lacks it, writes go on without points.
CREATE FUNCTION mcp.keeps_search_points() RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT is_kept AND EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') FROM mcp.search_state
$$;

-- Documents and vectors write their points in the same statement, so what is committed is found.
CREATE FUNCTION mcp.follow_documents() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    each record;
BEGIN
    IF mcp.keeps_search_points() THEN
        FOR each IN SELECT c.collection, array_agg(c.key) AS keys FROM changed c GROUP BY c.collection ORDER BY 1 LOOP
            PERFORM mcp.put_search_points(each.collection, each.keys);
        END LOOP;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION mcp.follow_vectors() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    each record;
BEGIN
    IF mcp.keeps_search_points() THEN
        FOR each IN SELECT c.collection, array_agg(c.key) AS keys FROM changed c GROUP BY c.collection ORDER BY 1 LOOP
            PERFORM mcp.put_search_vectors(each.collection, each.keys);
        END LOOP;
    END IF;
    RETURN NULL;
END $$;
-- By the row: it also follows each document that is deleted, whose point has gone already.
CREATE FUNCTION mcp.follow_deleted_vectors() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT mcp.keeps_search_points() THEN
        RETURN NULL;
    END IF;
    DELETE FROM mcp.search_vectors s USING changed c
    WHERE (s.collection, s.key, s.model, s.dimension) = (c.collection, c.key, c.model, c.dimension);
    RETURN NULL;
END $$;
CREATE FUNCTION mcp.follow_truncated() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT mcp.keeps_search_points() THEN
        RETURN NULL;
    END IF;
    DELETE FROM mcp.search_vectors;
    IF TG_TABLE_NAME = 'documents' THEN
        DELETE FROM mcp.search_postings;
        DELETE FROM mcp.search_points;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_searched_inserted AFTER INSERT ON mcp.documents
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_documents();
CREATE TRIGGER documents_searched_updated AFTER UPDATE ON mcp.documents
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_documents();
CREATE TRIGGER documents_searched_deleted AFTER DELETE ON mcp.documents
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_documents();
CREATE TRIGGER documents_searched_truncated AFTER TRUNCATE ON mcp.documents
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_truncated();
CREATE TRIGGER vectors_searched_inserted AFTER INSERT ON mcp.document_vectors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_vectors();
CREATE TRIGGER vectors_searched_updated AFTER UPDATE ON mcp.document_vectors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_vectors();
CREATE TRIGGER vectors_searched_deleted AFTER DELETE ON mcp.document_vectors
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_deleted_vectors();
CREATE TRIGGER vectors_searched_truncated AFTER TRUNCATE ON mcp.document_vectors
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.follow_truncated();

-- Large collections are searched by lists (IVF): an index of halves in so many lists of what is alike. Its name says of
-- which collection, dimension and number of lists it is.
CREATE FUNCTION mcp.search_lists(of_collection text, of_dimension integer) RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT max(split_part(c.relname, '_', 5)::integer)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = 'mcp.search_vectors'::regclass AND i.indisvalid
      AND c.relname LIKE format('search\_lists\_%s\_%s\_%%', left(md5(of_collection), 8), of_dimension)
$$;

-- The points nearest to each of some vectors, by cosine. Few are read all, and so exactly; of many the lists nearest to the
-- vector: the more of them, the fewer of what is read passes.
CREATE FUNCTION mcp.nearest_points(
    asked jsonb, of_model text, of_dimension integer, vectors text[], most bigint
) RETURNS TABLE (place bigint, key text, score float8)
LANGUAGE plpgsql STABLE SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    narrowed text := mcp.search_where(asked) || format(' AND p.model = %L AND p.dimension = %s', of_model, of_dimension);
    lists integer;
    probes integer;
    passing bigint;
    total bigint;
BEGIN
    IF NOT asked ? 'keys' THEN
        lists := mcp.search_lists(asked ->> 'collection', of_dimension);
    END IF;
    IF lists IS NOT NULL THEN
        SELECT * INTO total, passing FROM mcp.count_about('search_vectors', format(
            'p.collection = %L AND p.dimension = %s', asked ->> 'collection', of_dimension), narrowed);
        probes := least(lists, ceil(25 * lists ^ 0.25 * sqrt(greatest(total, 1)::float8 / greatest(passing, 1))));
        -- A row that is read alone costs three times one in a list; what others have is in the lists as well.
        IF passing > 15000 AND 3 * passing > total::float8 * probes / lists THEN
            RETURN QUERY SELECT * FROM mcp.nearest_in_lists(narrowed, of_dimension, vectors, most, probes);
            RETURN;
        END IF;
    END IF;
    RETURN QUERY EXECUTE format('
        SELECT q.place, f.key, f.score
        FROM unnest($1) WITH ORDINALITY AS q (asked, place)
        CROSS JOIN LATERAL (SELECT q.asked::vector AS vector OFFSET 0) AS v
        CROSS JOIN LATERAL (
            SELECT p.key, 1 - (p.dense <=> v.vector) AS score FROM mcp.search_vectors p
            WHERE %s ORDER BY p.dense <=> v.vector LIMIT $2) AS f', narrowed) USING vectors, most;
END $$;
CREATE FUNCTION mcp.nearest_in_lists(
    narrowed text, of_dimension integer, vectors text[], most bigint, probes integer
) RETURNS TABLE (place bigint, key text, score float8)
LANGUAGE plpgsql STABLE
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET max_parallel_workers_per_gather = 0 SET ivfflat.iterative_scan = relaxed_order SET ivfflat.probes = 1 AS $$
BEGIN
    PERFORM set_config('ivfflat.probes', probes::text, true);
    -- Halves tell what is near; a few more of them, so that the order is that of whole numbers.
    RETURN QUERY EXECUTE format('
        SELECT q.place, f.key, f.score
        FROM unnest($1) WITH ORDINALITY AS q (asked, place)
        CROSS JOIN LATERAL (SELECT q.asked::vector AS vector OFFSET 0) AS v
        CROSS JOIN LATERAL (
            SELECT n.key, 1 - (n.dense <=> v.vector) AS score
            FROM (SELECT p.key, p.dense FROM mcp.search_vectors p
                  WHERE %s ORDER BY p.dense::halfvec(%s) <=> v.vector::halfvec(%2$s) LIMIT $2 + 50) AS n
            ORDER BY 2 DESC LIMIT $2) AS f', narrowed, of_dimension) USING vectors, most;
END $$;

-- Build the lists of a collection, or finer ones when it has grown; tell whether that was done. Writers of vectors wait for
-- it, searches do not. The owner does it on behalf of whoever writes. Those before are dropped by the next call.
CREATE FUNCTION mcp.build_search_lists(of_collection text, of_dimension integer, most bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    vectors bigint;
    lists integer := mcp.search_lists(of_collection, of_dimension);
    -- k-means keeps a number for each pair of a sample and a list, and there are fifty samples for each.
    memory bigint := greatest(pg_size_bytes(current_setting('maintenance_work_mem')), 256 * 1024 * 1024);
    wanted integer;
    home text := (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                  WHERE e.extname = 'vector');
    older text;
BEGIN
    FOR older IN
        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'mcp.search_vectors'::regclass
          AND c.relname LIKE format('search\_lists\_%s\_%s\_%%', left(md5(of_collection), 8), of_dimension)
          AND split_part(c.relname, '_', 5)::integer <> lists
    LOOP
        EXECUTE format('DROP INDEX mcp.%I', older);
    END LOOP;
    IF of_dimension > 4000 THEN  -- more than pgvector has lists of
        RETURN false;
    END IF;
    SELECT count(*) INTO vectors FROM mcp.search_vectors s
    WHERE s.collection = of_collection AND s.dimension = of_dimension;
    wanted := least(vectors / 100, sqrt(memory / 250.0)::integer);
    IF vectors < 15000 OR vectors > most OR wanted < 1.6 * coalesce(lists, 0) THEN
        RETURN false;
    END IF;
    PERFORM set_config('maintenance_work_mem', (memory / 1024)::text, true);
    EXECUTE format(
        'CREATE INDEX %1$I ON mcp.search_vectors '
        'USING ivfflat ((dense::%2$s.halfvec(%3$s)) %2$s.halfvec_cosine_ops) WITH (lists = %4$s) '
        'WHERE collection = %5$L AND dimension = %3$s',
        format('search_lists_%s_%s_%s', left(md5(of_collection), 8), of_dimension, wanted),
        home, of_dimension, wanted, of_collection);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION mcp.build_search_lists FROM PUBLIC;

-- Who searches finds pgvector wherever it was installed.
DO $$
DECLARE
    home text := (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                  WHERE e.extname = 'vector');
    each regprocedure;
BEGIN
    FOR each IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'mcp'::regnamespace
          AND p.proname IN ('to_vector', 'put_search_vectors', 'nearest_points', 'nearest_in_lists')
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_catalog', each, home);
    END LOOP;
END $$;
