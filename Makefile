# make creates all environments on first use. A machine needs make and any Python from 3.8 on.
# PYTHON_VERSION chooses the Python of the environments. They keep it until you choose another one.

PYTHON ?= python3
PYTHONS := 3.13 3.14 3.12 3.11
PORT ?= 4566
STATE_DIR ?= .local
LOCAL_PORT ?= 8000
UPGRADE ?= --upgrade
export PORT STATE_DIR
# The targets start many Python processes. Without the bytecode cache, each one compiles the project again.
unexport PYTHONDONTWRITEBYTECODE

PIP_AUDIT := 2.9.0
UV := .tools/uv/bin/uv
LOCK := $(UV) pip compile --quiet --generate-hashes --no-header --no-annotate
VERSION := .tools/python-version
VENV := .venv/.requirements
EMULATOR := .tools/ministack/.requirements
BIN := .venv/bin
LOCAL_CLOUD := $(BIN)/python -m infrastructure.local_cloud

TYPED := app.py chalicelib infrastructure admin $(wildcard benchmarks)
SOURCES := $(TYPED) tests docs/examples

# `make e2e` runs these parts of the end-to-end tests at the same time. The first two run on local clouds
# of their own, which start with the state of one deployment. The output of a part is printed when the part
# ends, if this version of make can do so.
E2E_PARTS := e2e-faults e2e-quiet e2e-pages
e2e-faults := tests/e2e/faults
e2e-quiet := tests/e2e --ignore=tests/e2e/faults
e2e-pages := tests/chromium
E2E_STATE := .build/e2e-state
GROUPED := $(if $(filter output-sync,$(.FEATURES)),--output-sync)

# uv searches the PATH. The interpreters of pyenv are there only if pyenv has selected them.
empty :=
PYENV := $(wildcard $(foreach version,$(PYTHONS),$(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/$(version).*/bin))
FIND := PATH="$$PATH$(subst $(empty) $(empty),,$(PYENV:%=:%))" $(UV)

# Images of Python set PYTHON_VERSION to a complete version, such as 3.13.1.
PARTS := $(subst ., ,$(PYTHON_VERSION))
CHOSEN := $(filter $(PYTHONS),$(word 1,$(PARTS)).$(word 2,$(PARTS)))
ifneq ($(PYTHON_VERSION),)
ifeq ($(CHOSEN)$(filter environment,$(origin PYTHON_VERSION)),)
$(error Python $(PYTHON_VERSION) is not supported. Set PYTHON_VERSION to 3.11, 3.12, 3.13 or 3.14)
endif
endif
ifneq ($(CHOSEN),)
ifneq ($(CHOSEN),$(file < $(VERSION)))
.PHONY: $(VERSION)
endif
endif

# Create the environment $(1) with the installed or downloaded Python, and install the requirements file
# $(2) into the environment. If a download fails, retry with the system's certificate store, because some
# networks require a certificate that only this store contains.
define environment
	@version=$$(cat $(VERSION)) && { [ "$$(cat $@ 2>/dev/null)" = "$$version" ] \
		|| $(FIND) venv --quiet --clear --python $$version $(1) 2>/dev/null \
		|| $(FIND) venv --quiet --clear --python $$version --system-certs $(1) 2>/dev/null \
		|| { echo "Cannot find or download Python $$version. Install it, then run make again." >&2; exit 1; }; }
	@$(UV) pip sync --quiet --require-hashes --python $(1)/bin/python $(2) 2>/dev/null \
		|| $(UV) pip sync --quiet --require-hashes --system-certs --python $(1)/bin/python $(2)
	@cp $(VERSION) $@
endef

.DEFAULT_GOAL := help
.PHONY: help run up stop env logs local deploy test check e2e $(E2E_PARTS) e2e-state fuzz campaign bench format generate lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV) $(EMULATOR) ## Run the service on a local cloud until Ctrl-C (PORT, STATE_DIR)
	@$(LOCAL_CLOUD) run

up: $(VENV) $(EMULATOR) ## Run the local cloud in the background; if it is already running, deploy changes
	@$(LOCAL_CLOUD) up

stop: $(VENV) ## Stop the local cloud; keep its data
	@$(LOCAL_CLOUD) stop

env: $(VENV) ## Print exports for the running local cloud: eval "$(make env)"
	@$(LOCAL_CLOUD) env

logs: $(VENV) ## Print the log lines of a request: make logs REQUEST_ID=… [STAGE=…]
	@$(BIN)/python -m infrastructure.request_logs $(if $(STAGE),--stage $(STAGE)) -- "$(REQUEST_ID)"

local: $(VENV) ## Serve the routes from the source files, with automatic reload (LOCAL_PORT)
	@$(BIN)/chalice local --port $(LOCAL_PORT)

deploy: $(VENV) ## Deploy to AWS: make deploy STAGE=dev [ALARM_EMAIL=…] [FIREWALL=yes|no] [DOMAIN=…] [ROLE=…] [BOUNDARY=…] [PREVIEW=yes] [WATCH=no]
	@$(BIN)/python -m infrastructure.deployment.deploy $(if $(STAGE),--stage $(STAGE)) \
		$(if $(ALARM_EMAIL),--alarm-email $(ALARM_EMAIL)) $(if $(FIREWALL),--firewall $(FIREWALL)) \
		$(if $(DOMAIN),--domain $(DOMAIN)) $(if $(ROLE),--role $(ROLE)) $(if $(BOUNDARY),--boundary $(BOUNDARY)) \
		$(if $(PREVIEW),--preview $(PREVIEW)) $(if $(WATCH),--watch $(WATCH))

