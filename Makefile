# Every command that a person needs. `make help` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 3000
DATA ?= ../shared/data
RESULTS := .bench
# The SAM CLI pins what it is made of so narrowly that it needs an environment of its own; SAM=sam takes another one.
SAM ?= $(abspath .venv-sam/bin/sam)
ARCHITECTURE ?= $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)
BUILT = .aws-sam/built-$(ARCHITECTURE)
SAM_CLI_TELEMETRY ?= 0
export SAM SAM_CLI_TELEMETRY

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What is installed comes from the lock files, the same on every machine, and from this checkout. Without dependencies:
# a lock names them all.
PIP := -m pip install -q --disable-pip-version-check
LOCKED = $(PIP) --no-deps --only-binary :all: --require-hashes -r
OURS = $(PIP) --no-deps --no-build-isolation -e clients/python -e .

# Installing again is needed only when the dependencies change.
$(VENV)/.run: pyproject.toml clients/python/pyproject.toml locks/run.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; set PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what running needs into $(VENV)"
	@$(BIN)/python $(LOCKED) locks/run.lock
	@$(BIN)/python $(OURS)
	@touch $@

$(VENV)/.dev: $(VENV)/.run locks/dev.lock
	@echo "installing what testing needs into $(VENV)"
	@$(BIN)/python $(LOCKED) locks/dev.lock
	@touch $@

.PHONY: setup
setup: $(VENV)/.dev ## Install everything for development into .venv

.PHONY: run
# With exec no shell is left that Ctrl-C would end as well: make would call that an error.
run: $(VENV)/.run ## Start everything on this machine, with the examples, on port 3000 (PORT changes it)
	@exec env PORT=$(PORT) $(BIN)/skillroute up

# Side by side, file by file (those that ask one server together: tests/scheduling.py, which says how many processes), a
# database server each; four at most, for each process takes up to 2 GB. In the order of their names, so that the small
# unit tests come last and no process waits for another one.
# With bytecode kept even where the environment says otherwise: the tests start some hundred processes, and each would
# compile anew what it imports, 2 s of a processor.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.PHONY: test
test: $(VENV)/.dev ## Run the tests: no Docker, no network, no account
	@$(PYTEST)

.PHONY: test-all
test-all: $(VENV)/.dev ## Run the tests at length: more examples, more kills, outages and races (hours)
	@SKILLROUTE_SOAK=1 HYPOTHESIS_PROFILE=thorough $(PYTEST)

# The ranges of pyproject.toml are for those who install the packages: these two say whether they still hold.
.PHONY: test-newest
test-newest: ## Run the tests with the newest packages that pyproject.toml allows, in an environment of their own
	@rm -rf .venv-newest && $(PYTHON) -m venv .venv-newest
	@.venv-newest/bin/python $(PIP) -e clients/python -e '.[dev]'
	@$(subst $(BIN),.venv-newest/bin,$(PYTEST))

.PHONY: test-oldest
test-oldest: $(VENV)/.dev ## Run the tests with the oldest packages that pyproject.toml allows, in an environment of their own
	@rm -rf .venv-oldest && $(PYTHON) -m venv .venv-oldest
	@$(BIN)/python -m uv pip install -q --python .venv-oldest/bin/python --resolution lowest-direct -e clients/python -e '.[dev]'
	@$(subst $(BIN),.venv-oldest/bin,$(PYTEST))

.venv-sam/bin/sam: locks/sam.lock
	@echo "installing the SAM CLI into .venv-sam"
	@test -x .venv-sam/bin/python || $(PYTHON) -m venv .venv-sam
	@.venv-sam/bin/python $(LOCKED) locks/sam.lock
	@touch $@

.PHONY: build
build: $(filter .venv-sam/bin/sam,$(SAM:$(CURDIR)/%=%)) ## Build functions and layers into .aws-sam (ARCHITECTURE: arm64 or x86_64)
	@rm -f .aws-sam/built-*
	@$(SAM) build --parameter-overrides Architecture=$(ARCHITECTURE)
	@touch $(BUILT)

