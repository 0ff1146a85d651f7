# Every target runs the setup that it needs; tools/setup.sh returns at once if there is nothing to do.
.DEFAULT_GOAL := help
.PHONY: help setup demo demo-kafka test test-fast test-decoding conformance long bench check bundle test-bundle test-runtimes projects graph shell format clean
python := .venv/bin/python
TARGET ?= dev
CONNECTOR ?= sqlserver

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Virtual environment, pinned requirements, jars
	@tools/setup.sh

demo: setup ## Watch a shop's records become tables, in three updates; CONNECTOR=postgresql|mariadb|mysql|mongodb|db2
	@$(python) -m demo --connector $(CONNECTOR)

demo-kafka: setup ## The same through a local Apache Kafka broker, started for the demo
	@$(python) -m demo --connector $(CONNECTOR) --kafka

test: setup ## Format, lint, types, and all tests that take less than a minute each
	$(python) -m ruff format --check
	$(python) -m ruff check
	$(python) -m mypy
	$(python) -m pytest -m "not long and not cli and not runtimes" -n 2 --dist loadfile --no-loadscope-reorder

test-fast: setup ## Tests without Spark
	$(python) -m pytest tests/unit tests/bundle -m "not long and not cli"

test-decoding: setup ## Every type in every converter mode, 100,000 mutated records, a wide table
	$(python) -m pytest tests/decoding

conformance: setup ## AUTO CDC against test cases from Spark and from Databricks' documentation
	$(python) -m pytest tests/conformance

long: setup ## Long-running tests, which `make test` skips
	$(python) -m pytest -m long

bundle: setup ## What a deployment would create and upload, TARGET=prod VARS="--var catalog=main ..."
	@$(python) -m tools.render_bundle --target $(TARGET) $(VARS)

test-bundle: setup ## Real `databricks bundle validate` and `deploy` of each target, to a workspace that is only a test's
	$(python) -m pytest -m cli tests/bundle

test-runtimes: setup ## Shipped code on Spark 4.0 and 4.1, classic and Connect; the graph by open-source spark-pipelines
	$(python) -m tools.runtimes
	$(python) -m pytest -m runtimes tests/runtimes

projects: setup ## Run the projects of tests/projects, written as others write them, and print a table
	@$(python) -m tests.projects

bench: setup ## Run all benchmarks and write docs/performance.md
	$(python) -m tests.benchmarks $(ARGS)

check: test ## What CI runs

graph: setup ## The pipeline's datasets in order, and where each is declared
	@$(python) -m dlt_local graph --bundle .

shell: setup ## A Python prompt with spark, the pipeline and its tables
	@$(python) -m dlt_local shell --bundle .

format: setup ## Format, and fix lint findings that can be fixed
	$(python) -m ruff format
	$(python) -m ruff check --fix

clean: ## Remove what runs leave behind, except .venv and the jars
	rm -rf .databricks .mypy_cache .ruff_cache .pytest_cache spark-warehouse
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
