-- The registry: MCP servers and A2A agents, and the words that keywords are looked for in.

CREATE TABLE mcp.registry_entities (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id          text,                                -- null: global, seen by every organisation
    kind            text NOT NULL,
    path            text NOT NULL,                       -- tools of a server say its path without the slash
    name            text NOT NULL,
    name_key        text NOT NULL DEFAULT '',            -- what the name is recognised by in a query
    description     text NOT NULL DEFAULT '',
    tags            text[] NOT NULL DEFAULT '{}',
    tag_keys        text[] NOT NULL DEFAULT '{}',        -- what tags are compared by
    capabilities    text[] NOT NULL DEFAULT '{}',        -- of agents
    skills          json NOT NULL DEFAULT '[]',          -- of agents: names and descriptions
    document        json NOT NULL DEFAULT '{}',          -- all of it as it came; json keeps the order
    is_enabled      boolean NOT NULL DEFAULT true,
    content_hash    text NOT NULL,                       -- of everything above that the owner says
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT registry_entities_key UNIQUE NULLS NOT DISTINCT (org_id, kind, path),
    CONSTRAINT registry_entities_kind_known CHECK (kind IN ('server', 'agent')),
    CONSTRAINT registry_entities_path_format CHECK (path ~ '^/[^\s]+$' AND char_length(path) <= 256),
    CONSTRAINT registry_entities_name_not_blank CHECK (btrim(name) <> ''),
    CONSTRAINT registry_entities_org_not_blank CHECK (org_id <> '')
);
CREATE INDEX registry_entities_name_key ON mcp.registry_entities (name_key);
CREATE INDEX registry_entities_tag_keys ON mcp.registry_entities USING gin (tag_keys);
-- Listing by path.
CREATE INDEX registry_entities_path ON mcp.registry_entities (kind, path, id);

