-- Rules of access: who finds and calls which servers, tools and skills (docs/adr/0073).

CREATE TABLE mcp.access_rules (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     text,                                     -- null: of the deployment, applies to every organisation
    name       text NOT NULL,
    effect     text NOT NULL,
    roles      text[] NOT NULL DEFAULT '{}',             -- with groups: one of either; both empty: every caller
    groups     text[] NOT NULL DEFAULT '{}',
    servers    text[] NOT NULL DEFAULT '{}',             -- each empty: any
    tools      text[] NOT NULL DEFAULT '{}',
    skills     text[] NOT NULL DEFAULT '{}',
    hints      text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text,
    CONSTRAINT access_rules_effect_known CHECK (effect IN ('allow', 'deny')),
    CONSTRAINT access_rules_name_length CHECK (char_length(name) BETWEEN 1 AND 256),
    CONSTRAINT access_rules_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT access_rules_hints_known CHECK (hints <@ '{read_only,not_read_only,destructive}')
);
CREATE INDEX access_rules_org ON mcp.access_rules (org_id, id);

-- The rules that an organisation is under (as `items_seen_by`).
CREATE FUNCTION mcp.access_rules_seen_by(caller text) RETURNS SETOF mcp.access_rules
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.* FROM mcp.access_rules r WHERE r.org_id IS NULL OR r.org_id = caller
$$;

-- As `core.rights.hints.hints_of` has them: what may write is destructive unless it declares that it is not.
CREATE FUNCTION mcp.hints_of(type text, annotations json) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN type <> 'tool' THEN '{read_only}'::text[]
        WHEN json_typeof(annotations) IS DISTINCT FROM 'object' THEN '{not_read_only,destructive}'::text[]
        WHEN coalesce((annotations -> 'readOnlyHint')::text = 'true', false)
             AND coalesce((annotations -> 'destructiveHint')::text IN ('false', 'null'), true) THEN '{read_only}'::text[]
        WHEN coalesce((annotations -> 'destructiveHint')::text = 'false', false) THEN '{not_read_only}'::text[]
        ELSE '{not_read_only,destructive}'::text[] END
$$;

