"""What the schema itself refuses, and what it does with what hangs on a deleted row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pg8000.native import DatabaseError
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.pool import Pool

from tests.integration.rows import (
    EAST,
    INSERT_SKILL,
    INSERT_TOOL,
    Sql,
    claim,
    connected,
    insert_assignment,
    insert_skill,
    insert_tool,
    put_document,
)

_TOOL = INSERT_TOOL.format(name="first")
_SKILL = INSERT_SKILL.format(name="first")
_ASSIGN = "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, is_primary, source) VALUES "
_SUGGEST = "INSERT INTO mcp.skill_suggestions (suggested_name, status, reviewed_at) VALUES "

_SUGGEST_KIND = "INSERT INTO mcp.skill_suggestions (suggested_name, kind, target_skill_key) VALUES "
_ENTITY = (
    "INSERT INTO mcp.registry_entities (org_id, kind, path, name, content_hash) "
    "VALUES ({org}, '{kind}', '{path}', 'n', '')"
)
_SERVER = _ENTITY.format(org="NULL", kind="server", path="/first")
_WORDS = (
    "INSERT INTO mcp.registry_words (entity_id, place, tool_id, words, kind, is_enabled) "
    "VALUES ({}, {}, {}, 'w', 'server', true)"
)
_GENERATION = "INSERT INTO mcp.index_generations (index_name, generation, model, dimension, epoch, {}) VALUES {}"
_OF_I = "('i', 1, 'm', 2, gen_random_uuid(),"
_CLASSIFIED = "INSERT INTO mcp.tool_classifications (tool_id, input_hash, classifier) VALUES "

_APPROVAL = "INSERT INTO mcp.approvals (tool_id, approved_at, changed_at) VALUES ({tool}, now(), NULL)"
_RULE = "INSERT INTO mcp.access_rules (org_id, name, effect, hints) VALUES ({org}, '{name}', '{effect}', '{hints}')"
_AGENT_SKILL = (
    "INSERT INTO mcp.agent_skills (org_id, path, name, description, frontmatter, content_hash) "
    "VALUES ({org}, '{path}', 'a', '', '{{}}', '')"
)
_FILE = "INSERT INTO mcp.agent_skill_files VALUES ({}, 'f', '', '', '')"
_PIECE = "INSERT INTO mcp.agent_skill_pieces (agent_skill_id, nth, heading, content) VALUES ({}, 0, '', '')"
_SAME_PIECE = (
    "INSERT INTO mcp.agent_skill_pieces (id, agent_skill_id, nth, heading, content) "
    "OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, '', '')"
)

_RECEIPT = (
    "INSERT INTO mcp.receipts (search_id, nth, org_id, may_teach, door, query_hash, shown, no_match) "
    "VALUES ('{id}', 0, {org}, true, '{door}', '', '[]', false)"
)
_ONE, _TWO = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
_OUTCOME = (
    "INSERT INTO mcp.outcomes (search_id, tool_id, org_id, may_teach, outcome, source) "
    f"VALUES ('{_ONE}', {{tool}}, {{org}}, true, '{{outcome}}', '{{source}}')"
)
_OUTCOME_OF = {"tool": "1", "org": "NULL", "outcome": "called", "source": "program"}
_EVENT = (
    "INSERT INTO mcp.trace (id, at, kind, outcome, org_id, roles, door, what, targets, took_ms, bytes_in, bytes_out) "
    f"SELECT '{_ONE}', now(), '{{kind}}', '{{outcome}}', {{org}}, '{{{{}}}}', '{{door}}', '', '{{{{}}}}', 1, 1, 1 "
    "FROM unnest(ARRAY[{times}])"
)
_EVENT_OF = {"kind": "change", "outcome": "ok", "org": "NULL", "door": "http", "times": "1"}
_STATE = (
    "INSERT INTO mcp.learned_states (org_id, model, is_live, was_better, report) VALUES ({}, 'm', true, true, '{{}}')"
)
_LEARNED = "INSERT INTO mcp.learned_requests VALUES ({}, {}, 0, '', 1, '{{}}', 3, 1)"
_PAIR = "INSERT INTO mcp.learned_pairs VALUES ({}, {}, {}, 3)"
_IDENTITY = "INSERT INTO mcp.server_identities (server_id, org_id, kind) VALUES ({}, {}, '{}')"
_TOKENS = "INSERT INTO mcp.person_tokens (server_id, org_id, person, tokens) VALUES ({}, {}, '{}', '')"
_ATTEMPT = "INSERT INTO mcp.login_attempts VALUES ('{}', {}, {}, '{}', '', '', '', now())"

_MAIL = """
INSERT INTO mcp.mail_documents (id, kind, project_ids, sender_key, recipient_keys, importance, ack_required, created_ts,
                                search_vector, text_hash)
VALUES (1, 'project', '{1}', NULL, NULL, NULL, NULL, 0, '', ''),
       (2, 'agent', '{1}', NULL, NULL, NULL, NULL, 0, '', ''),
       (3, 'agent', '{}', NULL, NULL, NULL, NULL, 0, '', ''),
       (4, 'message', '{1}', 'a', '{b}', 'low', false, 0, '', ''),
       (5, 'message', '{1}', 'a', '{b}', 'low', false, 0, '', '');
