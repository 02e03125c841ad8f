-- Learning from use (docs/adr/0071): what searches showed, what became of it, and what was learned of that.

-- One row for each text of a search: its query, or each of its needs.
CREATE TABLE mcp.receipts (
    search_id   uuid NOT NULL,
    nth         smallint NOT NULL,                       -- among the texts of the search
    org_id      text,                                    -- of who asked; null: of no organisation
    caller      text,                                    -- hash of who asked; null: not known
    may_teach   boolean NOT NULL,                        -- whether its outcomes teach anything
    door        text NOT NULL,
    asked_at    timestamptz NOT NULL DEFAULT now(),
    query       text,                                    -- without secrets; null: texts are left out
    query_hash  text NOT NULL,
    model       text,                                    -- of the vector: name and dimension
    vector      bytea,                                   -- of the text, as document_vectors has them; null: none was made
    shown       jsonb NOT NULL,                          -- best first: [[id of the tool, hash of its content, probability]]
    no_match    boolean NOT NULL,
    PRIMARY KEY (search_id, nth),
    CONSTRAINT receipts_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT receipts_door_known CHECK (door IN ('http', 'mcp', 'console'))
);
-- Those of an organisation by age: learning, pages, and what is too old.
CREATE INDEX receipts_org ON mcp.receipts (org_id, asked_at, search_id);
CREATE INDEX receipts_age ON mcp.receipts (asked_at);
CREATE INDEX receipts_caller ON mcp.receipts (caller, asked_at) WHERE caller IS NOT NULL;
-- Vectors are read whole, and do not compress.
ALTER TABLE mcp.receipts ALTER COLUMN vector SET STORAGE EXTERNAL;

-- May come before its receipt, which is written later: so there is no reference. The last of a caller counts.
CREATE TABLE mcp.outcomes (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    search_id   uuid NOT NULL,
    tool_id     bigint,                                  -- null: of the search as a whole
    org_id      text,
    caller      text,
    may_teach   boolean NOT NULL,
    outcome     text NOT NULL,
    source      text NOT NULL,                           -- a program's report, or a person's mark
    reported_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT outcomes_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT outcomes_known CHECK (outcome IN ('called', 'succeeded', 'failed', 'wrong', 'nothing_fits')),
    CONSTRAINT outcomes_source_known CHECK (source IN ('program', 'person')),
    CONSTRAINT outcomes_of_a_tool_or_of_none CHECK ((outcome = 'nothing_fits') = (tool_id IS NULL))
);
CREATE INDEX outcomes_search ON mcp.outcomes (search_id);
CREATE INDEX outcomes_org ON mcp.outcomes (org_id, reported_at);
CREATE INDEX outcomes_age ON mcp.outcomes (reported_at);
CREATE INDEX outcomes_tool ON mcp.outcomes (tool_id);
CREATE INDEX outcomes_caller ON mcp.outcomes (caller, reported_at) WHERE caller IS NOT NULL;

-- The results of learning, each with its measurement, whether it went live or not.
CREATE TABLE mcp.learned_states (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id      text,
    made_at     timestamptz NOT NULL DEFAULT now(),
    model       text NOT NULL,                           -- of its vectors: name and dimension
    is_live     boolean NOT NULL DEFAULT false,
    was_better  boolean NOT NULL,
    report      jsonb NOT NULL,                          -- counts, measures before and after, why it went live or not
    revision    integer NOT NULL DEFAULT 0,              -- grows when a part of it is forgotten
    CONSTRAINT learned_states_org_not_blank CHECK (org_id <> '')
);
CREATE UNIQUE INDEX learned_states_live ON mcp.learned_states (org_id) NULLS NOT DISTINCT WHERE is_live;
CREATE INDEX learned_states_org ON mcp.learned_states (org_id, id);

-- When an organisation learned last, whatever came of it, and whether it goes on.
CREATE TABLE mcp.learning_runs (
    org_id      text,
    began_at    timestamptz,                             -- before it read: what was reported later is new; null: never
    is_held     boolean NOT NULL DEFAULT false,          -- a person chose what is live: nothing else goes live
    CONSTRAINT learning_runs_of_org UNIQUE NULLS NOT DISTINCT (org_id),
    CONSTRAINT learning_runs_org_not_blank CHECK (org_id <> '')
);

