-- Definitions as they were approved: what a model reads of a tool does not change unseen (docs/trust.md).

ALTER TABLE mcp.tools
    -- Its definition is not the approved one, and it waits to be approved: it is neither found nor called.
    ADD COLUMN is_quarantined boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT tools_quarantined_is_inactive CHECK (NOT (is_quarantined AND is_active));

-- An item without a row is approved as it first came. The definition stands here only while the item has another one.
CREATE TABLE mcp.approvals (
    tool_id     bigint PRIMARY KEY REFERENCES mcp.tools ON DELETE CASCADE,
    org_id      text,                          -- the item's
    approved_by text,                          -- null: it was taken as it first came
    approved_at timestamptz NOT NULL,
    definition  json,                          -- as it was approved; null where the item still has it
    changed_at  timestamptz,
    CONSTRAINT approvals_definition_while_changed CHECK ((definition IS NULL) = (changed_at IS NULL))
);
CREATE INDEX approvals_changed ON mcp.approvals (org_id, tool_id) WHERE changed_at IS NOT NULL;

-- Some values of the type json cannot be looked into: the whole counts then.
CREATE FUNCTION mcp.json_field(of json, name text) RETURNS json
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN of -> name;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN of;
END $$;

CREATE FUNCTION mcp.same_json(a json, b json) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN a::text IS NOT DISTINCT FROM b::text OR a::jsonb IS NOT DISTINCT FROM b::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN false;
END $$;

-- What a model is told of an item, and for an imported operation where it is called. `catalogue.trust.definition` names it.
CREATE FUNCTION mcp.definition_of(t mcp.tools) RETURNS json
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT json_build_object(
        'title', mcp.json_field(t.metadata, 'title'), 'description', t.description, 'input_schema', t.input_schema,
        'output_schema', t.output_schema, 'annotations', t.annotations, 'http', mcp.json_field(t.metadata, 'http'))
$$;

CREATE FUNCTION mcp.note_definition() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    approved json := coalesce((SELECT a.definition FROM mcp.approvals a WHERE a.tool_id = NEW.id), mcp.definition_of(OLD));
BEGIN
    IF mcp.same_json(approved, mcp.definition_of(NEW)) THEN
        UPDATE mcp.approvals SET definition = NULL, changed_at = NULL WHERE tool_id = NEW.id AND changed_at IS NOT NULL;
    ELSE
        INSERT INTO mcp.approvals AS a (tool_id, org_id, approved_at, definition, changed_at)
        VALUES (NEW.id, NEW.org_id, OLD.created_at, approved, clock_timestamp())
        ON CONFLICT (tool_id) DO UPDATE SET definition = excluded.definition, changed_at = excluded.changed_at;
    END IF;
    RETURN NULL;
END $$;
-- A row that is held free for an item which is imported (`reserve_items`) has no hash, and no definition yet.
CREATE TRIGGER tools_defined AFTER UPDATE ON mcp.tools
    FOR EACH ROW WHEN (OLD.content_hash <> NEW.content_hash AND OLD.content_hash <> '')
    EXECUTE FUNCTION mcp.note_definition();

-- What is to become of items whose definitions may have changed; returns those that are not as they were approved.
-- `how`: off, warn or block (SKILLROUTE_CHANGED_DEFINITIONS), or approve. Items are locked by id, as by everybody.
CREATE FUNCTION mcp.settle_definitions(ids bigint[], how text, who text) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
    released record;
BEGIN
    PERFORM FROM mcp.tools t WHERE t.id = ANY (ids) ORDER BY t.id FOR NO KEY UPDATE;
    IF how = 'approve' THEN
        INSERT INTO mcp.approvals AS a (tool_id, org_id, approved_by, approved_at)
        SELECT t.id, t.org_id, who, clock_timestamp() FROM mcp.tools t WHERE t.id = ANY (ids) ORDER BY t.id
        ON CONFLICT (tool_id) DO UPDATE
            SET approved_by = excluded.approved_by, approved_at = excluded.approved_at, definition = NULL, changed_at = NULL;
    ELSIF how = 'off' THEN
        DELETE FROM mcp.approvals a WHERE a.tool_id = ANY (ids) AND a.changed_at IS NOT NULL;
    ELSIF how = 'block' THEN
        UPDATE mcp.tools t SET is_quarantined = true, is_active = false FROM mcp.approvals a
        WHERE t.id = ANY (ids) AND NOT t.is_quarantined AND a.tool_id = t.id AND a.changed_at IS NOT NULL;
    END IF;
    FOR released IN
        WITH let_go AS (
            UPDATE mcp.tools t SET is_quarantined = false
            WHERE t.id = ANY (ids) AND t.is_quarantined
              AND NOT EXISTS (SELECT FROM mcp.approvals a WHERE a.tool_id = t.id AND a.changed_at IS NOT NULL)
            RETURNING t.org_id, t.server)
        SELECT l.org_id, array_agg(DISTINCT l.server) AS servers FROM let_go l GROUP BY l.org_id
    LOOP
        PERFORM mcp.follow_named_servers(released.org_id, released.servers);
    END LOOP;
    RETURN QUERY SELECT a.tool_id FROM mcp.approvals a WHERE a.tool_id = ANY (ids) AND a.changed_at IS NOT NULL;
END $$;

-- As in 0006 and 0009; what is quarantined stays inactive.
CREATE OR REPLACE FUNCTION mcp.set_items_active(of_org text, of_path text, active boolean) RETURNS void
LANGUAGE sql AS $$
    WITH locked AS MATERIALIZED (
        SELECT id FROM mcp.tools
        WHERE server = substr(of_path, 2) AND org_id IS NOT DISTINCT FROM of_org
          AND is_active <> (active AND NOT is_switched_off AND NOT is_quarantined)
        ORDER BY id
        FOR NO KEY UPDATE
    )
    UPDATE mcp.tools t SET is_active = NOT t.is_active FROM locked WHERE t.id = locked.id
$$;
CREATE OR REPLACE FUNCTION mcp.follow_named_servers(of_org text, names text[]) RETURNS void
LANGUAGE sql AS $$
    WITH locked AS MATERIALIZED (
        SELECT t.id FROM mcp.tools t
        WHERE t.server = ANY (names) AND t.org_id IS NOT DISTINCT FROM of_org
          AND t.is_active = (t.is_switched_off OR t.is_quarantined OR EXISTS (
              SELECT FROM mcp.named_servers n JOIN mcp.registry_entities e ON e.id = n.entity_id
              WHERE n.server = t.server AND n.org_id IS NOT DISTINCT FROM of_org AND NOT e.is_enabled))
        ORDER BY t.id
        FOR NO KEY UPDATE
    )
    UPDATE mcp.tools t SET is_active = NOT t.is_active FROM locked WHERE t.id = locked.id
$$;

-- When a registered server was last asked for its tools, and what came of it.
CREATE TABLE mcp.server_sightings (
    server_id bigint PRIMARY KEY REFERENCES mcp.registry_entities (id) ON DELETE CASCADE,
    seen_at   timestamptz NOT NULL DEFAULT now(),
    outcome   text NOT NULL,
    tools     integer,                         -- that it listed; null where it was not asked or did not answer
    error     text,
    gone      bigint[] NOT NULL DEFAULT '{}',  -- items that were switched off, since it no longer lists them
    CONSTRAINT server_sightings_outcome_known CHECK (outcome IN ('seen', 'doubted', 'failed', 'left_out'))
);
