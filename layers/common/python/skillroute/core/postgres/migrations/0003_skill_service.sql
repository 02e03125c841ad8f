-- Items and skills as documents; and the skill service: work that waits for a queue, who classified what, and suggestions
-- that people decide.

-- Items as documents.
CREATE FUNCTION mcp.mcp_unified_search_documents(keys text[])
RETURNS TABLE (key text, org_id text, is_searchable boolean, payload jsonb)
LANGUAGE sql STABLE AS $$
    SELECT t.id::text, t.org_id, t.is_active, jsonb_build_object(
        'db_id', t.id, 'type', t.type, 'name', t.name, 'name_key', t.name_key, 'description', t.description,
        'server', t.server, 'org_id', coalesce(t.org_id, ''), 'content_hash', t.content_hash,
        'skill_keys', coalesce(to_jsonb(t.skill_keys), '[]'), 'primary_skill_key', t.primary_skill_key)
    FROM mcp.items_with_skills t WHERE t.id = ANY (keys::bigint[])
$$;
CREATE TRIGGER tools_updated AFTER UPDATE ON mcp.tools
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_changed_rows('mcp_unified_search', 'id');
CREATE TRIGGER tools_deleted AFTER DELETE ON mcp.tools
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.delete_documents_of_rows('mcp_unified_search', 'id');
CREATE TRIGGER tools_truncated AFTER TRUNCATE ON mcp.tools
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.delete_documents_of_table('mcp_unified_search');

CREATE FUNCTION mcp.project_all_items() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.project_documents('mcp_unified_search', (SELECT array_agg(id::text) FROM mcp.tools));
    UPDATE mcp.index_state SET epoch = gen_random_uuid(), pruned_to = '0';
    RETURN NULL;
END $$;

-- An assignment changes the tool, which names its skills; how many tools a skill has is counted when it is asked for.
CREATE TRIGGER assignments_inserted AFTER INSERT ON mcp.tool_skill_assignments
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_changed_rows('mcp_unified_search', 'tool_id');
CREATE TRIGGER assignments_updated AFTER UPDATE ON mcp.tool_skill_assignments
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_changed_rows('mcp_unified_search', 'tool_id');
CREATE TRIGGER assignments_deleted AFTER DELETE ON mcp.tool_skill_assignments
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_changed_rows('mcp_unified_search', 'tool_id');
CREATE TRIGGER assignments_truncated AFTER TRUNCATE ON mcp.tool_skill_assignments
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_all_items();

-- Skills as documents, with the organisations that have a skill of their own by the id of a global one, which they do not
-- see therefore.
CREATE FUNCTION mcp.mcp_skills_documents(keys text[])
RETURNS TABLE (key text, org_id text, is_searchable boolean, payload jsonb)
LANGUAGE sql STABLE AS $$
    SELECT c.key, c.org_id, c.is_active, jsonb_build_object(
        'name', c.name, 'description', c.description, 'org_id', coalesce(c.org_id, ''),
        'hidden_from', to_jsonb(ARRAY(
            SELECT own.org_id FROM mcp.skill_categories own
            WHERE c.org_id IS NULL AND own.id = c.id AND own.org_id IS NOT NULL AND own.deleted_at IS NULL ORDER BY 1)))
    FROM mcp.skill_categories c WHERE c.key = ANY (keys) AND c.deleted_at IS NULL
$$;

-- A skill that comes or goes. One of an organisation's own stands in the place of a global one of the same id, which says
-- so in the index, and so changes as well. A deleted one is no document any more.
CREATE FUNCTION mcp.project_skills() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    gone text[] := ARRAY(SELECT key FROM changed WHERE TG_OP = 'DELETE' OR deleted_at IS NOT NULL);
BEGIN
    PERFORM mcp.project_documents('mcp_skills', (
        SELECT array_agg(c.key) FROM (
            SELECT key FROM changed
            UNION
            SELECT g.key FROM changed JOIN mcp.skill_categories g ON g.key = changed.id WHERE changed.org_id IS NOT NULL
        ) AS c));
    DELETE FROM mcp.documents d WHERE d.collection = 'mcp_skills' AND d.key = ANY (gone);
    RETURN NULL;
END $$;
CREATE TRIGGER skills_inserted AFTER INSERT ON mcp.skill_categories
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_skills();
CREATE TRIGGER skills_updated AFTER UPDATE ON mcp.skill_categories
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_skills();
CREATE TRIGGER skills_deleted AFTER DELETE ON mcp.skill_categories
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_skills();
CREATE TRIGGER skills_truncated AFTER TRUNCATE ON mcp.skill_categories
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.delete_documents_of_table('mcp_skills');

