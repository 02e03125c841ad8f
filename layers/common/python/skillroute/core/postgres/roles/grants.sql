-- Exactly these rights, whatever was granted before: by an older version, or by somebody at a prompt.
DO $$
DECLARE
    reader text := current_database() || '_reader';
    writer text := current_database() || '_writer';
BEGIN
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA mcp FROM %I, %I', reader, writer);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA mcp FROM %I, %I', reader, writer);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA mcp TO %I, %I', reader, writer);
    EXECUTE format('GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mcp TO %I', writer);
    EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA mcp TO %I', writer);
    -- A search leaves its receipt, and writes nothing else.
    EXECUTE format('GRANT INSERT ON mcp.receipts TO %I', reader);
    -- Any of them leaves a trace, and none changes it; the relay deletes what is too old.
    EXECUTE format('GRANT INSERT ON mcp.trace TO %I', reader);
    EXECUTE format('REVOKE UPDATE, DELETE ON mcp.trace FROM %I', writer);
    EXECUTE format('GRANT EXECUTE ON FUNCTION mcp.prune_trace TO %I', writer);
    -- What was migrated is the owner's to say.
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON mcp.migrations FROM %I', writer);
    -- Who writes vectors may have their lists built, which is the owner's to do.
    IF to_regprocedure('mcp.build_search_lists(text,integer,bigint)') IS NOT NULL THEN
        EXECUTE format('GRANT EXECUTE ON FUNCTION mcp.build_search_lists TO %I', writer);
    END IF;
END $$
