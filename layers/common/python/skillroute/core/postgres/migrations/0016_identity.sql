-- How requests to servers are let in (docs/identity.md). Tokens, verifiers and registrations are encrypted before they
-- come here, with the server, the organisation and the person as context: a row that is copied elsewhere opens nothing.

CREATE TABLE mcp.server_identities (
    server_id   bigint PRIMARY KEY REFERENCES mcp.registry_entities (id) ON DELETE CASCADE,
    org_id      text,                                    -- of the server; null: global
    kind        text NOT NULL,
    settings    jsonb NOT NULL DEFAULT '{}',             -- where a secret is, never what it is
    client      bytea,                                   -- the registration at an authorization server, encrypted
    changed_at  timestamptz NOT NULL DEFAULT now(),
    changed_by  text,                                    -- the token's subject; null: not known
    CONSTRAINT server_identities_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT server_identities_kind_known CHECK (kind IN ('none', 'secret', 'caller_token', 'oauth'))
);

-- What a person logged in with is that organisation's and that person's alone, also at a global server.
CREATE TABLE mcp.person_tokens (
    server_id    bigint NOT NULL REFERENCES mcp.registry_entities (id) ON DELETE CASCADE,
    org_id       text,                                   -- of the person; null: of no organisation
    person       text NOT NULL,                          -- the subject of the tokens that the person comes with
    tokens       bytea NOT NULL,                         -- access and refresh token, encrypted
    expires_at   timestamptz,                            -- of the access token; null: not known
    scopes       text[] NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now(),
    refreshed_at timestamptz,
    CONSTRAINT person_tokens_of_person UNIQUE NULLS NOT DISTINCT (server_id, org_id, person),
    CONSTRAINT person_tokens_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT person_tokens_person_not_blank CHECK (person <> '')
);
CREATE INDEX person_tokens_person ON mcp.person_tokens (org_id, person, server_id);

-- Logins that were begun: each is finished once, or not at all.
CREATE TABLE mcp.login_attempts (
    state_hash   text PRIMARY KEY,                       -- SHA-256 of the state
    server_id    bigint NOT NULL REFERENCES mcp.registry_entities (id) ON DELETE CASCADE,
    org_id       text,
    person       text NOT NULL,
    sealed       bytea NOT NULL,                         -- the verifier of PKCE, and where the code is taken; encrypted
    redirect_uri text NOT NULL,
    issuer       text NOT NULL,
    expires_at   timestamptz NOT NULL,
    CONSTRAINT login_attempts_org_not_blank CHECK (org_id <> ''),
    CONSTRAINT login_attempts_person_not_blank CHECK (person <> '')
);
CREATE INDEX login_attempts_server ON mcp.login_attempts (server_id);
CREATE INDEX login_attempts_age ON mcp.login_attempts (expires_at);