-- A tool names its active skills, so a skill that is switched off or on changes its tools as well.
CREATE FUNCTION mcp.project_tools_of_skills() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.project_documents('mcp_unified_search', (
        SELECT array_agg(DISTINCT a.tool_id::text)
        FROM before JOIN after USING (key) JOIN mcp.tool_skill_assignments a ON a.skill_key = after.key
        WHERE before.is_active <> after.is_active));
    RETURN NULL;
END $$;
-- Triggers of one event fire in the order of their names, and everyone has to lock rows in the same order: the feed's
-- skills, the feed's tools, the outbox. Else the aggregation of a skill, which writes its row in the feed and then takes
-- its work off, meets a new description that goes the other way round, and PostgreSQL ends one of them after a second.
CREATE TRIGGER skills_updated_tools AFTER UPDATE ON mcp.skill_categories
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_tools_of_skills();

-- One row for each tool that waits to be classified and each skill that waits to be aggregated, written in the
-- transaction that made it necessary, and removed in the one that did it. However often something changes meanwhile,
-- it waits once: changes of a moment are folded into one piece of work. Messages carry the key, not data.
CREATE SEQUENCE mcp.outbox_version;
CREATE TABLE mcp.outbox (
    queue        text NOT NULL,
    key          text NOT NULL,                          -- the tool's id, or the skill's key
    -- Whose tool or skill it is; '' for a global one. Organisations take turns at publishing (docs/adr/0028), and with a
    -- null among them no walk through an index would meet them all.
    org_id       text NOT NULL DEFAULT '',
    -- Grows with every change, over rows that went and came again too: a worker removes the version that it
    -- had seen, and a change that came in between stays.
    version      bigint NOT NULL DEFAULT nextval('mcp.outbox_version'),
    created_at   timestamptz NOT NULL DEFAULT now(),
    published_at timestamptz,                            -- null: no message is under way for it
    attempts     integer NOT NULL DEFAULT 0,
    last_error   text,
    dead_at      timestamptz,                            -- given up: its message is in the dead-letter queue
    PRIMARY KEY (queue, key),
    CONSTRAINT outbox_queue_known CHECK (queue IN ('classify', 'aggregate'))
);
-- What waits for a message, organisation by organisation, and what has one.
CREATE INDEX outbox_unpublished ON mcp.outbox (queue, org_id, created_at, key)
    WHERE published_at IS NULL AND dead_at IS NULL;
CREATE INDEX outbox_in_flight ON mcp.outbox (queue, org_id) WHERE published_at IS NOT NULL AND dead_at IS NULL;

