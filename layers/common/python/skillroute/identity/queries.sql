-- Identities of servers, logins of persons, and logins under way.

-- name: server_of_identity
-- With the caller's eyes: its own, and global ones.
SELECT e.id, e.org_id, e.name, e.document
FROM mcp.entities_seen_by(:org_id::text, :rights::jsonb) e
WHERE e.id = :server_id::bigint AND e.kind = 'server'

-- name: get_identity
SELECT i.server_id, i.kind, i.settings, i.client, i.changed_at, i.changed_by
FROM mcp.server_identities i WHERE i.server_id = :server_id::bigint

-- name: put_identity
-- Who registered is forgotten where it is no longer meant.
INSERT INTO mcp.server_identities AS i (server_id, org_id, kind, settings, changed_by)
VALUES (:server_id::bigint, :org_id::text, :kind, :settings::jsonb, :changed_by::text)
ON CONFLICT (server_id) DO UPDATE SET
    kind = excluded.kind, settings = excluded.settings, client = NULL, changed_at = now(),
    changed_by = excluded.changed_by

-- name: put_client
UPDATE mcp.server_identities SET client = :client::bytea WHERE server_id = :server_id::bigint AND kind = 'oauth'

-- name: delete_identity
DELETE FROM mcp.server_identities WHERE server_id = :server_id::bigint

-- name: delete_logins_of_server
DELETE FROM mcp.person_tokens WHERE server_id = :server_id::bigint

-- name: delete_attempts_of_server
DELETE FROM mcp.login_attempts WHERE server_id = :server_id::bigint

-- name: get_person_tokens
SELECT p.tokens, p.expires_at, p.scopes
FROM mcp.person_tokens p
WHERE p.server_id = :server_id::bigint AND {{own p.org_id}} AND p.person = :person

-- name: lock_person_tokens
-- One refresh at a time: two processes must not both spend a refresh token that is good for one.
SELECT pg_advisory_xact_lock(hashtextextended(
    'person_tokens ' || :server_id::bigint || ' ' || coalesce(length(:org_id::text) || ' ' || :org_id::text, '-')
    || ' ' || :person, 0))

-- name: put_person_tokens
INSERT INTO mcp.person_tokens AS p (server_id, org_id, person, tokens, expires_at, scopes)
VALUES (:server_id::bigint, :org_id::text, :person, :tokens::bytea, :expires_at::timestamptz, :scopes::text[])
ON CONFLICT ON CONSTRAINT person_tokens_of_person DO UPDATE SET
    tokens = excluded.tokens, expires_at = excluded.expires_at, scopes = excluded.scopes, created_at = now(),
    refreshed_at = NULL

-- name: refresh_person_tokens
UPDATE mcp.person_tokens p
SET tokens = :tokens::bytea, expires_at = :expires_at::timestamptz, scopes = :scopes::text[], refreshed_at = now()
WHERE p.server_id = :server_id::bigint AND {{own p.org_id}} AND p.person = :person

-- name: delete_person_tokens
DELETE FROM mcp.person_tokens p
WHERE p.server_id = :server_id::bigint AND {{own p.org_id}} AND p.person = :person
RETURNING p.tokens

-- name: list_person_tokens
-- plan: custom
SELECT p.server_id, e.name, p.scopes, p.expires_at, p.created_at, p.refreshed_at
FROM mcp.person_tokens p JOIN mcp.registry_entities e ON e.id = p.server_id
WHERE {{own_by_index p.org_id}} AND p.person = :person
ORDER BY p.server_id LIMIT :limit OFFSET :offset

-- name: count_person_tokens
-- plan: custom
SELECT count(*) FROM mcp.person_tokens p WHERE {{own_by_index p.org_id}} AND p.person = :person

-- name: put_login_attempt
INSERT INTO mcp.login_attempts (state_hash, server_id, org_id, person, sealed, redirect_uri, issuer, expires_at)
VALUES (:state_hash, :server_id::bigint, :org_id::text, :person, :sealed::bytea, :redirect_uri, :issuer,
        :expires_at::timestamptz)

-- name: drop_login_attempts
-- Those that nobody finished in time, and of a person at a server all but the last few; links apart, of which an agent
-- that calls again and again is given many.
DELETE FROM mcp.login_attempts a
WHERE a.expires_at < :now::timestamptz OR a.state_hash IN (
    SELECT o.state_hash FROM mcp.login_attempts o
    WHERE o.server_id = :server_id::bigint AND {{own o.org_id}} AND o.person = :person
      AND (o.issuer = '') = :is_link::boolean
    ORDER BY o.expires_at DESC OFFSET :kept)

-- name: get_login_attempt
SELECT a.server_id, a.org_id, a.person, a.sealed, a.redirect_uri, a.issuer, a.expires_at, e.name
FROM mcp.login_attempts a JOIN mcp.registry_entities e ON e.id = a.server_id
WHERE a.state_hash = :state_hash

-- name: take_login_attempt
-- Finishing takes it: a state is good once.
DELETE FROM mcp.login_attempts a WHERE a.state_hash = :state_hash
RETURNING a.server_id, a.org_id, a.person, a.sealed, a.redirect_uri, a.issuer, a.expires_at
