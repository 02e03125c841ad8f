# Every command that a person needs. `make help` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 3000
DATA ?= ../shared/data
RESULTS := .bench

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Installing again is needed only when the dependencies change.
$(VENV)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; set PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what running needs into $(VENV)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[local]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.run
	@echo "installing what testing needs into $(VENV)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

.PHONY: setup
setup: $(VENV)/.dev ## Install everything for development into .venv

.PHONY: run
run: $(VENV)/.run ## Start everything on this machine, with the examples, on port 3000 (PORT changes it)
	@PORT=$(PORT) $(BIN)/skillroute up

.PHONY: test
test: $(VENV)/.dev ## Run the tests: no Docker, no network, no account
	@$(BIN)/python -m pytest

.PHONY: check
check: $(VENV)/.dev ## Lint, format, types and the template
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/cfn-lint template.yaml

.PHONY: format
format: $(VENV)/.dev ## Put the code into its format
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

.PHONY: bench
bench: $(VENV)/.dev ## Measure everything and write docs/benchmarks.md (DATA=folder of judged queries; about an hour)
	@mkdir -p $(RESULTS)
	@$(BIN)/python benchmarks/retrieval.py --data $(DATA) --json $(RESULTS)/retrieval.json
	@$(BIN)/python benchmarks/tune_hybrid.py --data $(DATA) --json $(RESULTS)/tune_hybrid.json
	@$(BIN)/python benchmarks/description_share.py --data $(DATA) --json $(RESULTS)/description_share.json
	@$(BIN)/python benchmarks/classification.py --data $(DATA) --json $(RESULTS)/classification.json
	@$(BIN)/python benchmarks/skills.py --json $(RESULTS)/skills.json
	@for n in 1000 10000 100000; do \
	  $(BIN)/python benchmarks/latency.py --tools $$n --json $(RESULTS)/latency_$$n.json || exit 1; done
	@$(BIN)/python benchmarks/ingest.py --json $(RESULTS)/ingest.json
	@$(BIN)/python benchmarks/report.py $(RESULTS) --output docs/benchmarks.md

.PHONY: clean
clean: ## Remove what building and testing left; data in .skillroute stays
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .aws-sam dist
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
