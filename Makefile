# Everything is made on first use: Python 3.11 and make are all that a machine needs.

PYTHON ?= python3.11
PORT ?= 4566
STATE_DIR ?= .local
LOCAL_PORT ?= 8000
export PORT STATE_DIR LOCAL_PORT

UV_VERSION := 0.13.8
UV := .tools/uv-$(UV_VERSION)/bin/uv
VENV := .venv/.requirements
EMULATOR := .tools/ministack/.requirements
BIN := .venv/bin
LOCAL_CLOUD := $(BIN)/python -m infrastructure.local_cloud

TYPED := app.py chalicelib infrastructure admin $(wildcard benchmarks)
SOURCES := $(TYPED) tests docs/examples

# Some networks have certificates of their own, which only the system's store knows.
define sync
	@$(UV) pip sync --quiet --python $(1) $(2) 2>/dev/null || $(UV) pip sync --quiet --system-certs --python $(1) $(2)
endef

.DEFAULT_GOAL := help
.PHONY: help run up stop local deploy test check e2e bench format policies openapi lock clean

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV) $(EMULATOR) ## Run the service on this machine until Ctrl-C (PORT, STATE_DIR)
	@$(LOCAL_CLOUD) run

up: $(VENV) $(EMULATOR) ## The same in the background; again: deploy what changed
	@$(LOCAL_CLOUD) up

stop: $(VENV) ## End what make up or make run started; the data stays
	@$(LOCAL_CLOUD) stop

local: $(VENV) ## Serve the routes with reload, against the running cloud (LOCAL_PORT)
	@$(LOCAL_CLOUD) reload

deploy: $(VENV) ## Deploy to AWS: make deploy STAGE=dev [ALARM_EMAIL=…]
	@$(BIN)/python -m infrastructure.deployment.deploy $(if $(STAGE),--stage $(STAGE)) $(if $(ALARM_EMAIL),--alarm-email $(ALARM_EMAIL))

test: $(VENV) ## Tests in process, in parallel
	@$(BIN)/pytest -n auto tests --ignore=tests/e2e

check: $(VENV) ## Lint, format, types, imports, templates, OpenAPI
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports
	@$(BIN)/python -m infrastructure.openapi --check
	$(BIN)/cfn-lint infrastructure/data.yaml
	@$(BIN)/python -m infrastructure.deployment.packaged_template .local/check/packaged.json
	$(BIN)/cfn-lint .local/check/packaged.json

e2e: $(VENV) $(EMULATOR) ## Tests through the gateway of a cloud of their own (E2E_DEMO=… to use a running one)
	@$(if $(E2E_DEMO),,$(LOCAL_CLOUD) with )$(BIN)/pytest tests/e2e

bench: $(VENV) $(EMULATOR) ## Measure cost and speed
	@$(BIN)/python -m benchmarks

format: $(VENV) ## Put the source in its one format
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)

policies: $(VENV) ## Write the functions' policies from infrastructure/permissions.py
	@$(BIN)/python -m infrastructure.permissions

openapi: $(VENV) ## Generate the OpenAPI document and the documentation page
	@$(BIN)/python -m infrastructure.openapi

lock: $(UV) ## Pin the newest versions of what pyproject.toml asks for
	@$(UV) pip compile --quiet --upgrade --no-header --no-annotate --python-version 3.11 --group dev pyproject.toml --output-file requirements-dev.txt
	@$(UV) pip compile --quiet --no-header --no-annotate --python-version 3.11 --constraints requirements-dev.txt pyproject.toml --output-file requirements.txt

clean: ## Remove everything that was made here, the local cloud's data included
	@if [ -x $(BIN)/python ]; then $(LOCAL_CLOUD) stop; fi
	@rm -rf .venv .tools .local .chalice/deployments .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(UV):
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is missing: install it, or say where it is with PYTHON=…" >&2; exit 1; }
	@echo "Making the environments (once)"
	@$(PYTHON) -m venv $(@D)/.. || { echo "$(PYTHON) cannot make environments: install its venv module (python3.11-venv on Debian)." >&2; exit 1; }
	@$(@D)/pip install -qq --disable-pip-version-check uv==$(UV_VERSION)

$(VENV): requirements-dev.txt requirements.txt | $(UV)
	@[ -x $(BIN)/python ] || $(UV) venv --quiet --python $(PYTHON) .venv
	$(call sync,$(BIN)/python,requirements-dev.txt)
	@touch $@

$(EMULATOR): infrastructure/local_cloud/requirements.txt | $(UV)
	@[ -x $(@D)/bin/python ] || $(UV) venv --quiet --python $(PYTHON) $(@D)
	$(call sync,$(@D)/bin/python,$<)
	@touch $@
