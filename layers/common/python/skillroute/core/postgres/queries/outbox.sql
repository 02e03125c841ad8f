-- Work that waits for a queue.

-- name: next_to_publish
-- Of each organisation the oldest work without a message, as far as the organisation has room (docs/adr/0028). Nothing is
-- locked here: `mark_published` takes what is still to be published.
--
-- Room is what is missing to `most_in_flight`: published and not done. Work that failed is hidden in the queue until its
-- next receive and counts a tenth, so that a few tools that always fail do not stop the others of their organisation, and
-- an outage does not bring a whole backlog into the queue either.
--
-- Organisations with the least in flight come first, `share` rows at a time; among equals the one with the oldest row. The
-- recursion steps from organisation to organisation through the index, however many rows there are.
WITH RECURSIVE organisations AS (
    (SELECT queue, org_id FROM mcp.outbox
     WHERE published_at IS NULL AND dead_at IS NULL
     ORDER BY queue, org_id LIMIT 1)
    UNION ALL
    SELECT following.queue, following.org_id
    FROM organisations o
    CROSS JOIN LATERAL (
        SELECT queue, org_id FROM mcp.outbox
        WHERE published_at IS NULL AND dead_at IS NULL AND (queue, org_id) > (o.queue, o.org_id)
        ORDER BY queue, org_id LIMIT 1) following
)
SELECT o.queue, w.key, o.org_id
FROM organisations o
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE attempts = 0) + count(*) FILTER (WHERE attempts > 0) / 10 AS in_flight
    FROM mcp.outbox
    WHERE queue = o.queue AND org_id = o.org_id AND published_at IS NOT NULL AND dead_at IS NULL) f
CROSS JOIN LATERAL (
    SELECT key, created_at, row_number() OVER (ORDER BY created_at, key) AS place, min(created_at) OVER () AS oldest
    FROM (SELECT key, created_at FROM mcp.outbox
          WHERE queue = o.queue AND org_id = o.org_id AND published_at IS NULL AND dead_at IS NULL
          ORDER BY created_at, key
          LIMIT greatest(0, least(:share::int, :most_in_flight::int - f.in_flight))) room) w
ORDER BY (f.in_flight + w.place - 1) / :share::int, w.oldest, o.queue, o.org_id, w.place
LIMIT :limit::int

-- name: mark_published
-- What another publisher has locked is left to it.
UPDATE mcp.outbox o SET published_at = clock_timestamp()
FROM (
    SELECT u.queue, u.key
    FROM json_to_recordset(:rows::json) AS r (queue text, key text)
    JOIN mcp.outbox u ON u.queue = r.queue AND u.key = r.key
    WHERE u.published_at IS NULL AND u.dead_at IS NULL
    FOR UPDATE OF u SKIP LOCKED) unpublished
WHERE o.queue = unpublished.queue AND o.key = unpublished.key
RETURNING o.queue, o.key

-- name: enqueue
SELECT mcp.enqueue(:queue, :keys::text[])

-- name: waiting_work
SELECT key, version FROM mcp.outbox WHERE queue = :queue AND key = ANY (:keys::text[])

-- name: all_waiting
-- Work of one queue, for a process that does it without messages.
SELECT key, version FROM mcp.outbox WHERE queue = :queue AND dead_at IS NULL ORDER BY key LIMIT :limit::int

-- name: remove_done
DELETE FROM mcp.outbox o USING json_to_recordset(:rows::json) AS r (key text, version bigint)
WHERE o.queue = :queue AND o.key = r.key AND o.version = r.version
RETURNING o.key

-- name: publish_again
-- What changed while it was being done: its message has been used up.
UPDATE mcp.outbox o SET published_at = NULL
FROM json_to_recordset(:rows::json) AS r (key text, version bigint)
WHERE o.queue = :queue AND o.key = r.key AND o.version <> r.version

-- name: note_failures
-- Work that changed since its message was sent starts again, with none of its attempts used up: a failure at the last
-- receive is not its own, and it gets another message.
UPDATE mcp.outbox o
SET attempts = o.attempts + 1, last_error = r.reason,
    dead_at = CASE WHEN r.is_last AND (o.attempts > 0 OR r.receives <= 1) THEN now() ELSE o.dead_at END,
    published_at = CASE WHEN r.is_last AND o.attempts = 0 AND r.receives > 1 THEN NULL ELSE o.published_at END
FROM json_to_recordset(:rows::json) AS r (key text, reason text, is_last boolean, receives int)
WHERE o.queue = :queue AND o.key = r.key
RETURNING o.key, r.is_last AND o.dead_at IS NULL

-- name: publish_stale
-- Messages that should long have been done: the queue lost them, or their receivers were killed each time. That is
-- an attempt too; work that used up all of them is given up.
UPDATE mcp.outbox o
SET published_at = NULL, attempts = o.attempts + 1,
    last_error = coalesce(o.last_error, 'no answer: its message was lost, or its receiver was killed'),
    dead_at = CASE WHEN o.attempts + 1 >= :most::int THEN now() END
WHERE (o.queue, o.key) IN (
    SELECT queue, key FROM mcp.outbox
    WHERE dead_at IS NULL AND published_at < now() - make_interval(secs => :older_than_s::float8)
    ORDER BY published_at LIMIT :limit::int)
RETURNING queue, key, attempts, last_error, dead_at

-- name: publish_all_again
-- The queues are new and empty.
UPDATE mcp.outbox SET published_at = NULL WHERE dead_at IS NULL AND published_at IS NOT NULL
RETURNING key

-- name: revive_dead
UPDATE mcp.outbox SET dead_at = NULL, published_at = NULL, attempts = 0
WHERE dead_at IS NOT NULL AND queue = :queue AND (:keys::text[] IS NULL OR key = ANY (:keys::text[]))
RETURNING key

-- name: failures
SELECT key, attempts, last_error, dead_at FROM mcp.outbox
WHERE queue = :queue AND key = ANY (:keys::text[])

-- name: dead
SELECT key, attempts, last_error, dead_at FROM mcp.outbox
WHERE queue = :queue AND dead_at IS NOT NULL
ORDER BY dead_at, key
LIMIT :limit::int

-- name: outbox_depths
SELECT q.queue, count(o.key) FILTER (WHERE o.dead_at IS NULL), count(o.key) FILTER (WHERE o.dead_at IS NOT NULL),
       coalesce(extract(epoch FROM now() - min(o.created_at) FILTER (WHERE o.dead_at IS NULL)), 0)::float8
FROM (VALUES ('classify'), ('aggregate'), ('learn')) AS q (queue)
LEFT JOIN mcp.outbox o ON o.queue = q.queue
GROUP BY q.queue
ORDER BY q.queue
