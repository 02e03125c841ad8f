-- Words say by which version they were cut; the words of an older one are replaced (docs/adr/0066).

-- Give points the words that the application has cut, of the text that the document still has. A writer of an older version
-- does not say by which version it cuts: that is the first.
CREATE OR REPLACE FUNCTION mcp.set_search_words(of_collection text, given json) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
    again bigint[] := ARRAY(
        SELECT p.id FROM json_to_recordset(given) AS r (key text, text_hash text, cut smallint)
        JOIN mcp.search_points p ON (p.collection, p.key, p.text_hash) = (of_collection, r.key, r.text_hash)
        WHERE p.terms IS NOT NULL AND p.cut < r.cut);
    cut bigint[];
BEGIN
    IF again <> '{}' THEN
        PERFORM mcp.delete_search_postings(again);
    END IF;
    WITH updated AS (
        UPDATE mcp.search_points p SET terms = r.terms, impacts = r.impacts, cut = coalesce(r.cut, 1)
        FROM json_to_recordset(given) AS r (key text, text_hash text, terms integer[], impacts real[], cut smallint)
        WHERE p.collection = of_collection AND p.key = r.key AND p.text_hash = r.text_hash
          AND (p.terms IS NULL OR p.id = ANY (again))
        RETURNING p.id
    )
    SELECT array_agg(id) INTO cut FROM updated;
    PERFORM mcp.put_search_postings(cut);
END $$;
