-- Items that their owner switches off stay off when their server is enabled (docs/adr/0053).

ALTER TABLE mcp.tools
    -- By its owner. `is_active` says whether it is searched: neither it nor its server is switched off.
    ADD COLUMN is_switched_off boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT tools_switched_off_is_inactive CHECK (NOT (is_switched_off AND is_active));

-- Locked by id before they are written, as by everybody who locks more than one.
CREATE OR REPLACE FUNCTION mcp.set_items_active(of_org text, of_path text, active boolean) RETURNS void
LANGUAGE sql AS $$
    WITH locked AS MATERIALIZED (
        SELECT id FROM mcp.tools
        WHERE server = substr(of_path, 2) AND org_id IS NOT DISTINCT FROM of_org
          AND is_active <> (active AND NOT is_switched_off)
        ORDER BY id
        FOR NO KEY UPDATE
    )
    UPDATE mcp.tools t SET is_active = active FROM locked WHERE t.id = locked.id
$$;

-- Suggestions of one owner, name by name: what others have, decided or open, is not walked through.
CREATE INDEX skill_suggestions_groups ON mcp.skill_suggestions (org_id, status, kind, name_key, id);
