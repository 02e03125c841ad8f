-- name: server_history
-- The history of transactions that a server writes. It ends
-- with a promotion, which starts a new timeline (until the next checkpoint the control file has it as that of recovery),
-- and with a crash, after which ids are given out again whose transactions were not on disk: recovery resets statistics.
-- A standby lags behind it.
SELECT format(
    '%s/%s/%s/%s',
    cluster.system_identifier,
    greatest(checkpoint.timeline_id, recovery.min_recovery_end_timeline),
    pg_stat_get_bgwriter_stat_reset_time(),
    pg_is_in_recovery()
)
FROM pg_control_system() AS cluster, pg_control_checkpoint() AS checkpoint, pg_control_recovery() AS recovery

-- name: server_start
-- The same where the control file cannot be read: every restart ends it.
SELECT format('%s/%s/%s', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time(), pg_is_in_recovery())

-- name: transaction_status
-- Null when the transaction is so old that its status is forgotten.
SELECT pg_xact_status(:xid::xid8)

-- name: end_transaction
-- A transaction that still waits for its client has not received its COMMIT, and never will: the connection is gone.
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE backend_xid = :xid::xid8::xid AND state IN ('idle in transaction', 'idle in transaction (aborted)')
