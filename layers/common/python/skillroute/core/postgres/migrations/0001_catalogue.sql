-- The catalogue: tools, prompts and resources in one table, the skills, and who belongs to which.
-- PostgreSQL 15 or later (UNIQUE NULLS NOT DISTINCT).

CREATE TABLE mcp.tools (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id          text,                                -- null: global, seen by every organisation
    server          text NOT NULL DEFAULT '',            -- '': the item belongs to no server
    type            text NOT NULL,
    name            text NOT NULL,
    name_key        text NOT NULL DEFAULT '',            -- what the name is recognised by in a query
    description     text NOT NULL DEFAULT '',
    -- json, not jsonb: schemas are given back as they came, properties in their author's order
    input_schema    json,
    output_schema   json,
    annotations     json,
    tags            text[] NOT NULL DEFAULT '{}',
    metadata        json NOT NULL DEFAULT '{}',
    is_active       boolean NOT NULL DEFAULT true,
    content_hash    text NOT NULL,                       -- of everything above that the owner says
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tools_key UNIQUE NULLS NOT DISTINCT (org_id, server, type, name),
    CONSTRAINT tools_type_known CHECK (type IN ('tool', 'prompt', 'resource')),
    CONSTRAINT tools_name_length CHECK (char_length(name) BETWEEN 1 AND 256),
    CONSTRAINT tools_org_not_blank CHECK (org_id <> '')
);
-- Listing by server, and a server's tools. (Listing by name or type starts from tools_key.)
CREATE INDEX tools_server ON mcp.tools (server, id);

CREATE TABLE mcp.skill_categories (
    id              varchar(64) NOT NULL,                -- unique within its organisation: what callers name it by
    org_id          text,                                -- null: global, seen by every organisation
    -- Unique over all organisations: what rows, messages and indexes name it by (docs/adr/0024). No id has a slash, so
    -- no two skills share a key; and a slash sorts before every character of an id, so order by key is order by id.
    key             text COLLATE "C" GENERATED ALWAYS AS (id || coalesce('/' || org_id, '')) STORED PRIMARY KEY,
    name            varchar(255) NOT NULL,
    description     text NOT NULL,
    keywords        text[] NOT NULL DEFAULT '{}',
    examples        text[] NOT NULL DEFAULT '{}',
    parent_domain   varchar(64),
    is_active       boolean NOT NULL DEFAULT true,
    deleted_at      timestamptz,                         -- soft delete
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT skill_categories_id_format CHECK (id ~ '^[a-z][a-z0-9_]*$'),
    CONSTRAINT skill_categories_id_not_reserved CHECK (id NOT IN ('classify', 'suggestions')),
    CONSTRAINT skill_categories_name_not_blank CHECK (btrim(name) <> ''),
    CONSTRAINT skill_categories_description_length CHECK (char_length(description) BETWEEN 10 AND 1000),
    CONSTRAINT skill_categories_keywords_limit CHECK (cardinality(keywords) <= 20),
    CONSTRAINT skill_categories_examples_limit CHECK (cardinality(examples) <= 10),
    CONSTRAINT skill_categories_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT skill_categories_deleted_is_inactive CHECK (deleted_at IS NULL OR NOT is_active)
);

-- Which global skills an organisation has of its own by the same id, and whose they are.
CREATE INDEX skill_categories_owned ON mcp.skill_categories (id) WHERE org_id IS NOT NULL AND deleted_at IS NULL;

-- An organisation's skills, and the global ones.
CREATE INDEX skill_categories_org ON mcp.skill_categories (org_id, name, id) WHERE deleted_at IS NULL;

CREATE TABLE mcp.tool_skill_assignments (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tool_id     bigint NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
    skill_key   text COLLATE "C" NOT NULL REFERENCES mcp.skill_categories (key) ON DELETE RESTRICT,
    -- The tool's organisation, '' for a global tool: nobody counts, or walks through, what belongs to others.
    owner       text NOT NULL,
    confidence  double precision NOT NULL,
    is_primary  boolean NOT NULL DEFAULT false,
    source      varchar(32) NOT NULL DEFAULT 'llm_auto',
    assigned_at timestamptz NOT NULL DEFAULT now(),
    reasoning   text,
    CONSTRAINT tool_skill_assignments_key UNIQUE (tool_id, skill_key),
    CONSTRAINT tool_skill_assignments_confidence_range CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT tool_skill_assignments_source_known
        CHECK (source IN ('llm_auto', 'similarity', 'human_manual', 'human_override'))
);
-- A skill's members of one owner, highest confidence first; also serves the count. (A tool's skills start from the unique key.)
CREATE INDEX tool_skill_assignments_skill
    ON mcp.tool_skill_assignments (skill_key, owner, confidence DESC, tool_id);
-- No tool has two primary skills.
CREATE UNIQUE INDEX tool_skill_assignments_one_primary ON mcp.tool_skill_assignments (tool_id) WHERE is_primary;
-- What people assigned makes the centroids that classifiers learn from.
CREATE INDEX tool_skill_assignments_by_people ON mcp.tool_skill_assignments (skill_key, owner, tool_id)
    WHERE source IN ('human_manual', 'human_override');

-- A row belongs to the organisation of its tool.
CREATE FUNCTION mcp.set_owner() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.owner := coalesce((SELECT t.org_id FROM mcp.tools t WHERE t.id = NEW.tool_id), '');
    RETURN NEW;
END $$;
CREATE TRIGGER assignments_owner BEFORE INSERT OR UPDATE OF tool_id, owner ON mcp.tool_skill_assignments
    FOR EACH ROW EXECUTE FUNCTION mcp.set_owner();

