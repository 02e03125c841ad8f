-- name: server_history
-- Which history of transactions a server writes: that of its cluster, on its timeline, which a standby leaves when it is
-- promoted. Until its first checkpoint after that, its control file names the new timeline as the one of its recovery.
SELECT format('%s/%s', s.system_identifier, greatest(c.timeline_id, r.min_recovery_end_timeline))
FROM pg_control_system() AS s, pg_control_checkpoint() AS c, pg_control_recovery() AS r

-- name: server_start
SELECT pg_postmaster_start_time()::text

-- name: transaction_status
-- Null when the transaction is so old that its status is forgotten.
SELECT pg_xact_status(:xid::xid8)

-- name: end_transaction
-- A transaction that waits for its next statement has not seen its COMMIT, and never will: its client is gone.
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE backend_xid = :xid::xid8::xid AND state IN ('idle in transaction', 'idle in transaction (aborted)')
