# The developers' commands. `make` alone prints this help, from the comments behind the targets.
PYTHON ?= python3
TOOLS := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help build check test quick golden bench conformance demo clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

build:  ## write every generated file
	$(PYTHON) scripts/build.py

check:  ## generated files, ruff, mypy
	$(PYTHON) scripts/build.py --check
	$(TOOLS)/ruff check .
	$(TOOLS)/mypy

test:  ## the whole gate, as CI runs it: installs what it needs
	$(PYTHON) scripts/test.py

quick:  ## the tests that need Python alone
	$(PYTHON) scripts/test.py --quick

golden:  ## write the golden files anew; the diff is the review
	APPSECGATE_TEST_GOLDEN=write $(PYTHON) -W error scripts/run_tests.py

bench:  ## run the comparisons in benchmarks/
	for file in benchmarks/bench_*.py; do $(PYTHON) "$$file"; done

conformance:  ## the protocol, against the official conformance suite (installs it, and Node)
	$(PYTHON) -m tests.mcp.conformance

demo:  ## scan the vulnerable example
	$(PYTHON) scripts/demo.py

clean:  ## remove what the commands above leave behind
	rm -rf .venv .venv-clients .mypy_cache .ruff_cache .hypothesis htmlcov .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
