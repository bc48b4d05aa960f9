# All that is needed is Python 3.11 or newer and make. `make PYTHON=/path/to/python3.12 test`
# chooses another interpreter; remove .venv (make clean) to change it later.

PYTHON ?= python3

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input
STAMP := $(VENV)/.ready
LOG := $(VENV)/setup.log
PEERS := flink pathway

.DEFAULT_GOAL := help
.PHONY: help demo demo-punctuation docs test test-fast check format bench-bounded bench-kernels \
  bench-engine bench-expiry bench-punctuation bench-sharing bench-peers bench-nexmark release clean moved

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' Makefile

test: check ## Check, then run every test, two files at a time
	@$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-fast: $(STAMP) ## Run the tests that need neither Spark nor minutes
	@$(PY) -m pytest -n 2 -m "not spark and not long"

check: $(STAMP) ## Lint, formatting and types
	@$(PY) -m ruff check --quiet
	@$(PY) -m ruff format --check --quiet
	@$(PY) -m mypy --strict --no-error-summary src tests bench release.py

demo: $(STAMP) ## Watch a live auction and its views for 45 seconds
	@$(PY) -m penstock demo

docs: $(STAMP) ## Build the pages of docs into build/docs
	@$(PY) -m docs.figures.intervals
	@$(PY) -m docs.walks
	@$(PY) -m docs.reference
	@$(PY) -m docs.notebook 2>/dev/null
	@$(PY) -m docs.build

format: $(STAMP) ## Rewrite the code the way check wants it
	@$(PY) -m ruff check --fix --quiet
	@$(PY) -m ruff format --quiet

demo-punctuation: $(STAMP) ## See results come as soon as streams say that no more of them follow
	@$(PY) -m penstock run examples/warehouse.sql --until-idle
	@$(PY) -m penstock run examples/sold.sql --until-idle

bench-kernels: $(STAMP) ## Measure the kernels, without Spark
	@$(PY) -m bench.kernels

bench-bounded: $(STAMP) ## Feed 20 million rows to queries of bounded memory
	@$(PY) -m bench.bounded

bench-engine: $(STAMP) ## Measure Penstock beside plain Structured Streaming
	@$(PY) -m bench.engine

bench-expiry: $(STAMP) ## Measure the ways to notice what has left its window
	@$(PY) -m bench.expiry

bench-punctuation: $(STAMP) ## Measure what punctuations cost and save
	@$(PY) -m bench.punctuation

bench-sharing: $(STAMP) ## Measure overlapping queries, shared and apart
	@$(PY) -m bench.sharing

bench-peers: $(PEERS:%=.peers/%/.ready) ## Set up the engines that Nexmark compares with

bench-nexmark: $(STAMP) bench-peers ## Measure Nexmark, for hours; write docs/benchmarks.md
	@$(PY) -m bench.nexmark

release: $(STAMP) ## Build the wheel into dist, and try it out
	@$(PY) -m release

clean: ## Remove all that make creates, .venv included
	@rm -rf $(VENV) .peers build dist src/*.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp holds the path it was made at: an environment that was moved is set up again.
$(STAMP): requirements.txt pyproject.toml $(if $(filter-out $(CURDIR),$(shell cat $(STAMP) 2>/dev/null)),moved)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Penstock needs Python 3.11 or newer: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Setting up $(VENV) from requirements.txt (the first time takes a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@{ $(PIP) install `grep -E '^(setuptools|wheel)==' requirements.txt` && \
	   $(PIP) install --no-deps --no-build-isolation -r requirements.txt && \
	   $(PIP) install --no-deps --no-build-isolation -e . && \
	   $(PIP) check; } >$(LOG) 2>&1 || { cat $(LOG); exit 1; }
	@echo "$(CURDIR)" >$@

.peers/%/.ready: bench/nexmark/peers/%/requirements.txt
	@echo "Setting up $(@D) from $<"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check --no-input install --no-deps -r $< \
	  >$(@D)/setup.log 2>&1 || { cat $(@D)/setup.log; exit 1; }
	@touch $@
