-- What is searched inside PostgreSQL (docs/adr/0061): a point for each document, and what words say of it. Vectors are beside
-- them where the server has pgvector (vector/0001_nearest.sql), and nothing is kept without.

-- One row: whether points follow documents, and how far they were filled for those that were there before.
CREATE TABLE mcp.search_state (
    only_row         boolean PRIMARY KEY DEFAULT true,
    is_kept          boolean NOT NULL DEFAULT false,
    after_collection text COLLATE "C" NOT NULL DEFAULT '',
    after_key        text COLLATE "C" NOT NULL DEFAULT '',
    filled_at        timestamptz,                        -- since when there is one for each document; null before
    lists_tried_at   timestamptz,                        -- when finer lists were last begun
    CONSTRAINT search_state_only_row CHECK (only_row),
    CONSTRAINT search_state_filled_is_kept CHECK (is_kept OR filled_at IS NULL)
);
INSERT INTO mcp.search_state DEFAULT VALUES;

CREATE SEQUENCE mcp.search_point_ids;
CREATE TABLE mcp.search_points (
    id         bigint PRIMARY KEY DEFAULT nextval('mcp.search_point_ids'),
    collection text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    is_searchable boolean NOT NULL,                      -- as the document; its words stay while it is not
    org_id     text,                                     -- as the payload has it: '' is global
    filters    text[] NOT NULL,                          -- what searches filter by: field=value
    created_ts bigint,                                   -- the one field that ranges are asked of
    text_hash  text NOT NULL,                            -- of the document, whose words these are
    owner      integer NOT NULL,                         -- stands for collection and organisation in the postings
    terms      integer[],                                -- the places of its words (index/bm25.py); null: to be cut
    impacts    real[],                                   -- and how much each says of it
    CONSTRAINT search_points_key UNIQUE (collection, key),
    CONSTRAINT search_points_words_whole CHECK (cardinality(terms) IS NOT DISTINCT FROM cardinality(impacts))
);
CREATE INDEX search_points_org ON mcp.search_points (collection, org_id);
CREATE INDEX search_points_filters ON mcp.search_points USING gin (filters) WITH (fastupdate = off);
-- What the application has still to cut; nearly always empty.
CREATE INDEX search_points_waiting ON mcp.search_points (collection, key) WHERE terms IS NULL;

-- A word of a point. They lie together by word and organisation: what others have is never read.
CREATE TABLE mcp.search_postings (
    term   integer NOT NULL,
    owner  integer NOT NULL,
    point  bigint NOT NULL,
    impact real NOT NULL,
    PRIMARY KEY (term, owner, point) INCLUDE (impact)
);

-- How collection and organisation stand in the postings. Two that meet in one number are told apart by the point.
CREATE FUNCTION mcp.posting_owner(of_collection text, of_org text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || left(md5(of_collection || '/' || coalesce(of_org, '')), 8))::bit(32)::integer
$$;