-- Learning waits in the outbox as other work does: one row for an organisation.
ALTER TABLE mcp.outbox DROP CONSTRAINT outbox_queue_known;
ALTER TABLE mcp.outbox ADD CONSTRAINT outbox_queue_known CHECK (queue IN ('classify', 'aggregate', 'learn'));
CREATE OR REPLACE FUNCTION mcp.enqueue(to_queue text, keys text[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    INSERT INTO mcp.outbox AS o (queue, key, org_id)
    SELECT to_queue, waiting.key, coalesce(
        CASE to_queue WHEN 'classify' THEN (SELECT t.org_id FROM mcp.tools t WHERE t.id = waiting.key::bigint)
                      WHEN 'learn' THEN CASE WHEN starts_with(waiting.key, 'org/') THEN substr(waiting.key, 5) END
                      ELSE (SELECT c.org_id FROM mcp.skill_categories c WHERE c.key = waiting.key) END, '')
    FROM (SELECT DISTINCT unnest(keys) AS key) AS waiting
    ORDER BY waiting.key
    ON CONFLICT (queue, key) DO UPDATE SET
        version = excluded.version, attempts = 0, last_error = NULL, dead_at = NULL,
        -- The message of one that was given up lies in the dead-letter queue and will not come.
        published_at = CASE WHEN o.dead_at IS NULL THEN o.published_at END;
END $$;

-- Requests of source `use`: each the mean of several searches, so that none can be read back.
CREATE TABLE mcp.learned_requests (
    state_id    bigint NOT NULL REFERENCES mcp.learned_states (id) ON DELETE CASCADE,
    tool_id     bigint NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
    nth         smallint NOT NULL,
    vector      bytea NOT NULL,
    share       real NOT NULL,                           -- of the successful searches near it, how many went to the tool
    words       text[] NOT NULL,                         -- that three or more of its searches have
    searches    integer NOT NULL,
    callers     integer NOT NULL,
    PRIMARY KEY (state_id, tool_id, nth)
);
ALTER TABLE mcp.learned_requests ALTER COLUMN vector SET STORAGE EXTERNAL;
CREATE INDEX learned_requests_tool ON mcp.learned_requests (tool_id);

-- Tools that are called for one task together.
CREATE TABLE mcp.learned_pairs (
    state_id    bigint NOT NULL REFERENCES mcp.learned_states (id) ON DELETE CASCADE,
    tool_id     bigint NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
    with_id     bigint NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
    searches    integer NOT NULL,
    PRIMARY KEY (state_id, tool_id, with_id)
);
CREATE INDEX learned_pairs_tool ON mcp.learned_pairs (tool_id);
CREATE INDEX learned_pairs_with ON mcp.learned_pairs (with_id);

-- Since when a tool says what it says, and is searched: use from before teaches nothing. Other changes, as of metadata or
-- hints, change what it is asked for as little as a new version of its server does.
ALTER TABLE mcp.tools ADD COLUMN said_at timestamptz NOT NULL DEFAULT now();
CREATE FUNCTION mcp.note_what_is_said() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.said_at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER tools_said BEFORE UPDATE ON mcp.tools
    FOR EACH ROW WHEN (
        OLD.is_active AND NOT NEW.is_active OR OLD.description <> NEW.description
        OR OLD.input_schema::text IS DISTINCT FROM NEW.input_schema::text
        OR OLD.output_schema::text IS DISTINCT FROM NEW.output_schema::text)
    EXECUTE FUNCTION mcp.note_what_is_said();

-- What was learned of a tool is forgotten when it says something else, and when it is switched off.
CREATE FUNCTION mcp.forget_changed_tools() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    forgotten bigint[];
BEGIN
    SELECT array_agg(n.id) INTO forgotten FROM after n JOIN before o ON o.id = n.id WHERE n.said_at > o.said_at;
    IF forgotten IS NULL THEN
        RETURN NULL;
    END IF;
    -- Locked by id: several writers may forget parts of several states.
    PERFORM FROM mcp.learned_states s
    WHERE s.id IN (SELECT state_id FROM mcp.learned_requests WHERE tool_id = ANY (forgotten)
                   UNION SELECT state_id FROM mcp.learned_pairs WHERE tool_id = ANY (forgotten)
                   UNION SELECT state_id FROM mcp.learned_pairs WHERE with_id = ANY (forgotten))
    ORDER BY s.id FOR UPDATE;
    WITH gone AS (DELETE FROM mcp.learned_requests WHERE tool_id = ANY (forgotten) RETURNING state_id),
         parted AS (DELETE FROM mcp.learned_pairs
                    WHERE tool_id = ANY (forgotten) OR with_id = ANY (forgotten) RETURNING state_id)
    UPDATE mcp.learned_states SET revision = revision + 1
    WHERE id IN (SELECT state_id FROM gone UNION SELECT state_id FROM parted);
    RETURN NULL;
END $$;
CREATE TRIGGER tools_forgotten AFTER UPDATE ON mcp.tools
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.forget_changed_tools();
