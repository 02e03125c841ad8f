-- What became of tools that were shown. It may come before its receipt, so nothing here asks for one.

-- name: insert_outcomes
INSERT INTO mcp.outcomes (search_id, tool_id, org_id, caller, may_teach, outcome, source)
SELECT r.search_id, r.tool_id, r.org_id, r.caller, r.may_teach, r.outcome, r.source
FROM json_to_recordset(:rows::json) AS r (
    place int, search_id uuid, tool_id bigint, org_id text, caller text, may_teach boolean, outcome text, source text)
ORDER BY r.place
