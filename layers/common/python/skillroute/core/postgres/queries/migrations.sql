-- name: applied_migrations
SELECT name, sha256 FROM mcp.migrations ORDER BY name

-- name: database_facts
-- The server's version, and the bytes of the database.
SELECT current_setting('server_version'), pg_database_size(current_database())

-- name: record_migration
INSERT INTO mcp.migrations (name, sha256) VALUES (:name, :sha256)

-- name: blocking_sessions
-- The sessions that a session waits for. Only the words before a statement's first value are returned, so that no data are
-- shown. Sessions of other roles show nothing without the right to read all statistics. Process 0: a prepared transaction.
SELECT
    blocker.pid,
    session.application_name,
    session.state,
    coalesce(session.xact_start, session.backend_start),
    substring(session.query FROM '^\s*([A-Za-z_][\w.]*(?:\s+[A-Za-z_][\w.]*){0,3})')
FROM (SELECT DISTINCT unnest(pg_blocking_pids(:pid::int)) AS pid) AS blocker
LEFT JOIN pg_stat_activity AS session ON session.pid = blocker.pid
ORDER BY blocker.pid

-- name: extension_version
-- The version that is installed in the database, else the one that would be; null when there is none.
SELECT (SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = :extension::text)