# For what needs a build and not a new one: builds when there is none for this processor, or when its sources are newer.
$(BUILT): template.yaml samconfig.toml $(shell find functions infrastructure layers -type f -not -path '*/__pycache__/*')
	@$(MAKE) --no-print-directory build

.PHONY: validate
validate: $(filter .venv-sam/bin/sam,$(SAM:$(CURDIR)/%=%)) ## Let the SAM CLI check the templates
	@$(SAM) validate --lint
	@for each in infrastructure/*.yaml; do $(SAM) validate --lint --template $$each || exit 1; done

# Side by side, since sam waits for Docker most of the time.
.PHONY: test-sam
test-sam: $(VENV)/.dev ## Build, then call every route and trigger under sam local: needs Docker (SKILLROUTE_SAM_IMAGE: an image instead of AWS's)
	@docker info >/dev/null 2>&1 || { echo "make test-sam needs Docker, and it does not answer: start it, or run 'docker info' to see why"; exit 2; }
	@$(MAKE) --no-print-directory $(BUILT)
	@$(BIN)/python -m pytest tests/sam -m sam -vv -n 3 --dist loadfile --no-loadscope-reorder

.venv-mcp-1/.installed: locks/mcp-1.lock
	@test -x .venv-mcp-1/bin/python || $(PYTHON) -m venv .venv-mcp-1
	@.venv-mcp-1/bin/python $(LOCKED) locks/mcp-1.lock
	@touch $@

.PHONY: test-mcp-1
test-mcp-1: $(VENV)/.dev .venv-mcp-1/.installed ## Let the last 1.x of the official MCP client, in an environment of its own, ask a running Skillroute
	@SKILLROUTE_MCP_1_PYTHON=$(abspath .venv-mcp-1/bin/python) $(BIN)/python -m pytest tests/e2e/test_mcp.py -k last_client

.venv-registry-servers/.installed: locks/registry-servers.lock
	@test -x .venv-registry-servers/bin/python || $(PYTHON) -m venv .venv-registry-servers
	@.venv-registry-servers/bin/python $(LOCKED) $<
	@touch $@

.PHONY: test-company
test-company: $(VENV)/.dev .venv-registry-servers/.installed $(RESULTS)/npm/.installed ## Let the roles of a company find and call tools of servers of PyPI and npm: needs npm
	@SKILLROUTE_REGISTRY_SERVERS=$(abspath .venv-registry-servers/bin):$(abspath $(RESULTS)/npm/node_modules/.bin) \
	  $(BIN)/python -m pytest tests/e2e/test_company.py -k registries

.PHONY: test-wheel
test-wheel: $(VENV)/.dev ## Build both wheels, install them into fresh environments and use them: needs a package registry
	@$(BIN)/python -m pytest tests/wheel -m wheel -vv

.venv-adapters/.installed: clients/python/pyproject.toml locks/adapters.lock
	@echo "installing the frameworks of the client's adapters into .venv-adapters"
	@test -x .venv-adapters/bin/python || $(PYTHON) -m venv .venv-adapters
	@.venv-adapters/bin/python $(LOCKED) locks/adapters.lock
	@.venv-adapters/bin/python $(PIP) --no-deps --no-build-isolation -e clients/python
	@touch $@

.PHONY: test-adapters
test-adapters: $(VENV)/.dev .venv-adapters/.installed ## Test the client's adapters with the real frameworks, in an environment of their own
	@cd clients/python && $(abspath .venv-adapters/bin/python) -m mypy
	@SKILLROUTE_ADAPTERS_PYTHON=$(abspath .venv-adapters/bin/python) $(BIN)/python -m pytest tests/e2e/test_adapters.py

# Browsers' tests: the browser is the system's, its driver and axe-core are fetched into places of their own.
$(VENV)/.console: $(VENV)/.dev locks/console.lock
	@echo "installing what drives the browser into $(VENV)"
	@$(BIN)/python $(LOCKED) locks/console.lock
	@touch $@

NPM := $(RESULTS)/npm
NPM_TOOLS := $(NPM)/node_modules/.bin
AXE := $(NPM)/node_modules/axe-core/axe.min.js
$(NPM)/.installed: locks/npm/package.json locks/npm/package-lock.json
	@command -v npm >/dev/null || { echo "npm is not there: install Node 20 or later with it (Debian: apt-get install npm)" >&2; exit 2; }
	@mkdir -p $(NPM) && cp locks/npm/package.json locks/npm/package-lock.json $(NPM)
	@npm ci --prefix $(NPM) --silent --ignore-scripts --no-audit --no-fund
	@touch $@

.PHONY: chromium
# Installed only where that is nobody's but this system's matter: as root, on Debian. Elsewhere what is missing is said.
chromium:
	@test -n "$$SKILLROUTE_CHROMIUM" || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || { test "$$(id -u)" = 0 && test -e /etc/debian_version && echo "installing Debian's chromium" \
	       && apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null; } \
	  || { echo "there is no Chromium: install it (Debian: apt-get install chromium), or name one in SKILLROUTE_CHROMIUM"; exit 2; }

.PHONY: test-console
test-console: $(VENV)/.console chromium ## Test the console in a real browser: needs Chromium (SKILLROUTE_CHROMIUM), and npm for axe-core (FAILED=1 runs what failed last)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(NPM)/.installed; \
	  else echo "NOT TESTED: the console with axe-core, because there is no npm" >&2; fi
	@SKILLROUTE_AXE=$(abspath $(AXE)) $(BIN)/python -m pytest tests/console -m console -n 2 --dist loadfile -o cache_dir=.pytest_cache/console \
	  $(if $(FAILED),--last-failed --last-failed-no-failures none)

.PHONY: test-stubs
test-stubs: $(VENV)/.dev $(NPM)/.installed ## Compile the stubs of all tools by TypeScript: needs npm
	@SKILLROUTE_TSC=$(abspath $(NPM_TOOLS)/tsc) $(BIN)/python -m pytest tests/unit/mcp/stubs -q

.PHONY: pictures
pictures: $(VENV)/.console chromium ## Take the pictures of docs/console.md
	@$(BIN)/python -m tests.console.pictures docs/images/console

.PHONY: check
check: $(VENV)/.dev ## Lint, format, types and the template
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/cfn-lint template.yaml infrastructure/*.yaml

.PHONY: openapi
openapi: $(VENV)/.dev ## Write docs/openapi.json from the code
	@$(BIN)/python -m tests.openapi

.PHONY: openapi-lint
openapi-lint: $(NPM)/.installed ## Let Redocly's linter, openapi-typescript and TypeScript read docs/openapi.json: needs Node and the network
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(NPM_TOOLS)/redocly lint docs/openapi.json --config tests/redocly.yaml
	@$(NPM_TOOLS)/openapi-typescript docs/openapi.json --output $(RESULTS)/openapi.ts
	@$(NPM_TOOLS)/tsc --noEmit --strict $(RESULTS)/openapi.ts

.PHONY: format
format: $(VENV)/.dev ## Put the code into its format
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

.PHONY: lock
lock: $(VENV)/.dev ## Pin all that is installed here and on Lambda (UPGRADE=1 takes the newest versions that are allowed)
	@$(BIN)/python locks/lock.py $(if $(UPGRADE),--upgrade)

.PHONY: layer-size
layer-size: $(VENV)/.dev $(BUILT) ## Run the functions with the layers that make build built, and weigh them
	@$(BIN)/python layers/size.py --built .aws-sam/build --architecture $(ARCHITECTURE)

.PHONY: layer-size-all
layer-size-all: $(VENV)/.dev ## Build the layers for both processors, without sam, then the same
	@$(BIN)/python layers/size.py

.PHONY: bench
bench: $(VENV)/.dev bench-retrieval ## Measure everything and write docs/benchmarks.md (DATA=folder of judged queries; about two hours)
	@mkdir -p $(RESULTS)
	@$(BIN)/python -m benchmarks.standing.retrieval --data $(DATA) --json $(RESULTS)/retrieval.json
	@$(BIN)/python -m benchmarks.standing.skills --json $(RESULTS)/skills.json
	@for n in 1000 10000 100000; do \
	  $(BIN)/python -m benchmarks.standing.latency --tools $$n --json $(RESULTS)/latency_$$n.json || exit 1; done
	@$(BIN)/python -m benchmarks.standing.ingest --json $(RESULTS)/ingest.json
	@$(BIN)/python -m benchmarks.standing.registry_quality --data $(DATA) --json $(RESULTS)/registry_quality.json
	@for n in 1000 10000; do \
	  $(BIN)/python -m benchmarks.standing.registry_latency --servers $$n --data $(DATA) --json $(RESULTS)/registry_latency_$$n.json || exit 1; done
	@$(BIN)/python -m benchmarks.standing.message_quality --json $(RESULTS)/message_quality.json
	@for n in 1000 10000 100000; do \
	  $(BIN)/python -m benchmarks.standing.message_latency --messages $$n --json $(RESULTS)/message_latency_$$n.json || exit 1; done
	@$(BIN)/python -m benchmarks.standing.answer_tokens --data $(DATA) --json $(RESULTS)/answer_tokens.json
	@$(BIN)/python -m benchmarks.standing.calls --json $(RESULTS)/calls.json
	@-$(BIN)/python -m benchmarks.standing.cost --json $(RESULTS)/cost.json
	@rm -f $(RESULTS)/cold_start.json $(RESULTS)/built
	@-$(MAKE) --no-print-directory build && touch $(RESULTS)/built
	@if [ -e $(RESULTS)/built ]; then \
	  $(BIN)/python -m benchmarks.standing.cold_start --json $(RESULTS)/cold_start.json; \
	else echo "cold starts were not measured: the build failed" >&2; fi
	@$(BIN)/python -m benchmarks.standing.report $(RESULTS) --output docs/benchmarks.md --keep

# In an environment of its own: what is compared with is no dependency of anything here.
$(RESULTS)/peers/.installed: locks/peers.lock
	@echo "installing what is compared with into $(RESULTS)/peers"
	@test -x $(RESULTS)/peers/bin/python || $(PYTHON) -m venv $(RESULTS)/peers
	@$(RESULTS)/peers/bin/python $(LOCKED) $<
	@touch $@

.PHONY: bench-retrieval
bench-retrieval: $(VENV)/.dev $(RESULTS)/peers/.installed ## Compare what is found with BM25, langgraph-bigtool and FastMCP, and among real tools (DATA=..., an hour)
	@$(BIN)/python -m benchmarks.standing.compare --data $(DATA) --peers $(RESULTS)/peers --json $(RESULTS)/compare.json
	@$(BIN)/python -m benchmarks.standing.report $(RESULTS)/compare.json --output docs/benchmarks.md --keep
	@$(BIN)/python -m benchmarks.standing.among --data $(DATA) --json $(RESULTS)/among.json
	@$(BIN)/python -m benchmarks.standing.report $(RESULTS)/among.json --output docs/benchmarks.md --keep
	@$(BIN)/python -m benchmarks.standing.compare_picture $(RESULTS)/compare.json docs/retrieval.svg

.PHONY: bench-tokens
bench-tokens: $(VENV)/.dev ## Count the tokens that tools take of an agent's context (DATA=..., three minutes)
	@$(BIN)/python -m benchmarks.standing.answer_tokens --data $(DATA) --json $(RESULTS)/answer_tokens.json
	@$(BIN)/python -m benchmarks.standing.report $(RESULTS)/answer_tokens.json --output docs/benchmarks.md --keep

.PHONY: bench-resume
bench-resume: $(VENV)/.dev ## Fill an index server with a million rows by processes that are killed (ROWS=..., some minutes)
	@$(BIN)/python -m benchmarks.standing.resume --rows $(or $(ROWS),1000000)
.PHONY: bench-cost
bench-cost: $(VENV)/.dev ## Measure the largest request of every route; fails where one costs more than it may (10 minutes)
	@mkdir -p $(RESULTS)
	@$(BIN)/python -m benchmarks.standing.cost --json $(RESULTS)/cost.json

.PHONY: clean
clean: ## Remove what building and testing left; data in .skillroute stays
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .aws-sam dist
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
