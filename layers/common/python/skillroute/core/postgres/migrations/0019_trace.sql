-- A trace of searches, calls, refusals and changes (docs/trace.md): rows are added, and deleted when they are too old.

CREATE TABLE mcp.trace (
    id          uuid PRIMARY KEY,
    at          timestamptz NOT NULL,
    kind        text NOT NULL,
    outcome     text NOT NULL,
    code        text,                                    -- of the error, or the reason of a refusal
    org_id      text,                                    -- of who asked; null: of no organisation
    actor       text,                                    -- the subject of the token
    agent       text,
    roles       text[] NOT NULL,                         -- roles and groups, or the scopes where there are none
    door        text NOT NULL,
    what        text NOT NULL,                           -- method and template of a route, or a tool's name
    targets     jsonb NOT NULL,                          -- ids by kind: tool, server, skill
    took_ms     real NOT NULL,
    bytes_in    bigint,                                  -- null: of one request of several that came together
    bytes_out   bigint,
    search_id   uuid,
    request_id  text,
    trace_id    text,                                    -- of OpenTelemetry
    arguments   text,                                    -- without secrets; null: they are left out
    CONSTRAINT trace_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT trace_kind_known CHECK (kind IN ('search', 'call', 'refusal', 'change')),
    CONSTRAINT trace_outcome_known CHECK (outcome IN ('ok', 'refused', 'failed')),
    CONSTRAINT trace_door_known CHECK (door IN ('http', 'mcp', 'function'))
);
CREATE INDEX trace_org ON mcp.trace (org_id, at, id);
CREATE INDEX trace_kind ON mcp.trace (org_id, kind, at, id);
CREATE INDEX trace_age ON mcp.trace (at);

-- Whoever may change other tables changes nothing here, the owner included: only `prune_trace` deletes. The names of the
-- functions that are running cannot be forged: with this search path each has its schema.
CREATE FUNCTION mcp.keep_trace() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    running text;
BEGIN
    GET DIAGNOSTICS running = PG_CONTEXT;
    IF TG_OP = 'DELETE' AND running ~ '\mfunction mcp\.prune_trace\(' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the trace is only added to: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER trace_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON mcp.trace
    FOR EACH STATEMENT EXECUTE FUNCTION mcp.keep_trace();

-- With the owner's rights: the relay, which writes other tables, may delete here what is too old, and nothing younger
-- than a day.
CREATE FUNCTION mcp.prune_trace(days int, most int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM mcp.trace WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM mcp.trace t
        WHERE t.at < now() - make_interval(days => greatest(days, 1))
        ORDER BY t.at
        LIMIT most
    ));
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;
REVOKE EXECUTE ON FUNCTION mcp.prune_trace FROM PUBLIC;