-- What of a payload searches filter by, as field=value (core/documents/index/schema.py names the fields).
CREATE FUNCTION mcp.search_filters(of_collection text, payload jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(DISTINCT f.name || '=' || v.value ORDER BY f.name || '=' || v.value), '{}')
    FROM unnest(CASE of_collection
        WHEN 'mcp_unified_search' THEN '{org_id,type,server,skill_keys,name_key}'
        WHEN 'mcp_skills' THEN '{org_id,hidden_from}'
        WHEN 'mcp_registry' THEN '{org_id,kind,is_enabled,tags,entity_id,path}'
        WHEN 'mcp_mail' THEN
            '{org_id,kind,project_ids,importance,sender,recipients,parties,thread_id,ack_required}'
        ELSE '{org_id}' END::text[]) AS f (name)
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(payload -> f.name) WHEN 'array' THEN payload -> f.name
             ELSE jsonb_build_array(payload -> f.name) END) AS e (value)
    CROSS JOIN LATERAL (SELECT e.value #>> '{}' AS value) AS v
    WHERE jsonb_typeof(e.value) = 'string'
$$;

-- A filter, as the application asks it, as a condition on p: a point, or a vector. Every value is quoted.
CREATE FUNCTION mcp.search_where(asked jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    conditions text[] := ARRAY[format('p.collection = %L', asked ->> 'collection')];
    each jsonb;
BEGIN
    IF asked ? 'orgs' THEN
        conditions := conditions || format('p.org_id = ANY (%L::text[])', mcp.texts_of(asked -> 'orgs'));
    END IF;
    IF asked ? 'keys' THEN
        conditions := conditions || format('p.key = ANY (%L::text[])', mcp.texts_of(asked -> 'keys'));
    END IF;
    FOR each IN SELECT jsonb_array_elements(asked -> 'any') LOOP
        conditions := conditions || format('p.filters && %L::text[]', mcp.texts_of(each));
    END LOOP;
    FOR each IN SELECT jsonb_array_elements(asked -> 'none') LOOP
        conditions := conditions || format('NOT p.filters && %L::text[]', mcp.texts_of(each));
    END LOOP;
    IF asked ? 'created' THEN
        conditions := conditions || format('p.created_ts BETWEEN %s AND %s',
            coalesce(asked -> 'created' ->> 0, '-9223372036854775808')::bigint,
            coalesce(asked -> 'created' ->> 1, '9223372036854775807')::bigint);
    END IF;
    -- Fields that no search of Skillroute's own asks for are read from the payload.
    FOR each IN SELECT jsonb_array_elements(asked -> 'other') LOOP
        conditions := conditions || format(
            CASE WHEN (each ->> 2)::boolean THEN 'NOT ' ELSE '' END ||
            'EXISTS (SELECT FROM mcp.documents d WHERE d.collection = p.collection AND d.key = p.key '
            'AND jsonb_typeof(d.payload -> %L) <> ''object'' AND d.payload -> %1$L ?| %2$L::text[])',
            each ->> 0, mcp.texts_of(each -> 1));
    END LOOP;
    IF (asked ->> 'nothing')::boolean THEN
        conditions := conditions || 'false'::text;
    END IF;
    RETURN array_to_string(conditions, ' AND ');
END $$;
CREATE FUNCTION mcp.texts_of(listed jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY(SELECT jsonb_array_elements_text(listed))
$$;

-- About how many rows pass a condition, and how many of those another one as well, of which a few pages tell: the same pages
-- each time, so that a search that is repeated goes the same way.
CREATE FUNCTION mcp.count_about(of_table text, first text, second text, OUT passing_first bigint, OUT passing_both bigint)
LANGUAGE plpgsql STABLE SET jit = off AS $$
DECLARE
    total float8;
    sampled bigint;
BEGIN
    SELECT CASE WHEN c.relpages > 0 THEN c.reltuples / c.relpages ELSE 4 END
           * (pg_relation_size(c.oid) / current_setting('block_size')::int) INTO total
    FROM pg_class c WHERE c.oid = ('mcp.' || of_table)::regclass;
    EXECUTE format('
        SELECT count(*), count(*) FILTER (WHERE %s), count(*) FILTER (WHERE %1$s AND %2$s)
        FROM mcp.%3$I p TABLESAMPLE SYSTEM (%4$s) REPEATABLE (7)',
        first, second, of_table, least(100, 150000 / greatest(total, 1))) INTO sampled, passing_first, passing_both;
    passing_first := passing_first * total / greatest(sampled, 1);
    passing_both := passing_both * total / greatest(sampled, 1);
END $$;

-- Keys in their order: numbers first, as numbers, then all others as text (core/documents/index/schema.py).
CREATE FUNCTION mcp.key_number(of_key text) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN of_key ~ '^(0|[1-9][0-9]{0,19})$' THEN
        CASE WHEN of_key::numeric <= 18446744073709551615 THEN of_key::numeric END END
$$;
CREATE FUNCTION mcp.match_points(asked jsonb, most bigint) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET jit = off AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT p.key FROM mcp.search_points p WHERE p.is_searchable AND %s ORDER BY mcp.key_number(p.key), p.key LIMIT $1',
        mcp.search_where(asked)) USING most;
END $$;
CREATE FUNCTION mcp.count_points(asked jsonb) RETURNS bigint
LANGUAGE plpgsql STABLE SET jit = off AS $$
DECLARE
    found bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM mcp.search_points p WHERE p.is_searchable AND %s', mcp.search_where(asked))
        INTO found;
    RETURN found;
END $$;

-- The points that have one of some terms, best first by the sum of weight times impact.
CREATE FUNCTION mcp.points_by_words(asked jsonb, of_terms integer[], weights float8[], most bigint)
RETURNS TABLE (key text, score float8)
LANGUAGE plpgsql STABLE SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    narrowed text := 'p.is_searchable AND ' || mcp.search_where(asked);
    -- With the organisations, the postings of others are not read.
    own text := CASE WHEN asked ? 'orgs' THEN format('AND s.owner = ANY (%L::integer[])', ARRAY(
        SELECT mcp.posting_owner(asked ->> 'collection', o) FROM unnest(mcp.texts_of(asked -> 'orgs')) AS o)) ELSE '' END;
    -- What is asked beside whose they are, which the postings know.
    is_narrow boolean := asked ? 'created' OR asked -> 'any' <> '[]' OR asked -> 'none' <> '[]' OR asked -> 'other' <> '[]';
    total bigint;
    passing bigint;
BEGIN
    IF is_narrow AND NOT asked ? 'keys' THEN
        SELECT * INTO total, passing FROM mcp.count_about('search_points', mcp.search_where(
            jsonb_build_object('any', '[]'::jsonb, 'none', '[]'::jsonb, 'other', '[]'::jsonb)
            || jsonb_strip_nulls(jsonb_build_object('collection', asked -> 'collection', 'orgs', asked -> 'orgs'))),
            narrowed);
        -- As many would have to be looked at from the best on before enough of them pass.
        is_narrow := passing::float8 * passing < 4.0 * most * total;
    END IF;
    IF asked ? 'keys' THEN  -- of a few points that are known, their own words are added up
        RETURN QUERY EXECUTE format('
            SELECT p.key, s.score FROM mcp.search_points p
            CROSS JOIN LATERAL (
                SELECT sum(t.impact::float8 * q.weight) AS score
                FROM unnest(p.terms, p.impacts) AS t (term, impact)
                JOIN unnest($1, $2) AS q (term, weight) ON q.term = t.term) AS s
            WHERE %s AND p.terms && $1 ORDER BY s.score DESC LIMIT $3', narrowed) USING of_terms, weights, most;
    ELSIF is_narrow THEN
        -- Few pass, so they are read first, and what has a word is looked up among them.
        RETURN QUERY EXECUTE format('
            WITH passing AS MATERIALIZED (SELECT p.id, p.key FROM mcp.search_points p WHERE %2$s)
            SELECT min(f.key), sum(s.impact::float8 * q.weight) AS score
            FROM unnest($1, $2) AS q (term, weight)
            JOIN mcp.search_postings s ON s.term = q.term %1$s
            JOIN passing f ON f.id = s.point
            GROUP BY s.point ORDER BY 2 DESC LIMIT $3', own, narrowed)
            USING of_terms, weights, most;
    ELSE
        RETURN QUERY EXECUTE format('
            SELECT p.key, s.score FROM (
                SELECT s.point, sum(s.impact::float8 * q.weight) AS score
                FROM unnest($1, $2) AS q (term, weight) JOIN mcp.search_postings s ON s.term = q.term %s
                GROUP BY s.point ORDER BY 2 DESC) AS s
            JOIN mcp.search_points p ON p.id = s.point AND %s ORDER BY s.score DESC LIMIT $3', own, narrowed)
            USING of_terms, weights, most;
    END IF;
END $$;