CREATE TABLE mcp.skill_suggestions (
    id                    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id                text,
    suggested_name        varchar(255) NOT NULL,
    suggested_description text NOT NULL DEFAULT '',
    source_tool_id        bigint REFERENCES mcp.tools (id) ON DELETE SET NULL,
    reasoning             text,
    status                varchar(32) NOT NULL DEFAULT 'pending',
    resolved_skill_key    text COLLATE "C" REFERENCES mcp.skill_categories (key) ON DELETE SET NULL,
    reviewed_by           varchar(255),
    review_reason         text,
    created_at            timestamptz NOT NULL DEFAULT now(),
    reviewed_at           timestamptz,
    kind                  text NOT NULL DEFAULT 'new_skill',
    target_skill_key      text COLLATE "C" REFERENCES mcp.skill_categories (key) ON DELETE CASCADE,
    source_tool_name      text,                          -- stays when the tool goes
    source                varchar(32) NOT NULL DEFAULT 'llm_auto',
    -- Names are the same when they are, case, spacing and separators aside (decision 21).
    name_key              text NOT NULL
        GENERATED ALWAYS AS (lower(regexp_replace(suggested_name, '[\s_-]+', '', 'g'))) STORED,
    CONSTRAINT skill_suggestions_kind_known CHECK (kind IN ('new_skill', 'description')),
    CONSTRAINT skill_suggestions_target CHECK ((kind = 'description') = (target_skill_key IS NOT NULL)),
    CONSTRAINT skill_suggestions_status_known CHECK (status IN ('pending', 'approved', 'rejected', 'merged')),
    CONSTRAINT skill_suggestions_name_not_blank CHECK (btrim(suggested_name) <> ''),
    CONSTRAINT skill_suggestions_reviewed_once CHECK ((status = 'pending') = (reviewed_at IS NULL))
);
CREATE INDEX skill_suggestions_status ON mcp.skill_suggestions (status, id);
CREATE INDEX skill_suggestions_source_tool ON mcp.skill_suggestions (source_tool_id);
CREATE INDEX skill_suggestions_name ON mcp.skill_suggestions (name_key) WHERE status = 'pending';
-- A tool, and a description, has one open suggestion at most; a newer one takes its place.
CREATE UNIQUE INDEX skill_suggestions_one_for_a_tool ON mcp.skill_suggestions (source_tool_id)
    WHERE status = 'pending' AND kind = 'new_skill';
CREATE UNIQUE INDEX skill_suggestions_one_description ON mcp.skill_suggestions (target_skill_key)
    WHERE status = 'pending' AND kind = 'description';

-- The items and suggestions that a caller sees: those of its organisation, and the global ones. Every read of what a caller
-- may see starts from here, or from the function of its kind; so no statement can leave the condition out of its own.
-- (One plain SELECT, so that the planner sees through it, and safe in parallel, as the table itself is.)
CREATE FUNCTION mcp.items_seen_by(caller text) RETURNS SETOF mcp.tools
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT t.* FROM mcp.tools t WHERE t.org_id IS NULL OR t.org_id = caller
$$;
CREATE FUNCTION mcp.suggestions_seen_by(caller text) RETURNS SETOF mcp.skill_suggestions
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT s.* FROM mcp.skill_suggestions s WHERE s.org_id IS NULL OR s.org_id = caller
$$;

-- The skills that a caller sees: those of its organisation, and the global ones but those whose id it has given to a
-- skill of its own, which stands in their place everywhere. Every read that starts from ids starts from here.
-- (One plain SELECT, so that the planner sees through it.)
CREATE FUNCTION mcp.skills_seen_by(caller text) RETURNS SETOF mcp.skill_categories
LANGUAGE sql STABLE AS $$
    SELECT c.* FROM mcp.skill_categories c
    WHERE c.deleted_at IS NULL
      AND (c.org_id = caller
           OR (c.org_id IS NULL AND NOT EXISTS (
               SELECT FROM mcp.skill_categories own
               WHERE own.key = c.id || '/' || caller AND own.deleted_at IS NULL)))
$$;

-- Items as the index holds them, for all callers alike. Only active skills count as an item's skills, which are found out
-- when asked for, never kept. What a global item says is read by every organisation, so it says nothing of what belongs
-- to one of them.
CREATE VIEW mcp.items_with_skills AS
SELECT t.*, k.skill_keys, k.primary_skill_key
FROM mcp.tools t
LEFT JOIN LATERAL (
    SELECT array_agg(a.skill_key ORDER BY a.confidence DESC, a.skill_key) AS skill_keys,
           max(a.skill_key) FILTER (WHERE a.is_primary) AS primary_skill_key
    FROM mcp.tool_skill_assignments a
    JOIN mcp.skill_categories c
      ON c.key = a.skill_key AND c.is_active AND (c.org_id IS NULL OR c.org_id = t.org_id)
    WHERE a.tool_id = t.id
) k ON true;

-- The same for one item as a caller sees it, by ids.
CREATE FUNCTION mcp.skills_of_item(item bigint, caller text, OUT skill_ids text[], OUT primary_skill_id text)
RETURNS SETOF record
LANGUAGE sql STABLE AS $$
    SELECT array_agg(c.id::text ORDER BY a.confidence DESC, a.skill_key),
           max(c.id::text) FILTER (WHERE a.is_primary)
    FROM mcp.tool_skill_assignments a
    JOIN mcp.skills_seen_by(caller) c
      ON c.key = a.skill_key AND c.is_active AND (c.org_id IS NULL OR c.org_id = a.owner)
    WHERE a.tool_id = item
$$;
