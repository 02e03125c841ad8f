-- name: applied_migrations
SELECT name, sha256 FROM mcp.migrations ORDER BY name

-- name: record_migration
INSERT INTO mcp.migrations (name, sha256) VALUES (:name, :sha256)
