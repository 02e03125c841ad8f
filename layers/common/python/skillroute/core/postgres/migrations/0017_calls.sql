-- Calls of tools that are under way, so that an organisation has no more of them than it may, in all processes together.

-- Not logged: after a crash of the server no call is under way.
CREATE UNLOGGED TABLE mcp.calls_in_flight (
    id           uuid PRIMARY KEY,
    org_id       text,                          -- null: of callers without an organisation
    key          text,                          -- a digest of who asked with which request: it is cancelled by it
    ends_at      timestamptz NOT NULL,          -- a call whose process died counts until then
    is_cancelled boolean NOT NULL DEFAULT false
);
CREATE INDEX calls_in_flight_of ON mcp.calls_in_flight (org_id, ends_at);
CREATE INDEX calls_in_flight_key ON mcp.calls_in_flight (key) WHERE key IS NOT NULL;

-- Whether a call may begin. One organisation's calls begin one after the other; others do not wait for them.
CREATE FUNCTION mcp.begin_call(call uuid, of_org text, of_key text, most int, seconds float8) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7217, hashtext(coalesce(of_org, '')));
    DELETE FROM mcp.calls_in_flight c WHERE c.org_id IS NOT DISTINCT FROM of_org AND c.ends_at < clock_timestamp();
    IF (SELECT count(*) FROM mcp.calls_in_flight c WHERE c.org_id IS NOT DISTINCT FROM of_org) >= most THEN
        RETURN false;
    END IF;
    INSERT INTO mcp.calls_in_flight (id, org_id, key, ends_at)
    VALUES (call, of_org, of_key, clock_timestamp() + make_interval(secs => seconds));
    RETURN true;
END
$$;

CREATE FUNCTION mcp.end_call(call uuid) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DELETE FROM mcp.calls_in_flight WHERE id = call RETURNING is_cancelled
$$;

-- How many calls that has cancelled. With the owner's rights: who passes a caller's word on only reads.
CREATE FUNCTION mcp.cancel_calls(of_key text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH cancelled AS (UPDATE mcp.calls_in_flight SET is_cancelled = true WHERE key = of_key RETURNING 1)
    SELECT count(*) FROM cancelled
$$;