-- Rows are locked in key order, as everywhere. What is gone meanwhile belongs to nobody: its message finds nothing to do.
--
-- Planned once in a connection: planning took longer than the rest, 0.2 ms of every write. Such a plan must not read a
-- whole table for each key because the table was small when it was made.
CREATE FUNCTION mcp.enqueue(to_queue text, keys text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    INSERT INTO mcp.outbox AS o (queue, key, org_id)
    SELECT to_queue, waiting.key, coalesce(
        CASE to_queue WHEN 'classify' THEN (SELECT t.org_id FROM mcp.tools t WHERE t.id = waiting.key::bigint)
                      ELSE (SELECT c.org_id FROM mcp.skill_categories c WHERE c.key = waiting.key) END, '')
    FROM (SELECT DISTINCT unnest(keys) AS key) AS waiting
    ORDER BY waiting.key
    ON CONFLICT (queue, key) DO UPDATE SET
        version = excluded.version, attempts = 0, last_error = NULL, dead_at = NULL,
        -- The message of one that was given up lies in the dead-letter queue and will not come.
        published_at = CASE WHEN o.dead_at IS NULL THEN o.published_at END;
END $$;

-- Who decided last what a tool's skills are, and from what (decision 17). A person's decision is kept here as well, as
-- it may be that the tool has none.
CREATE TABLE mcp.tool_classifications (
    tool_id       bigint PRIMARY KEY REFERENCES mcp.tools (id) ON DELETE CASCADE,
    input_hash    text NOT NULL,                         -- of name, description and schema
    classifier    text NOT NULL,                         -- its name, or 'human'
    classified_at timestamptz NOT NULL DEFAULT now()
);

-- Triggers queue the work, so that no code path, and no operator at a prompt, can change something without it
-- (docs/adr/0001, 0010).

CREATE FUNCTION mcp.queue_new_tools() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.enqueue('classify', (SELECT array_agg(id::text) FROM changed));
    RETURN NULL;
END $$;
CREATE TRIGGER tools_work_new AFTER INSERT ON mcp.tools
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.queue_new_tools();

-- A tool that says something else of itself is classified again; one that is switched off or on changes the mean of its
-- skills.
CREATE FUNCTION mcp.queue_changed_tools() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.enqueue('classify', (
        SELECT array_agg(after.id::text)
        FROM before JOIN after USING (id)
        WHERE (before.description, before.input_schema::text)
              IS DISTINCT FROM (after.description, after.input_schema::text)));
    PERFORM mcp.enqueue('aggregate', (
        SELECT array_agg(c.key)
        FROM before JOIN after USING (id)
        JOIN mcp.tool_skill_assignments a ON a.tool_id = after.id
        JOIN mcp.skill_categories c ON c.key = a.skill_key AND a.owner IN ('', c.org_id)
        WHERE before.is_active <> after.is_active));
    RETURN NULL;
END $$;
CREATE TRIGGER tools_work_changed AFTER UPDATE ON mcp.tools
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.queue_changed_tools();

-- A tool that is deleted while it waits need not be classified any more.
CREATE FUNCTION mcp.forget_deleted_tools() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mcp.outbox o USING changed WHERE o.queue = 'classify' AND o.key = changed.id::text;
    RETURN NULL;
END $$;
CREATE TRIGGER tools_work_deleted AFTER DELETE ON mcp.tools
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.forget_deleted_tools();

-- It takes its open suggestions along; those that were decided stay. Before the row goes: the foreign key would have
-- made the suggestions forget their tool.
CREATE FUNCTION mcp.drop_open_suggestions() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mcp.skill_suggestions WHERE source_tool_id = OLD.id AND status = 'pending';
    RETURN OLD;
END $$;
CREATE TRIGGER tools_suggestions_deleted BEFORE DELETE ON mcp.tools
    FOR EACH ROW EXECUTE FUNCTION mcp.drop_open_suggestions();

-- What a skill is found by is the mean of the tools that everyone sees who sees the skill. Another tool, one that an
-- organisation has put into a global skill, makes no work: or else organisations would wait for each other at its row.
CREATE FUNCTION mcp.queue_skills_of_assignments() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.enqueue('aggregate', (
        SELECT array_agg(c.key)
        FROM changed a JOIN mcp.skill_categories c ON c.key = a.skill_key AND a.owner IN ('', c.org_id)));
    RETURN NULL;
END $$;
CREATE TRIGGER assignments_work_new AFTER INSERT ON mcp.tool_skill_assignments
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.queue_skills_of_assignments();
CREATE TRIGGER assignments_work_gone AFTER DELETE ON mcp.tool_skill_assignments
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.queue_skills_of_assignments();

CREATE FUNCTION mcp.queue_reweighted_skills() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.enqueue('aggregate', (
        SELECT array_agg(c.key)
        FROM before JOIN after USING (id)
        JOIN mcp.skill_categories c ON c.key = after.skill_key AND after.owner IN ('', c.org_id)
        WHERE before.confidence <> after.confidence));
    RETURN NULL;
END $$;
CREATE TRIGGER assignments_work_changed AFTER UPDATE ON mcp.tool_skill_assignments
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.queue_reweighted_skills();

-- Vectors that are searched. A tool that gets the vector it lacked is classified again: a classifier that needs it may
-- have given up meanwhile. One whose vector changed changes the mean of its skills, and so does the vector of a skill's
-- description. What a skill is found by (`derived`), which the aggregation writes, does not count: the aggregation would
-- call for itself (skill-contract EC-004).
CREATE FUNCTION mcp.queue_changed_vectors() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.enqueue('classify', (
        SELECT array_agg(after.key)
        FROM before JOIN after USING (collection, key, model, dimension)
        JOIN mcp.searched_models() s ON (s.model, s.dimension) = (after.model, after.dimension)
        WHERE after.collection = 'mcp_unified_search' AND before.embedding IS NULL AND after.embedding IS NOT NULL));
    PERFORM mcp.enqueue('aggregate', (
        SELECT array_agg(changed.key) FROM (
            SELECT CASE after.collection WHEN 'mcp_skills' THEN after.key ELSE c.key END AS key
            FROM before JOIN after USING (collection, key, model, dimension)
            JOIN mcp.searched_models() s ON (s.model, s.dimension) = (after.model, after.dimension)
            LEFT JOIN mcp.tool_skill_assignments a
              ON a.tool_id = CASE after.collection WHEN 'mcp_unified_search' THEN after.key::bigint END
            LEFT JOIN mcp.skill_categories c ON c.key = a.skill_key AND a.owner IN ('', c.org_id)
            WHERE after.collection IN ('mcp_skills', 'mcp_unified_search')
              AND before.embedding IS DISTINCT FROM after.embedding
        ) AS changed
        WHERE changed.key IS NOT NULL));
    RETURN NULL;
END $$;
CREATE TRIGGER vectors_work_changed AFTER UPDATE ON mcp.document_vectors
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.queue_changed_vectors();
