-- By which version of the cut (core/documents/index/scripts.py) words were made: what was cut by an older one is cut again
-- (docs/adr/0066). Versions: 2 cuts the scripts from Thai on by themselves.

-- An index on a server is filled anew beside the one that is searched.
ALTER TABLE mcp.index_generations ADD COLUMN cut smallint NOT NULL DEFAULT 1;

-- Points keep the words that they have until the relay, a writer or `skillroute reindex` has cut them again.
ALTER TABLE mcp.search_points ADD COLUMN cut smallint NOT NULL DEFAULT 2;
UPDATE mcp.search_points p SET cut = 1
FROM mcp.documents d
WHERE (d.collection, d.key) = (p.collection, p.key)
  AND p.collection <> 'mcp_mail'             -- mail cuts its own
  AND d.lexical_text ~ '[^\u0001-\u0dff]';   -- texts of Latin letters and the like have the words that they had
-- Nearly always empty, as search_points_waiting.
CREATE INDEX search_points_former_cut ON mcp.search_points (collection, key) WHERE cut < 2;
