# Needs Python 3.11 or later and make; all else comes from package registries. ARGS goes to the tests or the demo.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ARGS   ?=
# Of each property that `make fuzz` tries.
EXAMPLES ?= 2000

.PHONY: help venv demo test test-long fuzz test-container lint check format clean
.DEFAULT_GOAL := help

help:
	@echo "make venv       the library, all extras and the tools, in $(VENV)"
	@echo "make demo       the demo, in a local database"
	@echo "make test       the suite, with a Neo4j of its own; ARGS='tests/records -k window' for a part"
	@echo "make test-long  what takes long: kills, faults, installed wheels, walks over the whole surface"
	@echo "make fuzz       parsers of outside data, EXAMPLES=2000 of each property; ARGS for a part"
	@echo "make test-container  Neo4j in containers; starts an engine when none runs, needs root for that"
	@echo "make lint       format, lint, types, layers"
	@echo "make check      all tests and lint"
	@echo "make format     put the code in order"
	@echo "make clean      remove what these made in this folder"

venv: $(READY)

$(READY): pyproject.toml src/remembrancer/_version.py
	@echo "setting up $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable ".[all,testing]" --group dev
	@touch $@

demo: $(READY)
	@$(BIN)/remembrancer demo $(ARGS)

# Two workers with a Neo4j each: half of the time goes into waiting for the other process.
test: $(READY)
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "not long and not container" $(ARGS)

test-long: $(READY)
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile -m "long and not container" $(ARGS)

fuzz: $(READY)
	@REMEMBRANCER_FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -m "not long" tests/fuzz -o timeout=0 $(ARGS)

test-container: $(READY)
	@PYTHON=$(BIN)/python docker/with-engine $(BIN)/python -m pytest --numprocesses 2 --dist loadgroup -m container tests/container $(ARGS)

lint: $(READY)
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

check: test test-long lint

format: $(READY)
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .demo
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
