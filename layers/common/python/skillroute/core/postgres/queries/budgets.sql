-- name: charge_budgets
-- Seconds to wait, 0 where all budgets were charged. The function writes as its owner: those who search only read.
SELECT mcp.charge_budgets(:keys::text[], :seconds::float8[], :held_s::float8)
