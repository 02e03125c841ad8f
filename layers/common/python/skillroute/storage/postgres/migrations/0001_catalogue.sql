-- The catalogue: tools, prompts and resources in one table, the skills, and who belongs to which.
-- PostgreSQL 15 or later (UNIQUE NULLS NOT DISTINCT).

CREATE TABLE mcp.tools (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id          text,                                -- null: global, seen by every organisation
    server          text NOT NULL DEFAULT '',            -- '': the item belongs to no server
    type            text NOT NULL,
    name            text NOT NULL,
    description     text NOT NULL DEFAULT '',
    -- json, not jsonb: schemas are given back as they came, properties in their author's order
    input_schema    json,
    output_schema   json,
    annotations     json,
    tags            text[] NOT NULL DEFAULT '{}',
    metadata        json NOT NULL DEFAULT '{}',
    is_active       boolean NOT NULL DEFAULT true,
    content_hash    text NOT NULL,                       -- of everything above that the owner says
    text_hash       text NOT NULL,                       -- of what is embedded and indexed
    embedding_texts text[] NOT NULL,                     -- its views, the whole of it first (docs/adr/0003)
    lexical_text    text NOT NULL,
    embedding       bytea,                               -- float32, little-endian; null until it could be made
    embedding_model text,
    embedding_dimension integer,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tools_key UNIQUE NULLS NOT DISTINCT (org_id, server, type, name),
    CONSTRAINT tools_type_known CHECK (type IN ('tool', 'prompt', 'resource')),
    CONSTRAINT tools_name_length CHECK (char_length(name) BETWEEN 1 AND 256),
    CONSTRAINT tools_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT tools_embedding_whole CHECK (
        (embedding IS NULL AND embedding_model IS NULL AND embedding_dimension IS NULL)
        -- a CHECK lets NULL pass, so each column is asked for
        OR (embedding IS NOT NULL AND embedding_model IS NOT NULL AND embedding_dimension IS NOT NULL
            AND embedding_dimension > 0 AND octet_length(embedding) = 4 * embedding_dimension)
    )
);
-- Listing by server, and a server's tools. (Listing by name or type starts from tools_key.)
CREATE INDEX tools_server ON mcp.tools (server, id);
-- What still has to be embedded; nearly always empty, so it costs nothing to keep and nothing to ask.
CREATE INDEX tools_without_embedding ON mcp.tools (id) WHERE embedding IS NULL;

CREATE TABLE mcp.skill_categories (
    id              varchar(64) PRIMARY KEY,
    org_id          text,
    name            varchar(255) NOT NULL,
    description     text NOT NULL,
    keywords        text[] NOT NULL DEFAULT '{}',
    examples        text[] NOT NULL DEFAULT '{}',
    parent_domain   varchar(64),
    is_active       boolean NOT NULL DEFAULT true,
    deleted_at      timestamptz,                         -- soft delete
    text_hash       text NOT NULL,
    embedding_texts text[] NOT NULL,                     -- what description_embedding was made of
    lexical_text    text NOT NULL,
    description_embedding bytea,                         -- serves while the skill has no tools
    embedding       bytea,                               -- the mean of its tools, or the description's
    embedding_model text,
    embedding_dimension integer,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT skill_categories_id_format CHECK (id ~ '^[a-z][a-z0-9_]*$'),
    CONSTRAINT skill_categories_id_not_reserved CHECK (id NOT IN ('classify', 'suggestions')),
    CONSTRAINT skill_categories_name_not_blank CHECK (btrim(name) <> ''),
    CONSTRAINT skill_categories_description_length CHECK (char_length(description) BETWEEN 10 AND 1000),
    CONSTRAINT skill_categories_keywords_limit CHECK (cardinality(keywords) <= 20),
    CONSTRAINT skill_categories_examples_limit CHECK (cardinality(examples) <= 10),
    CONSTRAINT skill_categories_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT skill_categories_deleted_is_inactive CHECK (deleted_at IS NULL OR NOT is_active),
    CONSTRAINT skill_categories_embedding_whole CHECK (
        (embedding IS NULL AND description_embedding IS NULL
            AND embedding_model IS NULL AND embedding_dimension IS NULL)
        OR (embedding IS NOT NULL AND description_embedding IS NOT NULL
            AND embedding_model IS NOT NULL AND embedding_dimension IS NOT NULL
            AND embedding_dimension > 0
            AND octet_length(embedding) = 4 * embedding_dimension
            AND octet_length(description_embedding) = 4 * embedding_dimension)
    )
);

