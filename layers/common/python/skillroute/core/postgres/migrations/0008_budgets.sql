-- Budgets of work that all processes share (docs/adr/0065).

-- Not logged: after a crash of the server all budgets are full, which is no loss.
CREATE UNLOGGED TABLE mcp.budgets (
    key     text PRIMARY KEY,   -- a digest: neither organisations nor callers are named
    -- When the budget will be full, if nothing more is charged.
    full_at timestamptz NOT NULL
);

-- Charge each budget with the seconds in which it fills by the work's cost, or none where one is spent: return the
-- seconds until it is not. With the owner's rights, since whoever searches has none to write. Waits for nobody long:
-- a count is not worth the time of a request.
CREATE FUNCTION mcp.charge_budgets(keys text[], seconds float8[], held_s float8) RETURNS float8
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '250ms' AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    wait_s float8;
BEGIN
    SELECT max(extract(epoch FROM b.full_at - moment)) - held_s INTO wait_s FROM mcp.budgets b WHERE b.key = ANY (keys);
    IF wait_s >= 0 THEN
        RETURN greatest(wait_s, 0.001);
    END IF;
    INSERT INTO mcp.budgets AS b (key, full_at)
    SELECT k, moment + make_interval(secs => s) FROM unnest(keys, seconds) AS charged (k, s)
    ORDER BY k  -- all lock in one order
    ON CONFLICT (key) DO UPDATE SET full_at = greatest(b.full_at, moment) + (excluded.full_at - moment);
    -- Now and then a few of those that are full make room; what others hold is left to them.
    IF random() < 0.01 THEN
        DELETE FROM mcp.budgets d WHERE d.key IN (
            SELECT f.key FROM mcp.budgets f WHERE f.full_at < moment LIMIT 1000 FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN 0;
END
$$;