-- Every three characters in a row within a word, once each, with the organisation behind them: what one says is never
-- looked at for another. (PostgreSQL's pg_trgm pads words and is not everywhere.)
CREATE FUNCTION mcp.trigrams(org_id text, words text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(DISTINCT substr(word, start, 3) || coalesce(org_id, ''))
    FROM unnest(string_to_array(words, ' ')) AS word, generate_series(1, length(word) - 2) AS start
$$;

-- One row for each place of an entity that has words, one for each tool (docs/adr/0016). The words are distinct, in
-- lower case, with a blank between two: split by the application, so that they do not depend on a server's locale.
CREATE TABLE mcp.registry_words (
    entity_id bigint NOT NULL REFERENCES mcp.registry_entities (id) ON DELETE CASCADE,
    place     smallint NOT NULL,                         -- registry.text.Place
    tool_id   bigint REFERENCES mcp.tools (id) ON DELETE CASCADE,
    words     text NOT NULL,
    -- The entity's own, so that a search need not look at it to know whether the caller may find it: a common word is
    -- in most entities, and joining them was a third of the search.
    org_id    text,
    kind      text NOT NULL,
    is_enabled boolean NOT NULL,
    CONSTRAINT registry_words_key UNIQUE NULLS NOT DISTINCT (entity_id, place, tool_id),
    CONSTRAINT registry_words_place_known CHECK (place BETWEEN 1 AND 5),
    CONSTRAINT registry_words_tool CHECK ((place = 5) = (tool_id IS NOT NULL))
);
-- Deleting a tool looks here.
CREATE INDEX registry_words_tool_id ON mcp.registry_words (tool_id) WHERE tool_id IS NOT NULL;
-- Rows that GIN has not sorted in yet are read one by one by every search, so there must not be many.
CREATE INDEX registry_words_trigrams ON mcp.registry_words USING gin (mcp.trigrams(org_id, words))
    WITH (gin_pending_list_limit = 128);

-- The entities, and the words of them, that a caller sees (as `items_seen_by`).
CREATE FUNCTION mcp.entities_seen_by(caller text) RETURNS SETOF mcp.registry_entities
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT e.* FROM mcp.registry_entities e WHERE e.org_id IS NULL OR e.org_id = caller
$$;
CREATE FUNCTION mcp.words_seen_by(caller text) RETURNS SETOF mcp.registry_words
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT w.* FROM mcp.registry_words w WHERE w.org_id IS NULL OR w.org_id = caller
$$;

CREATE FUNCTION mcp.enable_registry_words() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mcp.registry_words SET is_enabled = NEW.is_enabled WHERE entity_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER registry_enabled AFTER UPDATE ON mcp.registry_entities
    FOR EACH ROW WHEN (OLD.is_enabled <> NEW.is_enabled) EXECUTE FUNCTION mcp.enable_registry_words();

-- An entity as a document. Those that are disabled are in the index, too: a search may ask for them.
CREATE FUNCTION mcp.mcp_registry_documents(keys text[])
RETURNS TABLE (key text, org_id text, is_searchable boolean, payload jsonb)
LANGUAGE sql STABLE AS $$
    SELECT e.id::text, e.org_id, true, jsonb_build_object(
        'entity_id', e.id::text, 'kind', e.kind, 'path', e.path, 'name', e.name, 'tags', to_jsonb(e.tag_keys),
        'org_id', coalesce(e.org_id, ''), 'is_enabled', e.is_enabled::text)  -- filters compare texts
    FROM mcp.registry_entities e WHERE e.id = ANY (keys::bigint[])
$$;
CREATE TRIGGER registry_updated AFTER UPDATE ON mcp.registry_entities
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_changed_rows('mcp_registry', 'id');
CREATE TRIGGER registry_deleted AFTER DELETE ON mcp.registry_entities
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.delete_documents_of_rows('mcp_registry', 'id');
CREATE TRIGGER registry_truncated AFTER TRUNCATE ON mcp.registry_entities
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.delete_documents_of_table('mcp_registry');

-- A server's state is that of the items of its organisation that name it: tools, prompts and resources are inactive, and
-- in no search, while their server is disabled (docs/adr/0026). Triggers see to it, whoever writes either. Writers lock
-- the server first (lock_servers), so of an item that is written and a server that is disabled at once, the second sees
-- the first.

-- Nearly always empty: then a write of items asks it once and is done.
CREATE INDEX registry_entities_disabled ON mcp.registry_entities (path) WHERE kind = 'server' AND NOT is_enabled;

CREATE FUNCTION mcp.deactivate_new_items() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM mcp.registry_entities WHERE kind = 'server' AND NOT is_enabled) THEN
        UPDATE mcp.tools t SET is_active = false
        FROM changed c
        JOIN mcp.registry_entities e
          ON e.kind = 'server' AND NOT e.is_enabled AND e.path = '/' || c.server AND e.org_id IS NOT DISTINCT FROM c.org_id
        WHERE t.id = c.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tools_born AFTER INSERT ON mcp.tools
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.deactivate_new_items();

-- Locked by id before they are written, as by everybody who locks more than one.
CREATE FUNCTION mcp.set_items_active(of_org text, of_path text, active boolean) RETURNS void
LANGUAGE sql AS $$
    WITH locked AS MATERIALIZED (
        SELECT id FROM mcp.tools
        WHERE server = substr(of_path, 2) AND org_id IS NOT DISTINCT FROM of_org AND is_active <> active
        ORDER BY id
        FOR NO KEY UPDATE
    )
    UPDATE mcp.tools t SET is_active = active FROM locked WHERE t.id = locked.id
$$;

CREATE FUNCTION mcp.follow_server() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM mcp.set_items_active(OLD.org_id, OLD.path, true);
    ELSE
        PERFORM mcp.set_items_active(NEW.org_id, NEW.path, NEW.is_enabled);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER server_created AFTER INSERT ON mcp.registry_entities
    FOR EACH ROW WHEN (NEW.kind = 'server' AND NOT NEW.is_enabled) EXECUTE FUNCTION mcp.follow_server();
CREATE TRIGGER server_switched AFTER UPDATE ON mcp.registry_entities
    FOR EACH ROW WHEN (NEW.kind = 'server' AND OLD.is_enabled <> NEW.is_enabled) EXECUTE FUNCTION mcp.follow_server();
CREATE TRIGGER server_deleted AFTER DELETE ON mcp.registry_entities
    FOR EACH ROW WHEN (OLD.kind = 'server' AND NOT OLD.is_enabled) EXECUTE FUNCTION mcp.follow_server();