INSERT INTO mcp.mail_projects (id, key, name, content_hash) VALUES (1, 'p', 'n', '');
INSERT INTO mcp.mail_products (key, name, content_hash) VALUES ('x', 'n', '');
INSERT INTO mcp.mail_product_projects VALUES (1, 1);
INSERT INTO mcp.mail_agents (id, name, name_key, content_hash) VALUES (2, 'A', 'a', ''), (3, 'B', 'b', '');
INSERT INTO mcp.mail_memberships VALUES (2, 1);
INSERT INTO mcp.mail_messages (id, key, project_id, sender_id, subject, body, content_hash)
VALUES (4, 'm', 1, 2, '', '', '');
INSERT INTO mcp.mail_recipients VALUES (4, 'to', 0, 3)
"""
_PROJECT = "INSERT INTO mcp.mail_projects (id, key, name, content_hash) VALUES "
_PRODUCT = "INSERT INTO mcp.mail_products (key, name, content_hash) VALUES "
_AGENT = "INSERT INTO mcp.mail_agents (id, name, name_key, content_hash) VALUES "
_MESSAGE = "INSERT INTO mcp.mail_messages (id, key, project_id, sender_id, subject, body, content_hash) VALUES "
_DOCUMENT = "UPDATE mcp.mail_documents SET {} WHERE id = {}"

_TEXTS = "INSERT INTO mcp.documents (collection, key, is_searchable, texts, lexical_text, text_hash, payload) VALUES "
_TEXT_VECTOR = (
    "INSERT INTO mcp.text_vectors SELECT 'm', 1, 'h', decode(repeat('00', bytes), 'hex') "
    "FROM (VALUES ({})) AS given (bytes)"
)
_VECTORS = "INSERT INTO mcp.document_vectors (collection, key, model, dimension, text_hash) VALUES "
_POINT = "INSERT INTO mcp.search_points (id, collection, key, is_searchable, filters, text_hash, owner, terms) VALUES "
_SEARCHED = "INSERT INTO mcp.search_vectors (collection, key, model, dimension, filters, source, dense) VALUES "

# Each runs in a database with tool 1 "first" and skill "first", to which the tool belongs as its primary one, and
# with server 1 "/first", which has words in its path; tool and skills are documents, of which the tool's has a vector;
# and with mail: project 1, which product 1 is linked to, agents 2
# and 3, of which the former belongs to it, and message 4 of the one to the other; 5 is a document and no more.
REFUSED = [
    (_TOOL, "tools_key"),
    ("UPDATE mcp.tools SET type = 'agent'", "tools_type_known"),
    ("UPDATE mcp.tools SET name = ''", "tools_name_length"),
    ("UPDATE mcp.tools SET name = repeat('x', 257)", "tools_name_length"),
    ("UPDATE mcp.tools SET org_id = ''", "tools_org_not_blank"),
    ("UPDATE mcp.tools SET is_switched_off = true, is_active = true", "tools_switched_off_is_inactive"),
    ("INSERT INTO mcp.server_sightings (server_id, outcome) VALUES (1, 'lost')", "server_sightings_outcome_known"),
    ("INSERT INTO mcp.server_sightings (server_id, outcome) VALUES (9, 'seen')", "server_sightings_server_id_fkey"),
    ("INSERT INTO mcp.server_sightings (server_id, outcome) VALUES (1, 'seen'), (1, 'seen')", "server_sightings_pkey"),
    ("UPDATE mcp.tools SET is_quarantined = true, is_active = true", "tools_quarantined_is_inactive"),
    (_APPROVAL.format(tool=9), "approvals_tool_id_fkey"),
    (f"{_APPROVAL.format(tool=1)}, (1, now(), NULL)", "approvals_pkey"),
    ("INSERT INTO mcp.approvals (tool_id, approved_at, changed_at) VALUES (1, now(), now())",
     "approvals_definition_while_changed"),
    (_SKILL, "skill_categories_pkey"),
    ("UPDATE mcp.skill_categories SET id = 'First'", "skill_categories_id_format"),
    ("UPDATE mcp.skill_categories SET id = '1st'", "skill_categories_id_format"),
    ("UPDATE mcp.skill_categories SET id = ''", "skill_categories_id_format"),
    (INSERT_SKILL.format(name="a-b"), "skill_categories_id_format"),
    (INSERT_SKILL.format(name="a\n"), "skill_categories_id_format"),
    (INSERT_SKILL.format(name="classify"), "skill_categories_id_not_reserved"),
    (INSERT_SKILL.format(name="suggestions"), "skill_categories_id_not_reserved"),
    ("UPDATE mcp.skill_categories SET name = ' '", "skill_categories_name_not_blank"),
    ("UPDATE mcp.skill_categories SET description = '123456789'", "skill_categories_description_length"),
    ("UPDATE mcp.skill_categories SET description = repeat('x', 1001)", "skill_categories_description_length"),
    (
        "UPDATE mcp.skill_categories SET keywords = array_fill('k'::text, ARRAY[21])",
        "skill_categories_keywords_limit",
    ),
    (
        "UPDATE mcp.skill_categories SET examples = array_fill('e'::text, ARRAY[11])",
        "skill_categories_examples_limit",
    ),
    ("UPDATE mcp.skill_categories SET org_id = ''", "skill_categories_org_not_blank"),
    ("UPDATE mcp.skill_categories SET deleted_at = now()", "skill_categories_deleted_is_inactive"),
    (_ASSIGN + "(1, 'first', 0.5, false, 'llm_auto')", "tool_skill_assignments_key"),
    (_ASSIGN + "(1, 'second', 0.5, true, 'llm_auto')", "tool_skill_assignments_one_primary"),
    (_ASSIGN + "(1, 'second', 1.01, false, 'llm_auto')", "tool_skill_assignments_confidence_range"),
    (_ASSIGN + "(1, 'second', -0.01, false, 'llm_auto')", "tool_skill_assignments_confidence_range"),
    (_ASSIGN + "(1, 'second', 'NaN', false, 'llm_auto')", "tool_skill_assignments_confidence_range"),
    (_ASSIGN + "(1, 'second', 0.5, false, 'somebody')", "tool_skill_assignments_source_known"),
    (_ASSIGN + "(2, 'second', 0.5, false, 'llm_auto')", "tool_skill_assignments_tool_id_fkey"),
    (_ASSIGN + "(1, 'third', 0.5, false, 'llm_auto')", "tool_skill_assignments_skill_key_fkey"),
    ("DELETE FROM mcp.skill_categories WHERE id = 'first'", "tool_skill_assignments_skill_key_fkey"),
    (_SUGGEST + "('s', 'maybe', now())", "skill_suggestions_status_known"),
    (_SUGGEST + "(' ', 'pending', NULL)", "skill_suggestions_name_not_blank"),
    (_SUGGEST + "('s', 'pending', now())", "skill_suggestions_reviewed_once"),
    (_SUGGEST + "('s', 'approved', NULL)", "skill_suggestions_reviewed_once"),
    (
        "INSERT INTO mcp.skill_suggestions (suggested_name, source_tool_id) VALUES ('s', 99)",
        "skill_suggestions_source_tool_id_fkey",
    ),
    (
        "INSERT INTO mcp.skill_suggestions (suggested_name, resolved_skill_key) VALUES ('s', 'third')",
        "skill_suggestions_resolved_skill_key_fkey",
    ),
    (
        "INSERT INTO mcp.index_changes (collection, item_id) VALUES ('mcp_unified_search', '1')",
        "index_changes_pkey",
    ),
    ("INSERT INTO mcp.index_state DEFAULT VALUES", "index_state_pkey"),
    ("INSERT INTO mcp.index_state (only_row) VALUES (false)", "index_state_only_row"),
    ("UPDATE mcp.index_state SET embedding_model = NULL", "index_state_model_whole"),
    ("UPDATE mcp.index_state SET embedding_dimension = NULL", "index_state_model_whole"),
    ("UPDATE mcp.index_state SET next_model = 'm'", "index_state_next_whole"),
    ("UPDATE mcp.index_state SET next_dimension = 1", "index_state_next_whole"),
    ("UPDATE mcp.index_state SET previous_model = 'm', switched_at = now()", "index_state_previous_whole"),
    ("UPDATE mcp.index_state SET previous_model = 'm', previous_dimension = 1", "index_state_previous_whole"),
    (_TEXTS + "('mcp_unified_search', '1', true, '{}', '', '', '{}')", "documents_pkey"),
    ("UPDATE mcp.documents SET org_id = ''", "documents_org_not_blank"),
    (_VECTORS + "('mcp_unified_search', '1', 'test', 2, '')", "document_vectors_pkey"),
    (_VECTORS + "('mcp_unified_search', '2', 'test', 2, '')", "document_vectors_collection_key_fkey"),
    (_VECTORS + "('mcp_skills', '1', 'test', 2, '')", "document_vectors_collection_key_fkey"),
    *(
        (f"UPDATE mcp.document_vectors SET {columns}", "document_vectors_whole")
        for columns in [
            "embedding = '\\x00000000'",
            "embedding = ''",
            "dimension = 1",
            "derived = '\\x00000000'",
            "derived = ''",
            "embedding = '', dimension = 0",
            "embedding = NULL, dimension = 0",
            "embedding = NULL, dimension = -1",
        ]
    ),
    ("UPDATE mcp.document_vectors SET refusal = 'too long'", "document_vectors_refused_has_none"),
    ("INSERT INTO mcp.search_state DEFAULT VALUES", "search_state_pkey"),
    ("INSERT INTO mcp.search_state (only_row) VALUES (false)", "search_state_only_row"),
    ("UPDATE mcp.search_state SET filled_at = now()", "search_state_filled_is_kept"),
    (_POINT + "(1, 'c', 'a', true, '{}', '', 0, NULL), (1, 'c', 'b', true, '{}', '', 0, NULL)", "search_points_pkey"),
    (_POINT + "(1, 'c', 'a', true, '{}', '', 0, NULL), (2, 'c', 'a', true, '{}', '', 0, NULL)", "search_points_key"),
    (_POINT + "(1, 'c', 'a', true, '{}', '', 0, '{7}')", "search_points_words_whole"),
    ("INSERT INTO mcp.search_postings VALUES (1, 1, 1, 0.5), (1, 1, 1, 0.7)", "search_postings_pkey"),
    (_SEARCHED + ", ".join(2 * ["('c', 'a', 'm', 1, '{}', gen_random_uuid(), '[1]')"]), "search_vectors_pkey"),
    (_GENERATION.format("seen", f"{_OF_I} '1:1:'), {_OF_I} '1:1:')"), "index_generations_pkey"),
    (_GENERATION.format("seen", f"{_OF_I} NULL)"), "index_generations_position"),
    (_GENERATION.format("target, ready_at", f"{_OF_I} '1:1:', now())"), "index_generations_ready"),
    ("INSERT INTO mcp.outbox (queue, key) VALUES ('elsewhere', '1')", "outbox_queue_known"),
    ("INSERT INTO mcp.outbox (queue, key) VALUES ('aggregate', 'a'), ('aggregate', 'a')", "outbox_pkey"),
    (_CLASSIFIED + "(99, 'h', 'c')", "tool_classifications_tool_id_fkey"),
    (_CLASSIFIED + "(1, 'h', 'c'), (1, 'h', 'd')", "tool_classifications_pkey"),
    (_SUGGEST_KIND + "('s', 'merge', NULL)", "skill_suggestions_kind_known"),
    (_SUGGEST_KIND + "('s', 'new_skill', 'first')", "skill_suggestions_target"),
    (_SUGGEST_KIND + "('s', 'description', NULL)", "skill_suggestions_target"),
    (_SUGGEST_KIND + "('s', 'description', 'third')", "skill_suggestions_target_skill_key_fkey"),
    (_SUGGEST_KIND + "('s', 'description', 'first'), ('t', 'description', 'first')",
     "skill_suggestions_one_description"),
    ("INSERT INTO mcp.skill_suggestions (suggested_name, source_tool_id) VALUES ('s', 1), ('t', 1)",
     "skill_suggestions_one_for_a_tool"),
    (_ASSIGN.replace("(tool_id", "(id, tool_id").replace("VALUES", "OVERRIDING SYSTEM VALUE VALUES")
     + "(1, 1, 'second', 0.5, false, 'llm_auto')", "tool_skill_assignments_pkey"),
    ("INSERT INTO mcp.skill_suggestions (id, suggested_name) OVERRIDING SYSTEM VALUE VALUES (1, 'a'), (1, 'b')",
     "skill_suggestions_pkey"),
    (_TOOL.replace("(name", "(id, name").replace("VALUES ('first'", "OVERRIDING SYSTEM VALUE VALUES (1, 'other'"),
     "tools_pkey"),
    ("INSERT INTO mcp.migrations (name, sha256) VALUES ('m', ''), ('m', '')", "migrations_pkey"),
    (_SERVER, "registry_entities_key"),
    (_ENTITY.format(org="NULL", kind="tool", path="/x"), "registry_entities_kind_known"),
    (_ENTITY.format(org="NULL", kind="agent", path="x"), "registry_entities_path_format"),
    (_ENTITY.format(org="NULL", kind="agent", path="/"), "registry_entities_path_format"),
    (_ENTITY.format(org="NULL", kind="agent", path="/a b"), "registry_entities_path_format"),
    (_ENTITY.format(org="NULL", kind="agent", path="/" + "x" * 256), "registry_entities_path_format"),
    (_ENTITY.format(org="''", kind="agent", path="/x"), "registry_entities_org_not_blank"),
    ("UPDATE mcp.registry_entities SET name = ' '", "registry_entities_name_not_blank"),
    (_SERVER.replace("(org_id", "(id, org_id").replace("VALUES (NULL", "OVERRIDING SYSTEM VALUE VALUES (1, 'acme'"),
     "registry_entities_pkey"),
    (_WORDS.format(1, 1, "NULL"), "registry_words_key"),
    (_WORDS.format(1, 0, "NULL"), "registry_words_place_known"),
    (_WORDS.format(1, 6, "NULL"), "registry_words_place_known"),
    (_WORDS.format(1, 5, "NULL"), "registry_words_tool"),
    (_WORDS.format(1, 2, 1), "registry_words_tool"),
    (_WORDS.format(9, 2, "NULL"), "registry_words_entity_id_fkey"),
    (_WORDS.format(1, 5, 9), "registry_words_tool_id_fkey"),
    ("INSERT INTO mcp.server_keys VALUES (9, 'k', 1, NULL)", "server_keys_entity_id_fkey"),
    ("INSERT INTO mcp.server_keys SELECT * FROM mcp.server_keys", "server_keys_pkey"),
    ("INSERT INTO mcp.named_servers VALUES (NULL, 'k', 'k'), (NULL, 'k', 'k')", "named_servers_key"),
    (_DOCUMENT.format("id = 4", 5), "mail_documents_pkey"),
    (_DOCUMENT.format("kind = 'product'", 1), "mail_documents_kind_known"),
    (_DOCUMENT.format("org_id = ''", 1), "mail_documents_org_not_blank"),
    (_DOCUMENT.format("importance = 'huge'", 4), "mail_documents_importance_known"),
    *(
        (_DOCUMENT.format(f"{column} = NULL", 4), "mail_documents_message_whole")
        for column in ["sender_key", "recipient_keys", "importance", "ack_required"]
    ),
    *(
        (_DOCUMENT.format(change, 1), "mail_documents_message_whole")
        for change in ["sender_key = 'a'", "recipient_keys = '{}'", "importance = 'low'", "ack_required = false",
                       "thread_id = 't'", "kind = 'message'"]
    ),
    (_PROJECT + "(1, 'q', 'n', '')", "mail_projects_pkey"),
    (_PROJECT + "(99, 'q', 'n', '')", "mail_projects_id_fkey"),
    (_PROJECT + "(5, 'p', 'n', '')", "mail_projects_key"),
    *((_PROJECT + f"(5, {key}, 'n', '')", "mail_projects_key_format") for key in
      ["''", "'-a'", "'a b'", "E'a\\n'", "'ä'", "repeat('x', 129)"]),
    (_PROJECT + "(5, 'q', ' ', '')", "mail_projects_name_not_blank"),
    (_PRODUCT.replace("(key", "(id, key").replace("VALUES ", "VALUES (1, 'y', 'n', '')"), "mail_products_pkey"),
    (_PRODUCT + "('x', 'n', '')", "mail_products_key"),
    (_PRODUCT + "('a b', 'n', '')", "mail_products_key_format"),
    (_PRODUCT + "('y', ' ', '')", "mail_products_name_not_blank"),
    ("UPDATE mcp.mail_products SET org_id = ''", "mail_products_org_not_blank"),
    ("INSERT INTO mcp.mail_product_projects VALUES (1, 1)", "mail_product_projects_pkey"),
    ("INSERT INTO mcp.mail_product_projects VALUES (9, 1)", "mail_product_projects_product_id_fkey"),
    ("INSERT INTO mcp.mail_product_projects VALUES (1, 9)", "mail_product_projects_project_id_fkey"),
    (_AGENT + "(2, 'C', 'c', '')", "mail_agents_pkey"),
    (_AGENT + "(99, 'C', 'c', '')", "mail_agents_id_fkey"),
    (_AGENT + "(5, 'A', 'a', '')", "mail_agents_key"),
    (_AGENT + "(5, ' ', 'c', '')", "mail_agents_name_not_blank"),
    (_AGENT + "(5, 'C', ' ', '')", "mail_agents_name_not_blank"),
    ("INSERT INTO mcp.mail_memberships VALUES (2, 1)", "mail_memberships_pkey"),
    ("INSERT INTO mcp.mail_memberships VALUES (9, 1)", "mail_memberships_agent_id_fkey"),
    ("INSERT INTO mcp.mail_memberships VALUES (2, 9)", "mail_memberships_project_id_fkey"),
    (_MESSAGE + "(4, 'n', 1, 2, '', '', '')", "mail_messages_pkey"),
    (_MESSAGE + "(99, 'n', 1, 2, '', '', '')", "mail_messages_id_fkey"),
    (_MESSAGE + "(5, 'm', 1, 2, '', '', '')", "mail_messages_key"),
    (_MESSAGE + "(5, 'a b', 1, 2, '', '', '')", "mail_messages_key_format"),
    (_MESSAGE + "(5, repeat('x', 129), 1, 2, '', '', '')", "mail_messages_key_format"),
    (_MESSAGE + "(5, 'n', 9, 2, '', '', '')", "mail_messages_project_id_fkey"),
    (_MESSAGE + "(5, 'n', 1, 9, '', '', '')", "mail_messages_sender_id_fkey"),
    ("DELETE FROM mcp.mail_documents WHERE id = 1", "mail_messages_project_id_fkey"),
    ("DELETE FROM mcp.mail_documents WHERE id = 2", "mail_messages_sender_id_fkey"),
    ("DELETE FROM mcp.mail_documents WHERE id = 3", "mail_recipients_agent_id_fkey"),
    ("INSERT INTO mcp.mail_recipients VALUES (4, 'cc', 0, 3)", "mail_recipients_pkey"),
    ("INSERT INTO mcp.mail_recipients VALUES (4, 'to', 0, 2)", "mail_recipients_place"),
    ("INSERT INTO mcp.mail_recipients VALUES (4, 'from', 0, 2)", "mail_recipients_role_known"),
    ("INSERT INTO mcp.mail_recipients VALUES (9, 'cc', 0, 2)", "mail_recipients_message_id_fkey"),
    ("INSERT INTO mcp.mail_recipients VALUES (4, 'cc', 0, 9)", "mail_recipients_agent_id_fkey"),
    (_RULE.format(org="NULL", name="n", effect="maybe", hints="{}"), "access_rules_effect_known"),
    (_RULE.format(org="NULL", name="", effect="deny", hints="{}"), "access_rules_name_length"),
    (_RULE.format(org="''", name="n", effect="deny", hints="{}"), "access_rules_org_not_blank"),
    (_RULE.format(org="NULL", name="n", effect="deny", hints="{safe}"), "access_rules_hints_known"),
    ("INSERT INTO mcp.access_rules (id, name, effect) OVERRIDING SYSTEM VALUE "
     "VALUES (1, 'n', 'deny'), (1, 'n', 'deny')",
     "access_rules_pkey"),
    (_AGENT_SKILL.format(org="NULL", path="x/a"), "agent_skills_key"),
    (_AGENT_SKILL.format(org="''", path="a"), "agent_skills_org_not_blank"),
    (_AGENT_SKILL.format(org="NULL", path="x/ba"), "agent_skills_path_ends_in_name"),
    (_AGENT_SKILL.format(org="NULL", path="a").replace("(org_id", "(id, org_id")
     .replace("VALUES (NULL", "OVERRIDING SYSTEM VALUE VALUES (1, NULL"), "agent_skills_pkey"),
    (_FILE.format(1), "agent_skill_files_pkey"),
    (_FILE.format(9), "agent_skill_files_agent_skill_id_fkey"),
    (_PIECE.format(1), "agent_skill_pieces_place"),
    (_PIECE.format(9), "agent_skill_pieces_agent_skill_id_fkey"),
    (_SAME_PIECE, "agent_skill_pieces_pkey"),
    (_RECEIPT.format(id=_ONE, org="NULL", door="http"), "receipts_pkey"),
    (_RECEIPT.format(id=_TWO, org="''", door="http"), "receipts_org_not_blank"),
    (_RECEIPT.format(id=_TWO, org="NULL", door="back"), "receipts_door_known"),
    (_OUTCOME.format_map(_OUTCOME_OF).replace("(search_id", "(id, search_id")
     .replace("VALUES (", "OVERRIDING SYSTEM VALUE VALUES (1, "), "outcomes_pkey"),
    (_OUTCOME.format_map(_OUTCOME_OF | {"org": "''"}), "outcomes_org_not_blank"),
    (_OUTCOME.format_map(_OUTCOME_OF | {"outcome": "liked"}), "outcomes_known"),
    (_OUTCOME.format_map(_OUTCOME_OF | {"source": "rumour"}), "outcomes_source_known"),
    (_OUTCOME.format_map(_OUTCOME_OF | {"tool": "NULL"}), "outcomes_of_a_tool_or_of_none"),
    (_OUTCOME.format_map(_OUTCOME_OF | {"outcome": "nothing_fits"}), "outcomes_of_a_tool_or_of_none"),
    (_STATE.format("NULL"), "learned_states_live"),
    (_STATE.format("''"), "learned_states_org_not_blank"),
    ("INSERT INTO mcp.learning_runs VALUES ('', now())", "learning_runs_org_not_blank"),
    ("INSERT INTO mcp.learning_runs VALUES (NULL, now()), (NULL, now())", "learning_runs_of_org"),
    (_STATE.format("NULL").replace("(org_id", "(id, org_id")
     .replace("VALUES (", "OVERRIDING SYSTEM VALUE VALUES (1, ").replace("true, true", "false, true"),
     "learned_states_pkey"),
    (_LEARNED.format(1, 1), "learned_requests_pkey"),
    (_LEARNED.format(9, 1), "learned_requests_state_id_fkey"),
    (_LEARNED.format(1, 9), "learned_requests_tool_id_fkey"),
    (_PAIR.format(1, 1, 1), "learned_pairs_pkey"),
    (_PAIR.format(9, 1, 1), "learned_pairs_state_id_fkey"),
    (_PAIR.format(1, 9, 1), "learned_pairs_tool_id_fkey"),
    (_PAIR.format(1, 1, 9), "learned_pairs_with_id_fkey"),
    (_IDENTITY.format(1, "NULL", "none"), "server_identities_pkey"),
    (_IDENTITY.format(9, "NULL", "none"), "server_identities_server_id_fkey"),
    (_IDENTITY.format(1, "''", "none"), "server_identities_org_not_blank"),
    (_IDENTITY.format(1, "NULL", "magic"), "server_identities_kind_known"),
    (_TOKENS.format(1, "NULL", "ann"), "person_tokens_of_person"),
    (_TOKENS.format(9, "NULL", "ann"), "person_tokens_server_id_fkey"),
    (_TOKENS.format(1, "''", "ann"), "person_tokens_org_not_blank"),
    (_TOKENS.format(1, "NULL", ""), "person_tokens_person_not_blank"),
    (_ATTEMPT.format("s", 1, "NULL", "ann"), "login_attempts_pkey"),
    (_ATTEMPT.format("t", 9, "NULL", "ann"), "login_attempts_server_id_fkey"),
    (_ATTEMPT.format("t", 1, "''", "ann"), "login_attempts_org_not_blank"),
    (_ATTEMPT.format("t", 1, "NULL", ""), "login_attempts_person_not_blank"),
    ("INSERT INTO mcp.budgets VALUES ('a', now()), ('a', now())", "budgets_pkey"),
    (_TEXT_VECTOR.format("1), (1"), "text_vectors_whole"),
    (_TEXT_VECTOR.format("4), (4"), "text_vectors_pkey"),
    (
        "INSERT INTO mcp.calls_in_flight (id, ends_at) SELECT '6a1f0000-0000-4000-8000-000000000001', now() "
        "FROM generate_series(1, 2)",
        "calls_in_flight_pkey",
    ),
    (_EVENT.format_map(_EVENT_OF | {"times": "1, 2"}), "trace_pkey"),
    (_EVENT.format_map(_EVENT_OF | {"org": "''"}), "trace_org_not_blank"),
    (_EVENT.format_map(_EVENT_OF | {"kind": "rumour"}), "trace_kind_known"),
    (_EVENT.format_map(_EVENT_OF | {"outcome": "liked"}), "trace_outcome_known"),
    (_EVENT.format_map(_EVENT_OF | {"door": "back"}), "trace_door_known"),
]  # fmt: skip


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        claim(sql)
        tool = insert_tool(sql, "first")
        put_document(sql, TOOL_DOCUMENTS, str(tool), "l", EAST)
        insert_skill(sql, "first")
        insert_skill(sql, "second")
        insert_assignment(sql, 1, "first", primary=True)
        sql(_SERVER)
        sql(_WORDS.format(1, 1, "NULL"))
        sql(_MAIL)
        sql(_AGENT_SKILL.format(org="NULL", path="x/a"))
        sql(_FILE.format(1))
        sql(_PIECE.format(1))
        sql(_RECEIPT.format(id=_ONE, org="NULL", door="http"))
        sql(_OUTCOME.format_map(_OUTCOME_OF))
        sql(_STATE.format("NULL"))
        sql(_LEARNED.format(1, 1))
        sql(_PAIR.format(1, 1, 1))
        sql(_IDENTITY.format(1, "NULL", "none"))
        sql(_TOKENS.format(1, "NULL", "ann"))
        sql(_ATTEMPT.format("s", 1, "NULL", "ann"))
        yield sql


def test_every_constraint_refuses_what_it_is_there_for(sql: Sql, pool: Pool) -> None:
    for statement, constraint in REFUSED:
        refused = None
        try:
            pool.transact(lambda c, statement=statement: c.script(statement))  # type: ignore[misc]
        except StatementRejected as error:
            refused = error.constraint
        assert (statement, refused) == (statement, constraint)


def test_no_constraint_of_the_schema_is_untested(sql: Sql) -> None:
    rows = sql(
        "SELECT conname FROM pg_constraint WHERE connamespace = 'mcp'::regnamespace AND contype <> 'n' "
        "UNION SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
        "WHERE c.relnamespace = 'mcp'::regnamespace AND i.indisunique"
    )
    existing = {row[0].removeprefix("mcp.") for row in rows}
    assert existing == {constraint for _, constraint in REFUSED}


def test_a_name_is_unique_within_its_organisation_server_and_type_only(sql: Sql) -> None:
    for column, value in [("org_id", "acme"), ("server", "github"), ("type", "prompt")]:
        insert_tool(sql, "second")
        sql(f"UPDATE mcp.tools SET {column} = '{value}', name = 'first' WHERE name = 'second'")
    assert sql("SELECT count(*) FROM mcp.tools WHERE name = 'first'") == [[4]]


def test_an_id_of_a_skill_is_unique_within_its_organisation_and_its_key_everywhere(sql: Sql) -> None:
    """Decision 29."""
    for org in ("acme", "globex", "a/b", "é ü"):
        insert_skill(sql, "first", org)
    insert_skill(sql, "first_one")
    # By key is by id: a slash sorts before every character of one.
    keys = [key for [key] in sql("SELECT key FROM mcp.skill_categories WHERE id LIKE 'first%' ORDER BY key")]
    assert keys == ["first", "first/a/b", "first/acme", "first/globex", "first/é ü", "first_one"]
    with pytest.raises(DatabaseError) as refused:
        insert_skill(sql, "first", "acme")
    assert refused.value.args[0]["n"] == "skill_categories_pkey"


def test_an_assignment_is_its_tools_owners_whatever_is_said(sql: Sql) -> None:
    tool = insert_tool(sql, "own")
    sql(f"UPDATE mcp.tools SET org_id = 'acme' WHERE id = {tool}")
    for owner in ("''", "'globex'", "NULL"):
        sql(
            "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, owner) "
            f"VALUES ({tool}, 'second', 0.5, {owner})"
        )
        assert sql(f"SELECT owner FROM mcp.tool_skill_assignments WHERE tool_id = {tool}") == [["acme"]]
        sql("UPDATE mcp.tool_skill_assignments SET owner = 'globex', confidence = 0.6")
        assert sql("SELECT owner FROM mcp.tool_skill_assignments ORDER BY tool_id") == [[""], ["acme"]]
        sql(f"DELETE FROM mcp.tool_skill_assignments WHERE tool_id = {tool}")


def test_lengths_are_counted_in_characters(sql: Sql) -> None:
    sql("UPDATE mcp.tools SET name = repeat('é', 256)")
    sql("UPDATE mcp.skill_categories SET description = repeat('漢', 1000)")


def test_deleting_a_tool_deletes_its_assignments_and_open_suggestions_and_keeps_those_that_were_decided(
    sql: Sql,
) -> None:
    other = insert_tool(sql, "other")
    sql(
        "INSERT INTO mcp.skill_suggestions (suggested_name, source_tool_id, status, reviewed_at) VALUES "
        f"('open', 1, 'pending', NULL), ('other', {other}, 'pending', NULL), ('no', 1, 'rejected', now()), "
        "('yes', 1, 'approved', now()), ('merged', 1, 'merged', now())"
    )
    sql("DELETE FROM mcp.tools WHERE id = 1")
    assert sql("SELECT count(*) FROM mcp.tool_skill_assignments") == [[0]]
    assert sql("SELECT suggested_name, source_tool_id FROM mcp.skill_suggestions ORDER BY 1") == [
        ["merged", None],
        ["no", None],
        ["other", other],
        ["yes", None],
    ]


def test_deleting_a_skill_that_has_no_tools_keeps_the_suggestion_it_resolved(sql: Sql) -> None:
    sql("INSERT INTO mcp.skill_suggestions (suggested_name, resolved_skill_key) VALUES ('s', 'second')")
    sql("DELETE FROM mcp.skill_categories WHERE id = 'second'")
    assert sql("SELECT suggested_name, resolved_skill_key FROM mcp.skill_suggestions") == [["s", None]]


def test_a_schema_is_given_back_with_its_properties_in_the_author_s_order(sql: Sql) -> None:
    sql("""UPDATE mcp.tools SET input_schema = '{"z": 1, "a": 2}'""")
    assert list(sql("SELECT input_schema FROM mcp.tools")[0][0]) == ["z", "a"]


def test_what_waits_for_the_vector_of_its_new_text_may_be_found_by_another_meanwhile(sql: Sql) -> None:
    sql("UPDATE mcp.document_vectors SET derived = embedding, embedding = NULL")
    # The model may refuse the new text: then it stays so.
    sql("UPDATE mcp.document_vectors SET refusal = 'too long'")


def test_a_tool_and_a_description_may_have_any_number_of_decided_suggestions(sql: Sql) -> None:
    for kind, tool, skill in [("new_skill", "1", "NULL"), ("description", "NULL", "'first'")]:
        for status, at in [("rejected", "now()"), ("rejected", "now()"), ("pending", "NULL")]:
            sql(
                "INSERT INTO mcp.skill_suggestions "
                "(suggested_name, kind, source_tool_id, target_skill_key, status, reviewed_at) "
                f"VALUES ('s', '{kind}', {tool}, {skill}, '{status}', {at})"
            )
    assert sql("SELECT count(*) FROM mcp.skill_suggestions") == [[6]]


def test_names_are_the_same_when_they_are_case_spacing_and_separators_aside(sql: Sql) -> None:
    sql("INSERT INTO mcp.skill_suggestions (suggested_name) VALUES ('PDF tools'), (' pdf_TOOLS'), ('Pdf-tools\t')")
    assert sql("SELECT DISTINCT name_key FROM mcp.skill_suggestions") == [["pdftools"]]


def test_deleting_a_tool_deletes_what_was_decided_on_it_and_the_work_that_waits_for_it(sql: Sql) -> None:
    sql(_CLASSIFIED + "(1, 'h', 'c')")
    assert sql("SELECT key FROM mcp.outbox WHERE queue = 'classify'") == [["1"]]
    sql("DELETE FROM mcp.tools")
    assert sql("SELECT count(*) FROM mcp.tool_classifications") == [[0]]
    assert sql("SELECT key FROM mcp.outbox WHERE queue = 'classify'") == []


def test_triggers_of_one_event_lock_documents_before_the_outbox_and_skills_before_tools(sql: Sql) -> None:
    # They fire in the order of their names. Two that lock in different orders end in a deadlock.
    rows = sql(
        "SELECT c.relname, g.tgtype, g.tgname, p.prosrc, encode(g.tgargs, 'escape') "
        "FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid "
        "JOIN pg_proc p ON p.oid = g.tgfoid WHERE NOT g.tgisinternal AND c.relnamespace = 'mcp'::regnamespace "
        'ORDER BY c.relname, g.tgtype, g.tgname COLLATE "C"'
    )
    order = [
        "project_documents('mcp_skills'",
        "project_documents('mcp_unified_search'",
        "lock_documents('mcp_unified_search'",
        "mcp.log_change(",
        "mcp.enqueue(",
    ]
    fired: dict[tuple[str, int], list[int]] = {}
    for table, event, _, source, arguments in rows:
        collection = arguments.partition("\\")[0]
        calls = source.replace("TG_ARGV[0]", f"'{collection}'")
        places = sorted((calls.index(call), rank) for rank, call in enumerate(order) if call in calls)
        fired.setdefault((table, event), []).extend(rank for _, rank in places)
    assert {rank for ranks in fired.values() for rank in ranks} == set(range(len(order)))
    assert len([ranks for ranks in fired.values() if len(ranks) > 1]) > 3
    assert {key: ranks for key, ranks in fired.items() if ranks != sorted(ranks)} == {}


def test_deleting_a_document_deletes_what_it_is_of_and_who_got_it(sql: Sql) -> None:
    sql("DELETE FROM mcp.mail_documents WHERE id = 4")
    assert sql("SELECT count(*) FROM mcp.mail_messages") == sql("SELECT count(*) FROM mcp.mail_recipients") == [[0]]
    sql("DELETE FROM mcp.mail_documents WHERE kind IN ('agent', 'project')")
    for table in ("mail_agents", "mail_projects", "mail_memberships", "mail_product_projects"):
        assert sql(f"SELECT count(*) FROM mcp.{table}") == [[0]]
    assert sql("SELECT count(*) FROM mcp.mail_products") == [[1]]


def test_mail_of_two_organisations_may_have_the_same_keys(sql: Sql) -> None:
    sql("UPDATE mcp.mail_projects SET org_id = 'acme'")
    sql(_PROJECT + "(5, 'p', 'n', '')")
    assert sql("SELECT count(*) FROM mcp.mail_projects WHERE key = 'p'") == [[2]]
