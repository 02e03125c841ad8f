-- What a search for Agent Skills shows of those that it found.

-- name: found_agent_skills
-- Those that are gone, or switched off, since the index was asked are left out; where only those are wanted that agents
-- are served, global ones that an organisation's own hides, too.
SELECT s.id, s.org_id, s.path, s.name, s.description, p.nth, p.heading, p.content
FROM unnest(:piece_ids::bigint[]) AS k (id)
JOIN mcp.agent_skill_pieces p ON p.id = k.id
JOIN mcp.agent_skills_seen_by(:org_id::text) s ON s.id = p.agent_skill_id
WHERE s.is_active
  AND (NOT :is_served::boolean OR s.org_id IS NOT NULL OR NOT EXISTS (
      SELECT 1 FROM mcp.agent_skills_seen_by(:org_id::text) o
      WHERE o.path = s.path AND o.org_id IS NOT NULL AND o.is_active))
