-- The change feed (docs/adr/0001).
-- Triggers write the feed, so that no code path, and no operator at a prompt, can change a row unseen by the index.

CREATE TABLE mcp.index_changes (
    collection text NOT NULL,
    item_id    text NOT NULL,
    xid        xid8 NOT NULL DEFAULT pg_current_xact_id(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (collection, item_id),
    CONSTRAINT index_changes_collection_known CHECK (collection IN ('mcp_skills', 'mcp_unified_search'))
);
-- Every search asks for the rows at or after its position.
CREATE INDEX index_changes_xid ON mcp.index_changes (xid);

-- One row: the model of the stored vectors, and the epoch that tells every index to read everything anew.
CREATE TABLE mcp.index_state (
    only_row            boolean PRIMARY KEY DEFAULT true,
    epoch               uuid NOT NULL DEFAULT gen_random_uuid(),
    embedding_model     text,
    embedding_dimension integer,
    CONSTRAINT index_state_only_row CHECK (only_row),
    CONSTRAINT index_state_model_whole CHECK ((embedding_model IS NULL) = (embedding_dimension IS NULL))
);
INSERT INTO mcp.index_state DEFAULT VALUES;

-- How far a shared index server has read; an embedded replica keeps its own position in memory.
CREATE TABLE mcp.index_positions (
    index_name text PRIMARY KEY,
    epoch      uuid,
    position   xid8 NOT NULL DEFAULT '0',
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- Rows are locked in key order: two transactions that touch the same items then wait instead of deadlocking.
CREATE FUNCTION mcp.log_change(changed_collection text, changed_ids text[]) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO mcp.index_changes (collection, item_id)
    SELECT changed_collection, changed.item_id
    FROM (SELECT DISTINCT unnest(changed_ids) AS item_id) AS changed
    ORDER BY changed.item_id
    ON CONFLICT (collection, item_id) DO UPDATE SET xid = excluded.xid, changed_at = excluded.changed_at
$$;

CREATE FUNCTION mcp.log_tool_changes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.log_change('mcp_unified_search', (SELECT array_agg(id::text) FROM changed));
    RETURN NULL;
END $$;

-- A skill that comes or goes. One of an organisation's own stands in the place of a global one of the same id, which says
-- so in the index, and so changes as well.
CREATE FUNCTION mcp.log_skill_comings() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.log_change('mcp_skills', (
        SELECT array_agg(logged.key) FROM (
            SELECT key FROM changed
            UNION ALL
            SELECT g.key FROM changed JOIN mcp.skill_categories g ON g.key = changed.id WHERE changed.org_id IS NOT NULL
        ) AS logged));
    RETURN NULL;
END $$;

CREATE FUNCTION mcp.log_skill_changes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.log_change('mcp_skills', (
        SELECT array_agg(logged.key) FROM (
            SELECT key FROM after
            UNION ALL
            SELECT g.key
            FROM before JOIN after USING (key) JOIN mcp.skill_categories g ON g.key = after.id
            WHERE after.org_id IS NOT NULL AND (before.deleted_at IS NULL) <> (after.deleted_at IS NULL)
        ) AS logged));
    RETURN NULL;
END $$;

-- A tool names its active skills, so a skill that is switched off or on changes its tools as well.
CREATE FUNCTION mcp.log_skill_activity() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.log_change('mcp_unified_search', (
        SELECT array_agg(a.tool_id::text)
        FROM before JOIN after USING (key) JOIN mcp.tool_skill_assignments a ON a.skill_key = after.key
        WHERE before.is_active <> after.is_active));
    RETURN NULL;
END $$;

-- An assignment changes the tool, which names its skills; how many tools a skill has is counted when it is asked for.
CREATE FUNCTION mcp.log_assignment_changes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.log_change('mcp_unified_search', (SELECT array_agg(tool_id::text) FROM changed));
    RETURN NULL;
END $$;

CREATE TRIGGER tools_inserted AFTER INSERT ON mcp.tools
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_tool_changes();
CREATE TRIGGER tools_updated AFTER UPDATE ON mcp.tools
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_tool_changes();
CREATE TRIGGER tools_deleted AFTER DELETE ON mcp.tools
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_tool_changes();

CREATE TRIGGER skills_inserted AFTER INSERT ON mcp.skill_categories
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_skill_comings();
CREATE TRIGGER skills_updated AFTER UPDATE ON mcp.skill_categories
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_skill_changes();
CREATE TRIGGER skills_deleted AFTER DELETE ON mcp.skill_categories
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_skill_comings();
CREATE TRIGGER skills_activity AFTER UPDATE ON mcp.skill_categories
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_skill_activity();

CREATE TRIGGER assignments_inserted AFTER INSERT ON mcp.tool_skill_assignments
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_assignment_changes();
CREATE TRIGGER assignments_updated AFTER UPDATE ON mcp.tool_skill_assignments
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_assignment_changes();
CREATE TRIGGER assignments_deleted AFTER DELETE ON mcp.tool_skill_assignments
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.log_assignment_changes();

-- TRUNCATE names no rows, so everything is read anew.
CREATE FUNCTION mcp.start_new_epoch() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mcp.index_state SET epoch = gen_random_uuid();
    RETURN NULL;
END $$;

CREATE TRIGGER tools_truncated AFTER TRUNCATE ON mcp.tools
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.start_new_epoch();
CREATE TRIGGER skills_truncated AFTER TRUNCATE ON mcp.skill_categories
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.start_new_epoch();
CREATE TRIGGER assignments_truncated AFTER TRUNCATE ON mcp.tool_skill_assignments
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.start_new_epoch();
