"""Settings: read from the environment, refused by the name of the variable."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from skillroute.core.embedding import packaged
from skillroute.core.embedding.packaged import DEFAULT_MODEL, models_dir, packaged_models
from skillroute.core.errors.model import ConfigurationError
from skillroute.core.observability import logger
from skillroute.core.settings import CatalogSettings, IndexSettings, LocalSettings, SearchSettings
from skillroute.core.settings.base import REMOVED

from tests.settings_page import OF_THE_COMMAND_LINE, PAGE, page

URL = "postgresql://u:secret@127.0.0.1/db"
Loads = type[CatalogSettings]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Only what a test sets itself, and a database."""
    for name in os.environ:
        if name.startswith(("SKILLROUTE_", "AWS_LAMBDA_", "AWS_SAM_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", URL)
    return monkeypatch


@pytest.fixture
def tokens(environment: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """And what mode jwt needs."""
    environment.setenv("SKILLROUTE_AUTH", "jwt")
    environment.setenv("SKILLROUTE_JWT_ISSUER", "https://issuer.test/")
    environment.setenv("SKILLROUTE_JWT_AUDIENCE", "https://skillroute.test")
    return environment


@pytest.mark.parametrize("settings", [CatalogSettings, SearchSettings])
@pytest.mark.parametrize("auth", ["none", "", None])
def test_on_lambda_nobody_is_let_in_unasked(environment: pytest.MonkeyPatch, settings: Loads, auth: str | None) -> None:
    # GIVEN
    environment.setenv("AWS_LAMBDA_FUNCTION_NAME", "skillroute-search")
    if auth is not None:
        environment.setenv("SKILLROUTE_AUTH", auth)
    # WHEN, THEN
    with pytest.raises(ConfigurationError, match="SKILLROUTE_AUTH must be jwt or iam on Lambda") as refused:
        settings.load()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("auth", ["jwt", "iam"])
def test_on_lambda_verified_callers_are_let_in(tokens: pytest.MonkeyPatch, auth: str) -> None:
    tokens.setenv("AWS_LAMBDA_FUNCTION_NAME", "skillroute-search")
    tokens.setenv("SKILLROUTE_AUTH", auth)
    assert SearchSettings.load().auth == auth


@pytest.mark.parametrize(
    ("missing", "value"), [("ISSUER", ""), ("ISSUER", None), ("AUDIENCE", ""), ("AUDIENCE", None), ("AUDIENCE", " , ")]
)
def test_tokens_are_not_taken_from_anybody_for_anybody(
    tokens: pytest.MonkeyPatch, missing: str, value: str | None
) -> None:
    name = f"SKILLROUTE_JWT_{missing}"
    tokens.delenv(name) if value is None else tokens.setenv(name, value)
    with pytest.raises(ConfigurationError, match="SKILLROUTE_AUTH=jwt needs SKILLROUTE_JWT_ISSUER and"):
        SearchSettings.load()


def test_audiences_are_separated_by_commas(tokens: pytest.MonkeyPatch) -> None:
    tokens.setenv("SKILLROUTE_JWT_AUDIENCE", "one, two,,three ")
    assert SearchSettings.load().jwt_audiences == {"one", "two", "three"}


@pytest.mark.parametrize(("said", "required"), [(None, True), ("", True), ("false", False), ("true", True)])
def test_an_organisation_is_required_unless_it_is_said_that_it_is_not(
    tokens: pytest.MonkeyPatch, said: str | None, required: bool
) -> None:
    if said is not None:
        tokens.setenv("SKILLROUTE_JWT_REQUIRE_ORG", said)
    assert SearchSettings.load().jwt_require_org is required


def test_whether_an_organisation_is_required_is_not_guessed(tokens: pytest.MonkeyPatch) -> None:
    tokens.setenv("SKILLROUTE_JWT_REQUIRE_ORG", "treu")
    with pytest.raises(ConfigurationError, match=r"^SKILLROUTE_JWT_REQUIRE_ORG: "):
        SearchSettings.load()


def test_the_agents_claim_has_a_name_and_another_one_where_it_is_said(tokens: pytest.MonkeyPatch) -> None:
    assert SearchSettings.load().jwt_agent_claim == "agent"
    tokens.setenv("SKILLROUTE_JWT_AGENT_CLAIM", "mail_agent")
    assert SearchSettings.load().jwt_agent_claim == "mail_agent"


def test_on_lambda_keys_are_refused_and_under_sam_local_they_are_not(tokens: pytest.MonkeyPatch) -> None:
    tokens.setenv("AWS_LAMBDA_FUNCTION_NAME", "skillroute-search")
    tokens.setenv("SKILLROUTE_JWT_KEYS", '{"keys": []}')
    with pytest.raises(ConfigurationError, match="SKILLROUTE_JWT_KEYS is for the laptop and sam local"):
        SearchSettings.load()
    tokens.setenv("AWS_SAM_LOCAL", "true")
    assert SearchSettings.load().jwt_keys == '{"keys": []}'


@pytest.mark.parametrize("prefix", ["a b", 'a"b', "a\\b", "a\nb"])
def test_a_prefix_that_no_scope_can_have_is_named(tokens: pytest.MonkeyPatch, prefix: str) -> None:
    tokens.setenv("SKILLROUTE_JWT_SCOPE_PREFIX", prefix)
    with pytest.raises(ConfigurationError, match=r"^SKILLROUTE_JWT_SCOPE_PREFIX: "):
        SearchSettings.load()


def test_on_a_laptop_nobody_is_asked() -> None:
    assert SearchSettings.load().auth == "none"


def test_a_variable_that_is_set_to_nothing_is_not_set(environment: pytest.MonkeyPatch) -> None:
    defaults = SearchSettings.load()
    for name in SearchSettings.model_fields:
        if name != "database_url":
            environment.setenv(f"SKILLROUTE_{name.upper()}", "")
    assert SearchSettings.load() == defaults
    assert defaults.qdrant_url is None


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, "embedded"),
        ({"AWS_LAMBDA_FUNCTION_NAME": "search"}, "auto"),
        ({"SKILLROUTE_QDRANT_URL": "http://q"}, "server"),
        ({"SKILLROUTE_QDRANT_URL": "http://q", "SKILLROUTE_INDEX": "auto"}, "server"),
        ({"SKILLROUTE_INDEX": "postgres"}, "postgres"),
        ({"SKILLROUTE_INDEX": "embedded", "AWS_LAMBDA_FUNCTION_NAME": "search"}, "embedded"),
    ],
)
def test_the_index_is_what_is_said_or_what_suits_the_place(
    environment: pytest.MonkeyPatch, given: dict[str, str], kind: str
) -> None:
    for name, value in given.items():
        environment.setenv(name, value)
    settings = IndexSettings.load()
    assert settings.index_kind == kind
    assert settings.writers_fill_index == (kind != "embedded")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"SKILLROUTE_INDEX": "server"}, "SKILLROUTE_INDEX=server needs SKILLROUTE_QDRANT_URL"),
        ({"SKILLROUTE_INDEX": "postgres", "SKILLROUTE_QDRANT_URL": "http://q"}, "contradict each other"),
        ({"SKILLROUTE_INDEX": "embedded", "SKILLROUTE_QDRANT_URL": "http://q"}, "contradict each other"),
        ({"SKILLROUTE_INDEX": "elsewhere"}, "SKILLROUTE_INDEX: "),
        ({"SKILLROUTE_INDEX_REPLICA_UP_TO": "-1"}, "SKILLROUTE_INDEX_REPLICA_UP_TO: "),
    ],
)
def test_an_index_that_cannot_be_is_refused_by_name(
    environment: pytest.MonkeyPatch, given: dict[str, str], named: str
) -> None:
    for name, value in given.items():
        environment.setenv(name, value)
    with pytest.raises(ConfigurationError, match=named):
        IndexSettings.load()