-- The names that rules may have for an item of servers, as `core.rights.model.Facts` has them.
CREATE FUNCTION mcp.rule_names(servers text[], name text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(regexp_replace(s.server, '^/', '') || '/' || name) FILTER (WHERE s.server <> '') || name
    FROM unnest(servers) AS s (server)
$$;

-- The names that rules may have for the server of an item: its own spelling, and path and name of the registered server
-- that it means, on which it is called.
CREATE FUNCTION mcp.rule_servers(of_org text, server text) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ARRAY[regexp_replace($2, '^/', '')] || coalesce((
        SELECT ARRAY[substr(e.path, 2), regexp_replace(e.name, '^/', '')]
        FROM mcp.named_servers n JOIN mcp.registry_entities e ON e.id = n.entity_id
        WHERE n.server = $2 AND n.org_id IS NOT DISTINCT FROM of_org), '{}')
$$;

-- What a caller with rights sees; null are those of a caller that no rule is about. The functions of one argument stay for
-- programs of an older version. Each is one plain SELECT, so that the planner sees through it, and leaves the rules out
-- where there are none; OFFSET keeps it from reading a whole table ahead to have its rows at hand.
CREATE FUNCTION mcp.items_seen_by(caller text, rights jsonb) RETURNS SETOF mcp.tools
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT t.* FROM mcp.tools t
    WHERE (t.org_id IS NULL OR t.org_id = caller)
      AND (rights IS NULL OR (
        NOT EXISTS (
            SELECT FROM jsonb_array_elements(rights -> 'deny') r
            WHERE (r -> 'servers' IS NULL OR r -> 'servers' ? regexp_replace(t.server, '^/', '') OR EXISTS (
                    SELECT FROM mcp.named_servers n JOIN mcp.registry_entities e ON e.id = n.entity_id
                    WHERE n.server = t.server AND n.org_id IS NOT DISTINCT FROM t.org_id
                      AND r -> 'servers' ?| ARRAY[substr(e.path, 2), regexp_replace(e.name, '^/', '')] OFFSET 0))
              AND (r -> 'tools' IS NULL OR r -> 'tools' ?| mcp.rule_names(ARRAY[t.server], t.name) OR EXISTS (
                    SELECT FROM mcp.named_servers n JOIN mcp.registry_entities e ON e.id = n.entity_id
                    WHERE n.server = t.server AND n.org_id IS NOT DISTINCT FROM t.org_id
                      AND r -> 'tools' ?| mcp.rule_names(ARRAY[e.path, e.name], t.name) OFFSET 0))
              AND (r -> 'hints' IS NULL OR r -> 'hints' ?| mcp.hints_of(t.type, t.annotations))
              AND (r -> 'skills' IS NULL OR EXISTS (
                    SELECT FROM mcp.tool_skill_assignments a JOIN mcp.skill_categories c ON c.key = a.skill_key
                    WHERE a.tool_id = t.id AND r -> 'skills' ? a.skill_key
                      AND c.is_active AND (c.org_id IS NULL OR c.org_id = t.org_id) OFFSET 0)))
        AND (rights -> 'allow' IS NULL OR EXISTS (
            SELECT FROM jsonb_array_elements(rights -> 'allow') r
            WHERE (r -> 'servers' IS NULL OR r -> 'servers' ? regexp_replace(t.server, '^/', '') OR EXISTS (
                    SELECT FROM mcp.named_servers n JOIN mcp.registry_entities e ON e.id = n.entity_id
                    WHERE n.server = t.server AND n.org_id IS NOT DISTINCT FROM t.org_id
                      AND r -> 'servers' ?| ARRAY[substr(e.path, 2), regexp_replace(e.name, '^/', '')] OFFSET 0))
              AND (r -> 'tools' IS NULL OR r -> 'tools' ?| mcp.rule_names(ARRAY[t.server], t.name) OR EXISTS (
                    SELECT FROM mcp.named_servers n JOIN mcp.registry_entities e ON e.id = n.entity_id
                    WHERE n.server = t.server AND n.org_id IS NOT DISTINCT FROM t.org_id
                      AND r -> 'tools' ?| mcp.rule_names(ARRAY[e.path, e.name], t.name) OFFSET 0))
              AND (r -> 'hints' IS NULL OR r -> 'hints' ?| mcp.hints_of(t.type, t.annotations))
              AND (r -> 'skills' IS NULL OR EXISTS (
                    SELECT FROM mcp.tool_skill_assignments a JOIN mcp.skill_categories c ON c.key = a.skill_key
                    WHERE a.tool_id = t.id AND r -> 'skills' ? a.skill_key
                      AND c.is_active AND (c.org_id IS NULL OR c.org_id = t.org_id) OFFSET 0))))))
$$;

CREATE FUNCTION mcp.skills_seen_by(caller text, rights jsonb) RETURNS SETOF mcp.skill_categories
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT c.* FROM mcp.skill_categories c
    WHERE c.deleted_at IS NULL
      AND (c.org_id = caller
           OR (c.org_id IS NULL AND NOT EXISTS (
               SELECT FROM mcp.skill_categories own
               WHERE own.key = c.id || '/' || caller AND own.deleted_at IS NULL)))
      AND (rights IS NULL OR (
        NOT EXISTS (
            SELECT FROM jsonb_array_elements(rights -> 'deny') r
            WHERE NOT r ?| '{servers,tools,hints}' AND (r -> 'skill_ids' IS NULL OR r -> 'skill_ids' ? c.id))
        AND (rights -> 'allow' IS NULL OR EXISTS (
            SELECT FROM jsonb_array_elements(rights -> 'allow') r
            WHERE r -> 'skill_ids' IS NULL OR r -> 'skill_ids' ? c.id))))
$$;

-- Rules are about servers; agents have no tools to call.
CREATE FUNCTION mcp.entities_seen_by(caller text, rights jsonb) RETURNS SETOF mcp.registry_entities
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT e.* FROM mcp.registry_entities e
    WHERE (e.org_id IS NULL OR e.org_id = caller)
      AND (rights IS NULL OR e.kind <> 'server' OR (
        NOT EXISTS (
            SELECT FROM jsonb_array_elements(rights -> 'deny') r
            WHERE NOT r ?| '{tools,skills,hints}'
              AND (r -> 'servers' IS NULL OR r -> 'servers' ?| ARRAY[substr(e.path, 2), e.name]))
        AND (rights -> 'allow' IS NULL OR EXISTS (
            SELECT FROM jsonb_array_elements(rights -> 'allow') r
            WHERE r -> 'servers' IS NULL OR r -> 'servers' ?| ARRAY[substr(e.path, 2), e.name]))))
$$;

CREATE FUNCTION mcp.words_seen_by(caller text, rights jsonb) RETURNS SETOF mcp.registry_words
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT w.* FROM mcp.registry_words w
    WHERE (w.org_id IS NULL OR w.org_id = caller)
      AND (rights IS NULL OR (
        EXISTS (SELECT FROM mcp.entities_seen_by(caller, rights) e WHERE e.id = w.entity_id OFFSET 0)
        AND (w.tool_id IS NULL OR EXISTS (SELECT FROM mcp.items_seen_by(caller, rights) t WHERE t.id = w.tool_id OFFSET 0))))
$$;

-- Suggestions name the tool that they are for, or the skill: who does not see it does not see them. One whose tool is gone
-- still has its name, of which rules can no longer be asked.
CREATE FUNCTION mcp.suggestions_seen_by(caller text, rights jsonb) RETURNS SETOF mcp.skill_suggestions
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT s.* FROM mcp.skill_suggestions s
    WHERE (s.org_id IS NULL OR s.org_id = caller)
      AND (rights IS NULL OR CASE s.kind
        WHEN 'description' THEN EXISTS (
            SELECT FROM mcp.skills_seen_by(caller, rights) c WHERE c.key = s.target_skill_key OFFSET 0)
        ELSE EXISTS (SELECT FROM mcp.items_seen_by(caller, rights) t WHERE t.id = s.source_tool_id OFFSET 0) END)
$$;

CREATE FUNCTION mcp.skills_of_item(item bigint, caller text, rights jsonb, OUT skill_ids text[], OUT primary_skill_id text)
RETURNS SETOF record
LANGUAGE sql STABLE AS $$
    SELECT array_agg(c.id::text ORDER BY a.confidence DESC, a.skill_key),
           max(c.id::text) FILTER (WHERE a.is_primary)
    FROM mcp.tool_skill_assignments a
    JOIN mcp.skills_seen_by(caller, rights) c
      ON c.key = a.skill_key AND c.is_active AND (c.org_id IS NULL OR c.org_id = a.owner)
    WHERE a.tool_id = item
$$;

-- As in 0003, 0004 and 0013, with what rules ask.
CREATE OR REPLACE FUNCTION mcp.mcp_unified_search_documents(keys text[])
RETURNS TABLE (key text, org_id text, is_searchable boolean, payload jsonb)
LANGUAGE sql STABLE AS $$
    SELECT t.id::text, t.org_id, t.is_active, jsonb_build_object(
        'db_id', t.id, 'type', t.type, 'name', t.name, 'name_key', t.name_key, 'description', t.description,
        'server', t.server, 'org_id', coalesce(t.org_id, ''), 'content_hash', t.content_hash,
        'skill_keys', coalesce(to_jsonb(t.skill_keys), '[]'), 'primary_skill_key', t.primary_skill_key,
        'rule_servers', to_jsonb(mcp.rule_servers(t.org_id, t.server)),
        'rule_names', to_jsonb(mcp.rule_names(mcp.rule_servers(t.org_id, t.server), t.name)), 'hints', to_jsonb(mcp.hints_of(t.type, t.annotations)))
    FROM mcp.items_with_skills t WHERE t.id = ANY (keys::bigint[])
$$;
CREATE OR REPLACE FUNCTION mcp.mcp_skills_documents(keys text[])
RETURNS TABLE (key text, org_id text, is_searchable boolean, payload jsonb)
LANGUAGE sql STABLE AS $$
    SELECT c.key, c.org_id, c.is_active, jsonb_build_object(
        'name', c.name, 'description', c.description, 'org_id', coalesce(c.org_id, ''), 'skill_id', c.id,
        'hidden_from', to_jsonb(ARRAY(
            SELECT own.org_id FROM mcp.skill_categories own
            WHERE c.org_id IS NULL AND own.id = c.id AND own.org_id IS NOT NULL AND own.deleted_at IS NULL ORDER BY 1)))
    FROM mcp.skill_categories c WHERE c.key = ANY (keys) AND c.deleted_at IS NULL
$$;
CREATE OR REPLACE FUNCTION mcp.mcp_registry_documents(keys text[])
RETURNS TABLE (key text, org_id text, is_searchable boolean, payload jsonb)
LANGUAGE sql STABLE AS $$
    SELECT e.id::text, e.org_id, true, jsonb_build_object(
        'entity_id', e.id::text, 'kind', e.kind, 'path', e.path, 'name', e.name, 'tags', to_jsonb(e.tag_keys),
        'org_id', coalesce(e.org_id, ''), 'is_enabled', e.is_enabled::text,  -- filters compare texts
        'rule_names', jsonb_build_array(substr(e.path, 2), e.name))
    FROM mcp.registry_entities e WHERE e.id = ANY (keys::bigint[])
$$;
CREATE OR REPLACE FUNCTION mcp.search_filters(of_collection text, payload jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(array_agg(DISTINCT f.name || '=' || v.value ORDER BY f.name || '=' || v.value), '{}')
    FROM unnest(CASE of_collection
        WHEN 'mcp_unified_search' THEN '{org_id,type,server,skill_keys,name_key,rule_servers,rule_names,hints}'
        WHEN 'mcp_skills' THEN '{org_id,hidden_from,skill_id}'
        WHEN 'mcp_registry' THEN '{org_id,kind,is_enabled,tags,entity_id,path,rule_names}'
        WHEN 'mcp_mail' THEN
            '{org_id,kind,project_ids,importance,sender,recipients,parties,thread_id,ack_required}'
        WHEN 'mcp_agent_skills' THEN '{org_id,part}'
        ELSE '{org_id}' END::text[]) AS f (name)
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE jsonb_typeof(payload -> f.name) WHEN 'array' THEN payload -> f.name
             ELSE jsonb_build_array(payload -> f.name) END) AS e (value)
    CROSS JOIN LATERAL (SELECT e.value #>> '{}' AS value) AS v
    WHERE jsonb_typeof(e.value) = 'string'
$$;

-- Documents of items say by which names rules know their servers: they follow which servers these mean, and their names.
-- Items are locked by id, then their documents by key, as by everybody.
CREATE FUNCTION mcp.follow_rule_servers(of_org text, names text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    ids bigint[];
BEGIN
    ids := array(SELECT t.id FROM mcp.tools t WHERE t.server = ANY (names) AND t.org_id IS NOT DISTINCT FROM of_org
                 ORDER BY t.id FOR NO KEY UPDATE);
    IF ids <> '{}' THEN
        PERFORM mcp.project_documents('mcp_unified_search', ids::text[]);
    END IF;
END $$;
CREATE FUNCTION mcp.follow_meant_server() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.follow_rule_servers(NEW.org_id, ARRAY[NEW.server]);
    RETURN NULL;
END $$;
CREATE TRIGGER access_to_another_server AFTER UPDATE ON mcp.named_servers
    FOR EACH ROW WHEN (OLD.entity_id IS DISTINCT FROM NEW.entity_id) EXECUTE FUNCTION mcp.follow_meant_server();
CREATE FUNCTION mcp.follow_called_server() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM mcp.follow_rule_servers(NEW.org_id, array(SELECT n.server FROM mcp.named_servers n WHERE n.entity_id = NEW.id));
    RETURN NULL;
END $$;
CREATE TRIGGER server_called AFTER UPDATE ON mcp.registry_entities
    FOR EACH ROW WHEN (NEW.kind = 'server' AND (OLD.path, OLD.name) IS DISTINCT FROM (NEW.path, NEW.name))
    EXECUTE FUNCTION mcp.follow_called_server();

-- As in 0007; what is asked may also be alternatives: {"each": [[["field=value", ...], ...], ...]}, of which one must hold
-- among "any", and none may among "none".
CREATE FUNCTION mcp.search_payload(field text, listed jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT format('EXISTS (SELECT FROM mcp.documents d WHERE d.collection = p.collection AND d.key = p.key '
        'AND jsonb_typeof(d.payload -> %L) <> ''object'' AND d.payload -> %1$L ?| %2$L::text[])', field, mcp.texts_of(listed))
$$;
CREATE FUNCTION mcp.search_alternatives(each jsonb) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT '(' || string_agg('(' || (
        SELECT string_agg(CASE jsonb_typeof(f.listed) WHEN 'array' THEN format('p.filters && %L::text[]', mcp.texts_of(f.listed))
            ELSE mcp.search_payload(f.listed ->> 'field', f.listed -> 'values') END, ' AND ')
        FROM jsonb_array_elements(a.conjunction) AS f (listed)) || ')', ' OR ') || ')'
    FROM jsonb_array_elements(each -> 'each') AS a (conjunction)
$$;
CREATE OR REPLACE FUNCTION mcp.search_where(asked jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    conditions text[] := ARRAY[format('p.collection = %L', asked ->> 'collection')];
    each jsonb;
BEGIN
    IF asked ? 'orgs' THEN
        conditions := conditions || format('p.org_id = ANY (%L::text[])', mcp.texts_of(asked -> 'orgs'));
    END IF;
    IF asked ? 'keys' THEN
        conditions := conditions || format('p.key = ANY (%L::text[])', mcp.texts_of(asked -> 'keys'));
    END IF;
    FOR each IN SELECT jsonb_array_elements(asked -> 'any') LOOP
        conditions := conditions || CASE jsonb_typeof(each) WHEN 'object' THEN mcp.search_alternatives(each)
            ELSE format('p.filters && %L::text[]', mcp.texts_of(each)) END;
    END LOOP;
    FOR each IN SELECT jsonb_array_elements(asked -> 'none') LOOP
        conditions := conditions || CASE jsonb_typeof(each) WHEN 'object' THEN 'NOT ' || mcp.search_alternatives(each)
            ELSE format('NOT p.filters && %L::text[]', mcp.texts_of(each)) END;
    END LOOP;
    IF asked ? 'created' THEN
        conditions := conditions || format('p.created_ts BETWEEN %s AND %s',
            coalesce(asked -> 'created' ->> 0, '-9223372036854775808')::bigint,
            coalesce(asked -> 'created' ->> 1, '9223372036854775807')::bigint);
    END IF;
    -- Fields that no search of Skillroute's own asks for are read from the payload.
    FOR each IN SELECT jsonb_array_elements(asked -> 'other') LOOP
        conditions := conditions
            || (CASE WHEN (each ->> 2)::boolean THEN 'NOT ' ELSE '' END || mcp.search_payload(each ->> 0, each -> 1));
    END LOOP;
    IF (asked ->> 'nothing')::boolean THEN
        conditions := conditions || 'false'::text;
    END IF;
    RETURN array_to_string(conditions, ' AND ');
END $$;

-- The documents that there are, with the new fields; their texts and vectors stay. Points follow (vector/0001_nearest.sql).
SELECT mcp.project_documents('mcp_skills', (SELECT array_agg(key) FROM mcp.skill_categories WHERE deleted_at IS NULL));
SELECT mcp.project_documents('mcp_unified_search', (SELECT array_agg(id::text) FROM mcp.tools));
SELECT mcp.project_documents('mcp_registry', (SELECT array_agg(id::text) FROM mcp.registry_entities));