CREATE TABLE mcp.tool_skill_assignments (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tool_id     bigint NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
    skill_id    varchar(64) NOT NULL REFERENCES mcp.skill_categories (id) ON DELETE RESTRICT,
    confidence  double precision NOT NULL,
    is_primary  boolean NOT NULL DEFAULT false,
    source      varchar(32) NOT NULL DEFAULT 'llm_auto',
    assigned_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tool_skill_assignments_key UNIQUE (tool_id, skill_id),
    CONSTRAINT tool_skill_assignments_confidence_range CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT tool_skill_assignments_source_known
        CHECK (source IN ('llm_auto', 'similarity', 'human_manual', 'human_override'))
);
-- A skill's members, surest first; also serves the count. (A tool's skills start from the unique key.)
CREATE INDEX tool_skill_assignments_skill ON mcp.tool_skill_assignments (skill_id, confidence DESC, tool_id);
-- No tool has two primary skills.
CREATE UNIQUE INDEX tool_skill_assignments_one_primary ON mcp.tool_skill_assignments (tool_id) WHERE is_primary;

CREATE TABLE mcp.skill_suggestions (
    id                    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id                text,
    suggested_name        varchar(255) NOT NULL,
    suggested_description text NOT NULL DEFAULT '',
    source_tool_id        bigint REFERENCES mcp.tools (id) ON DELETE SET NULL,
    reasoning             text,
    status                varchar(32) NOT NULL DEFAULT 'pending',
    resolved_skill_id     varchar(64) REFERENCES mcp.skill_categories (id) ON DELETE SET NULL,
    reviewed_by           varchar(255),
    review_reason         text,
    created_at            timestamptz NOT NULL DEFAULT now(),
    reviewed_at           timestamptz,
    CONSTRAINT skill_suggestions_status_known CHECK (status IN ('pending', 'approved', 'rejected', 'merged')),
    CONSTRAINT skill_suggestions_name_not_blank CHECK (btrim(suggested_name) <> ''),
    CONSTRAINT skill_suggestions_reviewed_once CHECK ((status = 'pending') = (reviewed_at IS NULL))
);
CREATE INDEX skill_suggestions_status ON mcp.skill_suggestions (status, id);
CREATE INDEX skill_suggestions_source_tool ON mcp.skill_suggestions (source_tool_id);

-- What everyone asks of an item and of a skill, in one place. Only active skills count as an item's skills, and only
-- active items count as a skill's tools: both are counted when asked for, never kept. What a global item or skill says
-- is read by every organisation, so it says nothing of what belongs to one of them.
CREATE VIEW mcp.items_with_skills AS
SELECT t.*, k.skill_ids, k.primary_skill_id
FROM mcp.tools t
LEFT JOIN LATERAL (
    SELECT array_agg(a.skill_id::text ORDER BY a.confidence DESC, a.skill_id) AS skill_ids,
           max(a.skill_id::text) FILTER (WHERE a.is_primary) AS primary_skill_id
    FROM mcp.tool_skill_assignments a
    JOIN mcp.skill_categories c
      ON c.id = a.skill_id AND c.is_active AND (c.org_id IS NULL OR c.org_id = t.org_id)
    WHERE a.tool_id = t.id
) k ON true;

CREATE VIEW mcp.skills_with_counts AS
SELECT c.*, (
    SELECT count(*)
    FROM mcp.tool_skill_assignments a
    JOIN mcp.tools t ON t.id = a.tool_id AND t.is_active AND (t.org_id IS NULL OR t.org_id = c.org_id)
    WHERE a.skill_id = c.id
) AS tool_count
FROM mcp.skill_categories c
WHERE c.deleted_at IS NULL;
