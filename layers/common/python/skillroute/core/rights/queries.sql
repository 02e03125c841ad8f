-- Rules of access.

-- name: rules_in_force
SELECT id, org_id, name, effect, roles, groups, servers, tools, skills, hints, created_at, created_by
FROM mcp.access_rules_seen_by(:org_id::text)
ORDER BY id

-- name: own_skill_keys
-- plan: custom
SELECT id::text, key FROM mcp.skill_categories c
WHERE {{own_by_index c.org_id}} AND id = ANY (:ids::text[]) AND deleted_at IS NULL

-- name: access_rule
SELECT id, org_id, name, effect, roles, groups, servers, tools, skills, hints, created_at, created_by
FROM mcp.access_rules_seen_by(:org_id::text)
WHERE id = :id::bigint

-- name: lock_access_rules
SELECT pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'mcp.access_rules', :org_id::text), 0))

-- name: count_access_rules
-- plan: custom
SELECT count(*) FROM mcp.access_rules r WHERE {{own_by_index r.org_id}}

-- name: insert_access_rule
INSERT INTO mcp.access_rules (org_id, name, effect, roles, groups, servers, tools, skills, hints, created_by)
VALUES (:org_id::text, :name, :effect, :roles::text[], :groups::text[], :servers::text[], :tools::text[], :skills::text[],
        :hints::text[], :created_by::text)
RETURNING id, org_id, name, effect, roles, groups, servers, tools, skills, hints, created_at, created_by

-- name: replace_access_rule
UPDATE mcp.access_rules SET
    name = :name, effect = :effect, roles = :roles::text[], groups = :groups::text[], servers = :servers::text[],
    tools = :tools::text[], skills = :skills::text[], hints = :hints::text[]
WHERE id = :id::bigint AND {{own org_id}}
RETURNING id, org_id, name, effect, roles, groups, servers, tools, skills, hints, created_at, created_by

-- name: delete_access_rule
DELETE FROM mcp.access_rules WHERE id = :id::bigint AND {{own org_id}}
RETURNING id

-- name: unknown_in_rules
-- Values of a rule that nothing is called that its owner sees: of servers, of tools, of groups.
SELECT 'servers', s.name FROM unnest(:servers::text[]) AS s (name)
WHERE NOT EXISTS (SELECT FROM mcp.items_seen_by(:org_id::text, NULL) t WHERE t.server IN (s.name, '/' || s.name))
  AND NOT EXISTS (
      SELECT FROM mcp.entities_seen_by(:org_id::text, NULL) e
      WHERE e.kind = 'server' AND (e.path = '/' || s.name OR e.name = s.name))
UNION ALL
SELECT 'tools', n.name FROM unnest(:tools::text[]) AS n (name)
WHERE NOT EXISTS (
    SELECT FROM mcp.items_seen_by(:org_id::text, NULL) t
    WHERE t.name = ANY (:names::text[]) AND n.name = ANY (mcp.rule_names(mcp.rule_servers(t.org_id, t.server), t.name)))
UNION ALL
SELECT 'skills', k.id FROM unnest(:skills::text[]) AS k (id)
WHERE NOT EXISTS (SELECT FROM mcp.skills_seen_by(:org_id::text, NULL) c WHERE c.id = k.id)

-- name: items_of_rule_name
SELECT id FROM mcp.items_seen_by(:org_id::text, NULL) t
WHERE t.name = ANY (:names::text[]) AND :name::text = ANY (mcp.rule_names(mcp.rule_servers(t.org_id, t.server), t.name))
ORDER BY id
LIMIT :limit::int

-- name: seen_by_server
-- How many active items of each server there are, and how many of them a caller with rights sees.
SELECT t.server, count(*), count(s.id)
FROM mcp.items_seen_by(:org_id::text, NULL) t
LEFT JOIN mcp.items_seen_by(:org_id::text, :rights::jsonb) s ON s.id = t.id
WHERE t.is_active
GROUP BY t.server
ORDER BY t.server COLLATE "C"