test: $(VENV) ## Run the tests in process, in parallel (PLAIN_MOTO)
	@rm -rf .build/recorded-requests
	@RECORDED_REQUESTS=.build/recorded-requests $(BIN)/pytest -n auto --dist worksteal tests $(addprefix --ignore=tests/,e2e chromium fuzz)

check: $(VENV) ## Check lint rules, format, types, import rules and templates
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory generate CHECK=--check
	$(BIN)/cfn-lint infrastructure/data.yaml infrastructure/domain.yaml
	@$(BIN)/python -m infrastructure.deployment.code_template .build/packaged.json
	$(BIN)/cfn-lint .build/packaged.json

e2e: $(VENV) $(EMULATOR) ## Run the end-to-end tests on temporary local clouds, or on a running cloud (E2E_DEMO=…)
	@$(MAKE) --no-print-directory --keep-going --jobs=$(if $(E2E_DEMO),1,3) $(GROUPED) $(E2E_PARTS)

e2e-faults e2e-quiet: $(if $(E2E_DEMO),,e2e-state)
	@$(if $(E2E_DEMO),,LOG_NAME=$@ PREPARED_STATE=$(E2E_STATE) $(LOCAL_CLOUD) with )$(BIN)/pytest --durations=15 $($@)

e2e-pages: $(VENV)
	@$(BIN)/pytest --durations=15 $($@)

e2e-state: $(VENV) $(EMULATOR)
	@rm -rf $(E2E_STATE) && STATE_DIR=$(E2E_STATE) $(LOCAL_CLOUD) prepare

fuzz: $(VENV) ## Fuzz the endpoints, queue messages and definitions in process (FUZZ_SECONDS)
	@FUZZ_SECONDS=$(or $(FUZZ_SECONDS),1800) $(BIN)/pytest -n0 tests/fuzz

campaign: $(VENV) ## Run random work with faults in a simulated AWS account (SEEDS, FIRST_SEED), and pairs of use cases
	@PYTHONHASHSEED=0 $(BIN)/python -m tests.campaign.pairs
	@PYTHONHASHSEED=0 $(BIN)/python -m tests.campaign $(or $(SEEDS),200) $(or $(FIRST_SEED),0)

bench: $(VENV) ## Measure the cost and speed of requests and functions
	@$(BIN)/python -m benchmarks

format: $(VENV) ## Fix and format the source
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)

generate: $(VENV) ## Write configuration, reference, catalogues and licences from their sources (CHECK=--check: compare)
	@$(BIN)/python -m infrastructure.generate $(CHECK)
	@$(BIN)/python -m infrastructure.openapi $(CHECK)

lock: $(UV) ## Lock the newest versions, with hashes (UPGRADE=: keep the versions), and check them for vulnerabilities
	@$(LOCK) $(UPGRADE) --python-version 3.11 --group dev pyproject.toml --output-file requirements-dev.txt
	@$(LOCK) --python-version 3.11 --constraints requirements-dev.txt pyproject.toml --output-file requirements.txt
	@$(LOCK) $(UPGRADE) --python-version 3.11 --group emulator --output-file infrastructure/local_cloud/requirements.txt
	@$(LOCK) $(UPGRADE) --python-version 3.11 --group uv --output-file requirements-uv.txt
	@for version in 3.12 3.13 3.14; do \
		$(LOCK) --python-version $$version --constraints requirements-dev.txt --group dev pyproject.toml \
			| cmp - requirements-dev.txt || { echo "Python $$version needs other packages." >&2; exit 1; }; \
	done
	@for file in requirements-dev.txt infrastructure/local_cloud/requirements.txt requirements-uv.txt; do \
		$(UV) tool run --quiet pip-audit@$(PIP_AUDIT) --strict --disable-pip --require-hashes --requirement $$file \
			|| failed=1; \
	done; exit $${failed:-0}

clean: ## Remove all environments, caches and local data
	@if [ -x $(BIN)/python ]; then $(LOCAL_CLOUD) stop; fi
	@rm -rf .venv .tools .local .build .chalice/deployments .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(UV): requirements-uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null \
		|| { echo "No Python 3.8 or later found as $(PYTHON). Install one, or give its path with PYTHON=…." >&2; exit 1; }
	@echo "Creating the environments (first run only)"
	@$(PYTHON) -m venv --clear .tools/uv >/dev/null 2>&1 \
		|| { echo "$(PYTHON) cannot create environments. Install its venv module (python3-venv on Debian and Ubuntu)." >&2; exit 1; }
	@.tools/uv/bin/pip install -qq --disable-pip-version-check --require-hashes --requirement $<
	@touch $@

$(VERSION): | $(UV)
	@for version in $(or $(CHOSEN),$(PYTHONS)); do \
		! $(FIND) python find --quiet --system --no-project --no-python-downloads $$version >/dev/null 2>&1 || break; \
		version=; \
	done; echo $${version:-$(or $(CHOSEN),3.13)} > $@

$(VENV): requirements-dev.txt $(VERSION) | $(UV)
	$(call environment,.venv,$<)
	@ln -sf ../../bin/chalice $(BIN)/chalice

$(EMULATOR): infrastructure/local_cloud/requirements.txt $(VERSION) | $(UV)
	$(call environment,$(@D),$<)