def test_onnx_runs_a_packaged_model_by_its_name(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # GIVEN no name, it is the tuned model; WHEN one is named, THEN it is that one's folder
    assert SearchSettings.load().onnx_dir == models_dir() / DEFAULT_MODEL
    for name in packaged_models():
        environment.setenv("SKILLROUTE_EMBEDDING_MODEL", name)
        assert (SearchSettings.load().onnx_dir / "model.json").is_file()
    # WHEN nobody knows the name, THEN those that are there are named
    environment.setenv("SKILLROUTE_EMBEDDING_MODEL", "tool-minilm")
    with pytest.raises(ConfigurationError, match=r"SKILLROUTE_EMBEDDING_MODEL=tool-minilm .*all-minilm-l6-v2, "):
        SearchSettings.load()
    # WHEN a folder is given, THEN it is that one, whatever it is called
    environment.setenv("SKILLROUTE_MODEL_DIR", str(tmp_path))
    assert SearchSettings.load().onnx_dir == tmp_path


def test_onnx_runs_the_model_that_the_layer_was_built_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(packaged, "models_dir", lambda: tmp_path)
    assert packaged.default_model() == DEFAULT_MODEL, "where there is none it is named in the error"
    for name in ("all-minilm-l6-v2", DEFAULT_MODEL):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.json").write_text("{}", encoding="utf-8")
        assert packaged.default_model() == name, "the default one where it is there"


def test_a_database_is_named_once(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("SKILLROUTE_DATABASE_SECRET_ARN", "arn:aws:secretsmanager:eu-central-1:123456789012:secret:x")
    with pytest.raises(ConfigurationError, match="set one of"):
        SearchSettings.load()
    environment.delenv("SKILLROUTE_DATABASE_URL")
    assert SearchSettings.load().database_url is None


def test_a_user_with_tokens_needs_no_secret_and_says_where_it_logs_in(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("SKILLROUTE_DATABASE_USER", "app_reader_iam")
    with pytest.raises(ConfigurationError, match="set one of"):
        SearchSettings.load()
    environment.delenv("SKILLROUTE_DATABASE_URL")
    environment.setenv("SKILLROUTE_DATABASE_HOST", "db.example")
    with pytest.raises(ConfigurationError, match="needs SKILLROUTE_DATABASE_HOST and SKILLROUTE_DATABASE_NAME"):
        SearchSettings.load()
    environment.setenv("SKILLROUTE_DATABASE_NAME", "app")
    assert SearchSettings.load().database_user == "app_reader_iam"


@pytest.mark.parametrize("url", ["", None])
def test_what_is_needed_and_missing_is_named(environment: pytest.MonkeyPatch, url: str | None) -> None:
    environment.delenv("SKILLROUTE_DATABASE_URL") if url is None else environment.setenv("SKILLROUTE_DATABASE_URL", url)
    with pytest.raises(
        ConfigurationError, match=r"set one of SKILLROUTE_DATABASE_URL and SKILLROUTE_DATABASE_SECRET_ARN"
    ):
        SearchSettings.load()


def test_the_docs_have_the_settings_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.settings_page"
    of_models = {name for name, field in LocalSettings.model_fields.items() if field.validation_alias is None}
    assert all(f"| `SKILLROUTE_{name.upper()}` |" in page() for name in of_models | set(OF_THE_COMMAND_LINE))
    assert all(LocalSettings.model_fields[name].description for name in of_models)


def test_variables_that_are_no_longer_read_are_named_once(environment: pytest.MonkeyPatch) -> None:
    # GIVEN two that are set, and one that is set to nothing
    said: list[tuple[object, ...]] = []
    environment.setattr(logger, "warning", lambda *message: said.append(message))
    SearchSettings.load()
    assert said == []
    for name, value in zip(REMOVED, ("1", "2", ""), strict=False):
        environment.setenv(name, value)
    # WHEN
    SearchSettings.load()
    # THEN
    assert said == [("no longer read: %s", f"{REMOVED[0]}, {REMOVED[1]}")]
    assert not {name.removeprefix("SKILLROUTE_").lower() for name in REMOVED} & set(LocalSettings.model_fields)
