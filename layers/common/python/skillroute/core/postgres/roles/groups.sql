-- The groups, and what they may do with what will be created in the schema: by default privileges, so that a new table
-- is theirs in the transaction that creates it. Functions of the version before run while a migration does, and their
-- triggers may write to it at once.
DO $$
DECLARE
    reader text := current_database() || '_reader';
    writer text := current_database() || '_writer';
    each   text;
BEGIN
    IF octet_length(writer) > 63 THEN
        RAISE EXCEPTION 'the database''s name is too long: roles are called after it, and have names of 63 bytes';
    END IF;
    FOREACH each IN ARRAY ARRAY[reader, writer] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = each) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', each);
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA mcp TO %I', each);
        EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA mcp GRANT SELECT ON TABLES TO %I', each);
    END LOOP;
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA mcp GRANT INSERT, UPDATE, DELETE ON TABLES TO %I', writer);
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA mcp GRANT USAGE ON SEQUENCES TO %I', writer);
END $$
