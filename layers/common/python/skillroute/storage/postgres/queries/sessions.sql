-- name: server_history
-- The history of transactions that a server writes: its cluster and its timeline. A promoted standby starts a new timeline;
-- until its next checkpoint the control file has it as the timeline of its recovery.
SELECT format('%s/%s', s.system_identifier, greatest(c.timeline_id, r.min_recovery_end_timeline))
FROM pg_control_system() AS s, pg_control_checkpoint() AS c, pg_control_recovery() AS r

-- name: server_start
SELECT pg_postmaster_start_time()::text

-- name: transaction_status
-- Null when the transaction is so old that its status is forgotten.
SELECT pg_xact_status(:xid::xid8)

-- name: end_transaction
-- A transaction that still waits for its client has not received its COMMIT, and never will: the connection is gone.
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE backend_xid = :xid::xid8::xid AND state IN ('idle in transaction', 'idle in transaction (aborted)')
