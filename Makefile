# Every target does the set-up that it needs; tools/setup.sh is done in a moment when there is nothing to do.
.DEFAULT_GOAL := help
.PHONY: help setup demo demo-kafka test test-fast test-decoding conformance long bench check graph shell format clean
python := .venv/bin/python

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Virtual environment, pinned requirements, jars
	@tools/setup.sh

demo: setup ## Watch a shop's records become tables, in three updates
	@$(python) -m demo

demo-kafka: setup ## The same from an Apache Kafka broker, started here
	@$(python) -m demo --kafka

test: setup ## Format, lint, types, and all tests that take less than a minute each
	$(python) -m ruff format --check
	$(python) -m ruff check
	$(python) -m mypy
	$(python) -m pytest -m "not long" -n 2 --dist loadfile

test-fast: setup ## The tests that need no Spark
	$(python) -m pytest tests/unit tests/bundle -m "not long"

test-decoding: setup ## Every type in every converter mode, 100,000 mutated records, a wide table
	$(python) -m pytest tests/decoding

conformance: setup ## AUTO CDC beside the cases of Spark and of Databricks' documents
	$(python) -m pytest tests/conformance

long: setup ## The tests that `make test` leaves out
	$(python) -m pytest -m long

bench: setup ## Every measure beside its peer, in one run; writes docs/performance.md
	$(python) -m tests.benchmarks $(ARGS)

check: test ## What CI runs

graph: setup ## The datasets of the pipeline in order, and where each is declared
	@$(python) -m dlt_local graph --bundle .

shell: setup ## A Python prompt with spark, the pipeline and its tables at hand
	@$(python) -m dlt_local shell --bundle .

format: setup ## Format, and mend what can be mended
	$(python) -m ruff format
	$(python) -m ruff check --fix

clean: ## Remove what runs leave behind; .venv and the jars stay
	rm -rf .databricks .mypy_cache .ruff_cache .pytest_cache spark-warehouse
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
