-- What an index should hold.

-- name: searchable_keys
SELECT key FROM mcp.documents WHERE collection = :collection AND is_searchable
