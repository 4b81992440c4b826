# Two commands on a fresh machine: `make demo` and `make test`. Each sets up everything it needs.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Most tests wait more than they compute: two at a time, each file on one side.
PYTEST_ARGS ?= -n 2 --dist loadfile

.PHONY: help setup demo test lint bench lock schemas

help: ## Show this help
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY) ## Make .venv with everything, pinned in requirements.lock

$(READY): requirements.lock pyproject.toml scripts/setup.sh
	PYTHON="$(PYTHON)" sh scripts/setup.sh "$(VENV)"

demo: setup ## Replay the demo matrix, print its report, say how to open the dashboard
	sh scripts/demo.sh "$(BIN)"

test: setup ## Run all tests
	"$(BIN)/python" -m pytest $(PYTEST_ARGS)

lint: setup ## Formatting, style, types, the direction of imports, known vulnerabilities
	"$(BIN)/ruff" format --check .
	"$(BIN)/ruff" check .
	"$(BIN)/lint-imports"
	"$(BIN)/pyright"
	"$(BIN)/python" scripts/check_repository.py
	"$(BIN)/python" scripts/audit_dependencies.py

bench: setup ## Run every benchmark
	for program in replay statistics recording tapes matching semantic drift verdicts chaos provider_limits gateway_clients; do \
	    "$(BIN)/python" benchmarks/$$program.py --json || exit 1; done

lock: ## Write requirements.lock anew from pyproject.toml (needs uv)
	uv pip compile -q pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-emit-find-links --no-header --no-annotate --upgrade -o requirements.lock

schemas: setup ## Write the published JSON Schemas in docs/schemas
	mkdir -p docs/schemas
	for kind in scenario cassette tape schedule; do "$(BIN)/passgrid" schema $$kind > docs/schemas/$$kind.schema.json; done
