-- Up to eight requests that a tool serves, with who wrote them: [{"text": ..., "source": ...}] (docs/adr/0067). In the tool's
-- row, so that they are written, switched, exported and deleted with it, and read in no query more. Null: none. jsonb, as
-- they are compared.
ALTER TABLE mcp.tools ADD COLUMN requests jsonb;
