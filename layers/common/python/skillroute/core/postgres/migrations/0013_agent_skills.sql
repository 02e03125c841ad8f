-- Agent Skills: folders with a SKILL.md. A group of tools, which the API calls a skill, is a row of skill_categories.

CREATE TABLE mcp.agent_skills (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id       text,                                   -- null: global, seen by every organisation
    path         text NOT NULL,                          -- its place in its source; the last segment is its name
    name         text NOT NULL,
    description  text NOT NULL,
    frontmatter  json NOT NULL,                          -- of SKILL.md, as it was written; json keeps the order
    is_active    boolean NOT NULL DEFAULT true,
    content_hash text NOT NULL,                          -- of front matter and files
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT agent_skills_key UNIQUE NULLS NOT DISTINCT (org_id, path),
    CONSTRAINT agent_skills_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT agent_skills_path_ends_in_name CHECK (path = name OR right(path, char_length(name) + 1) = '/' || name)
);
-- Listing by path.
CREATE INDEX agent_skills_path ON mcp.agent_skills (path, id);

-- The bytes of a file as they came: its digest is of them.
CREATE TABLE mcp.agent_skill_files (
    agent_skill_id bigint NOT NULL REFERENCES mcp.agent_skills (id) ON DELETE CASCADE,
    path           text COLLATE "C" NOT NULL,            -- within the folder
    mime_type      text NOT NULL,
    digest         text NOT NULL,                        -- sha256:, and 64 hexadecimal digits
    content        bytea NOT NULL,
    PRIMARY KEY (agent_skill_id, path)
);
-- Read whole or not at all: compressed in a column, a file would have to be unpacked to know its size.
ALTER TABLE mcp.agent_skill_files ALTER COLUMN content SET STORAGE EXTERNAL;

-- What is searched: name and description, which is piece 0, then the pieces of the body. Each is a document.
CREATE TABLE mcp.agent_skill_pieces (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent_skill_id bigint NOT NULL REFERENCES mcp.agent_skills (id) ON DELETE CASCADE,
    nth            integer NOT NULL,
    heading        text NOT NULL,                        -- the headings above it, from the outermost one in
    content        text NOT NULL,
    -- Checked at the end of a statement: one that moves pieces moves all of them.
    CONSTRAINT agent_skill_pieces_place UNIQUE (agent_skill_id, nth) DEFERRABLE INITIALLY IMMEDIATE
);

-- The Agent Skills that a caller sees (as `items_seen_by`).
CREATE FUNCTION mcp.agent_skills_seen_by(caller text) RETURNS SETOF mcp.agent_skills
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT s.* FROM mcp.agent_skills s WHERE s.org_id IS NULL OR s.org_id = caller
$$;

-- Pieces as documents. Those of a skill that is switched off are not in the index.
CREATE FUNCTION mcp.mcp_agent_skills_documents(keys text[])
RETURNS TABLE (key text, org_id text, is_searchable boolean, payload jsonb)
LANGUAGE sql STABLE AS $$
    SELECT p.id::text, s.org_id, s.is_active, jsonb_build_object(
        'agent_skill_id', s.id::text, 'part', CASE p.nth WHEN 0 THEN 'description' ELSE 'body' END,
        'org_id', coalesce(s.org_id, ''))
    FROM mcp.agent_skill_pieces p JOIN mcp.agent_skills s ON s.id = p.agent_skill_id
    WHERE p.id = ANY (keys::bigint[])
$$;
CREATE TRIGGER agent_skill_pieces_updated AFTER UPDATE ON mcp.agent_skill_pieces
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_changed_rows('mcp_agent_skills', 'id');
CREATE TRIGGER agent_skill_pieces_deleted AFTER DELETE ON mcp.agent_skill_pieces
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.delete_documents_of_rows('mcp_agent_skills', 'id');
CREATE TRIGGER agent_skill_pieces_truncated AFTER TRUNCATE ON mcp.agent_skill_pieces
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.delete_documents_of_table('mcp_agent_skills');

CREATE FUNCTION mcp.project_agent_skills() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.project_documents('mcp_agent_skills', (
        SELECT array_agg(p.id::text) FROM mcp.agent_skill_pieces p JOIN changed c ON c.id = p.agent_skill_id));
    RETURN NULL;
END $$;
CREATE TRIGGER agent_skills_updated AFTER UPDATE ON mcp.agent_skills
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mcp.project_agent_skills();

-- As in 0007, with the collection of Agent Skills.
CREATE OR REPLACE FUNCTION mcp.search_filters(of_collection text, payload jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(DISTINCT f.name || '=' || v.value ORDER BY f.name || '=' || v.value), '{}')
    FROM unnest(CASE of_collection
        WHEN 'mcp_unified_search' THEN '{org_id,type,server,skill_keys,name_key}'
        WHEN 'mcp_skills' THEN '{org_id,hidden_from}'
        WHEN 'mcp_registry' THEN '{org_id,kind,is_enabled,tags,entity_id,path}'
        WHEN 'mcp_mail' THEN
            '{org_id,kind,project_ids,importance,sender,recipients,parties,thread_id,ack_required}'
        WHEN 'mcp_agent_skills' THEN '{org_id,part}'
        ELSE '{org_id}' END::text[]) AS f (name)
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(payload -> f.name) WHEN 'array' THEN payload -> f.name
             ELSE jsonb_build_array(payload -> f.name) END) AS e (value)
    CROSS JOIN LATERAL (SELECT e.value #>> '{}' AS value) AS v
    WHERE jsonb_typeof(e.value) = 'string'
$$;
