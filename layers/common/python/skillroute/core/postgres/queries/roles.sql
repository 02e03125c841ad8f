-- Groups and logins, as `migrate` sees to them (core/postgres/roles).

-- name: group_names
SELECT current_database() || '_reader', current_database() || '_writer'

-- name: knows_iam
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_iam')

-- name: rights_beyond_group
-- What a user may do that its group may not; null when there is nothing, or no such user yet.
SELECT CASE
    WHEN r.rolname = current_user THEN 'is the one that migrates'
    WHEN r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls OR r.rolreplication
        THEN 'has rights on the whole server'
    WHEN pg_has_role(r.oid, n.nspowner, 'MEMBER') THEN 'may act as the owner of the schema'
    WHEN :group::text = 'reader' AND EXISTS (
        SELECT FROM pg_roles w WHERE w.rolname = current_database() || '_writer' AND pg_has_role(r.oid, w.oid, 'MEMBER'))
        THEN 'may write'
END
FROM pg_namespace n
LEFT JOIN pg_roles r ON r.rolname = :user::text
WHERE n.nspname = 'mcp'

-- name: is_in_group
SELECT EXISTS (
    SELECT FROM pg_roles r JOIN pg_roles g ON g.rolname = current_database() || '_' || :group::text
    WHERE r.rolname = :user::text AND pg_has_role(r.oid, g.oid, 'MEMBER'))

-- name: login_statements
-- What makes a login, a statement a row. A member of rds_iam logs in with tokens alone, so a login with a password is
-- not in it.
SELECT statement
FROM (
    SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = :user::text) AS is_there,
           EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_iam') AS knows_iam
) s,
LATERAL (VALUES
    (1, CASE WHEN NOT s.is_there THEN format('CREATE ROLE %I LOGIN', :user::text) END),
    (2, CASE WHEN :verifier::text IS NOT NULL THEN format('ALTER ROLE %I LOGIN PASSWORD %L', :user::text, :verifier::text) END),
    (3, CASE WHEN :verifier::text IS NULL THEN format('GRANT rds_iam TO %I', :user::text)
             WHEN s.knows_iam AND s.is_there THEN format('REVOKE rds_iam FROM %I', :user::text) END),
    (4, format('GRANT %I TO %I', current_database() || '_' || :group::text, :user::text))
) AS statements (place, statement)
WHERE statement IS NOT NULL
ORDER BY place
