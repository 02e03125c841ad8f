-- Which registered server an item means by its `server`: by the path without its slash, by a name or title in whatever
-- case, or by the last segment of the path or name. What may mean several means none. Both sides stay within one
-- organisation, or are global: the words of a global server are seen by all.

-- What names are compared by: lower case, without slashes at the ends, a dash for blanks.
CREATE FUNCTION mcp.server_key(name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lower(regexp_replace(btrim(name, E' \t\n\r/'), '\s+', '-', 'g'))
$$;

CREATE FUNCTION mcp.server_keys_of(path text, name text, document json) RETURNS TABLE (key text, rank smallint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT k.key, min(k.rank)::smallint
    FROM unnest(ARRAY[path, document ->> 'name', document -> 'server' ->> 'name', name]) WITH ORDINALITY AS n (name, nth)
    CROSS JOIN LATERAL (
        SELECT mcp.server_key(n.name) AS key, 1 AS rank
        UNION ALL
        -- A title is no path: "TCP/IP" has no last segment.
        SELECT regexp_replace(mcp.server_key(n.name), '^.*/', ''), 2 WHERE n.nth < 4
    ) k
    WHERE k.key <> ''
    GROUP BY k.key
$$;

-- What each registered server is called; of rank 1 in full, of rank 2 by its last segment.
CREATE TABLE mcp.server_keys (
    entity_id bigint NOT NULL REFERENCES mcp.registry_entities (id) ON DELETE CASCADE,
    key       text NOT NULL,
    rank      smallint NOT NULL,
    org_id    text,
    PRIMARY KEY (entity_id, key)
);
CREATE INDEX server_keys_key ON mcp.server_keys (key);

-- What items have as their `server`, each spelling once, and which server that is.
CREATE TABLE mcp.named_servers (
    org_id       text,
    server       text NOT NULL,
    key          text NOT NULL,
    entity_id    bigint,                                 -- null: none is registered, or several may be meant
    is_ambiguous boolean NOT NULL DEFAULT false,
    CONSTRAINT named_servers_key UNIQUE NULLS NOT DISTINCT (server, org_id)
);
CREATE INDEX named_servers_by_key ON mcp.named_servers (key);
CREATE INDEX named_servers_entity ON mcp.named_servers (entity_id) WHERE entity_id IS NOT NULL;

CREATE FUNCTION mcp.server_meant(of_org text, named text, OUT entity_id bigint, OUT is_ambiguous boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN count(*) = 1 THEN min(c.id) END, count(*) > 1
    FROM (
        SELECT f.id, f.rank, min(f.rank) OVER () AS best
        FROM (
            SELECT e.id, 0 AS rank FROM mcp.registry_entities e
            WHERE e.kind = 'server' AND e.path = '/' || named AND e.org_id IS NOT DISTINCT FROM of_org
            UNION ALL
            SELECT k.entity_id, k.rank FROM mcp.server_keys k
            WHERE k.key = mcp.server_key(named) AND k.org_id IS NOT DISTINCT FROM of_org
        ) f
    ) c
    WHERE c.rank = c.best
$$;

-- Items of disabled servers are inactive. They are locked by id before they are written, as by everybody.
CREATE FUNCTION mcp.follow_named_servers(of_org text, names text[]) RETURNS void
LANGUAGE sql AS $$
    WITH locked AS MATERIALIZED (
        SELECT t.id FROM mcp.tools t
        WHERE t.server = ANY (names) AND t.org_id IS NOT DISTINCT FROM of_org
          AND t.is_active = (t.is_switched_off OR EXISTS (
              SELECT FROM mcp.named_servers n JOIN mcp.registry_entities e ON e.id = n.entity_id
              WHERE n.server = t.server AND n.org_id IS NOT DISTINCT FROM of_org AND NOT e.is_enabled))
        ORDER BY t.id
        FOR NO KEY UPDATE
    )
    UPDATE mcp.tools t SET is_active = NOT t.is_active FROM locked WHERE t.id = locked.id
$$;

-- Look again which servers are meant by names of these keys.
CREATE FUNCTION mcp.link_servers(of_org text, keys text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mcp.named_servers n SET entity_id = m.entity_id, is_ambiguous = m.is_ambiguous
    FROM mcp.named_servers f
    CROSS JOIN LATERAL mcp.server_meant(f.org_id, f.server) m
    WHERE f.key = ANY (keys) AND f.org_id IS NOT DISTINCT FROM of_org
      AND n.server = f.server AND n.org_id IS NOT DISTINCT FROM f.org_id
      AND (n.entity_id, n.is_ambiguous) IS DISTINCT FROM (m.entity_id, m.is_ambiguous);
    PERFORM mcp.follow_named_servers(of_org, (
        SELECT array_agg(n.server) FROM mcp.named_servers n
        WHERE n.key = ANY (keys) AND n.org_id IS NOT DISTINCT FROM of_org));
END $$;

CREATE FUNCTION mcp.follow_server_names() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    keys text[] := '{}';
BEGIN
    IF TG_OP <> 'INSERT' THEN
        keys := array(SELECT key FROM mcp.server_keys_of(OLD.path, OLD.name, OLD.document));
        DELETE FROM mcp.server_keys WHERE entity_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO mcp.server_keys (entity_id, key, rank, org_id)
        SELECT NEW.id, k.key, k.rank, NEW.org_id FROM mcp.server_keys_of(NEW.path, NEW.name, NEW.document) k;
        keys := keys || array(SELECT key FROM mcp.server_keys WHERE entity_id = NEW.id);
        PERFORM mcp.link_servers(NEW.org_id, keys);
    ELSE
        PERFORM mcp.link_servers(OLD.org_id, keys);
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER server_created ON mcp.registry_entities;
DROP TRIGGER server_deleted ON mcp.registry_entities;
CREATE TRIGGER server_created AFTER INSERT ON mcp.registry_entities
    FOR EACH ROW WHEN (NEW.kind = 'server') EXECUTE FUNCTION mcp.follow_server_names();
CREATE TRIGGER server_deleted AFTER DELETE ON mcp.registry_entities
    FOR EACH ROW WHEN (OLD.kind = 'server') EXECUTE FUNCTION mcp.follow_server_names();
CREATE TRIGGER server_renamed AFTER UPDATE ON mcp.registry_entities
    FOR EACH ROW WHEN (NEW.kind = 'server' AND (OLD.path, OLD.name, OLD.document ->> 'name', OLD.document -> 'server' ->> 'name')
        IS DISTINCT FROM (NEW.path, NEW.name, NEW.document ->> 'name', NEW.document -> 'server' ->> 'name'))
    EXECUTE FUNCTION mcp.follow_server_names();

CREATE OR REPLACE FUNCTION mcp.follow_server() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.follow_named_servers(NEW.org_id, (
        SELECT array_agg(n.server) FROM mcp.named_servers n WHERE n.entity_id = NEW.id));
    RETURN NULL;
END $$;

CREATE FUNCTION mcp.forget_servers() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mcp.named_servers SET entity_id = NULL, is_ambiguous = false WHERE entity_id IS NOT NULL OR is_ambiguous;
    RETURN NULL;
END $$;
CREATE TRIGGER servers_truncated AFTER TRUNCATE ON mcp.registry_entities
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.forget_servers();

-- In the order of names, so that two who name the same new servers wait instead of deadlocking.
CREATE OR REPLACE FUNCTION mcp.deactivate_new_items() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- Which server is meant is looked up of new names alone: mostly there are none.
    WITH new_names AS MATERIALIZED (
        SELECT c.org_id, c.server FROM (SELECT DISTINCT org_id, server FROM changed WHERE server <> '') c
        WHERE NOT EXISTS (
            SELECT FROM mcp.named_servers n WHERE n.server = c.server AND n.org_id IS NOT DISTINCT FROM c.org_id)
    )
    INSERT INTO mcp.named_servers (org_id, server, key, entity_id, is_ambiguous)
    SELECT c.org_id, c.server, mcp.server_key(c.server), m.entity_id, m.is_ambiguous
    FROM new_names c
    CROSS JOIN LATERAL mcp.server_meant(c.org_id, c.server) m
    ORDER BY c.server
    ON CONFLICT DO NOTHING;
    IF EXISTS (SELECT FROM mcp.registry_entities WHERE kind = 'server' AND NOT is_enabled) THEN
        UPDATE mcp.tools t SET is_active = false
        FROM changed c
        JOIN mcp.named_servers n ON n.server = c.server AND n.org_id IS NOT DISTINCT FROM c.org_id
        JOIN mcp.registry_entities e ON e.id = n.entity_id AND NOT e.is_enabled
        WHERE t.id = c.id;
    END IF;
    RETURN NULL;
END $$;

INSERT INTO mcp.server_keys (entity_id, key, rank, org_id)
SELECT e.id, k.key, k.rank, e.org_id
FROM mcp.registry_entities e CROSS JOIN LATERAL mcp.server_keys_of(e.path, e.name, e.document) k
WHERE e.kind = 'server';

INSERT INTO mcp.named_servers (org_id, server, key, entity_id, is_ambiguous)
SELECT c.org_id, c.server, mcp.server_key(c.server), m.entity_id, m.is_ambiguous
FROM (SELECT DISTINCT org_id, server FROM mcp.tools WHERE server <> '') c
CROSS JOIN LATERAL mcp.server_meant(c.org_id, c.server) m;

DO $$
DECLARE
    each record;
BEGIN
    FOR each IN
        SELECT n.org_id, array_agg(n.server) AS names FROM mcp.named_servers n
        JOIN mcp.registry_entities e ON e.id = n.entity_id AND NOT e.is_enabled
        GROUP BY n.org_id
    LOOP
        PERFORM mcp.follow_named_servers(each.org_id, each.names);
    END LOOP;
END $$;
