# Every target does its own set-up in .venv; a second run reuses it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Scores that must not depend on the kernels that BLAS picks for a processor.
PROCESSOR_TESTS := tests/rankers tests/solvers/test_products.py
# PYTHONPATH of the caller must not leak other packages into the gate.
unexport PYTHONPATH

.PHONY: demo test fix bench pages docs clean

demo: $(STAMP)
	$(BIN)/python -m arcrank.cli.demo

test: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2
	set -e; for core in $$(.ci/processors); do \
	    echo "OPENBLAS_CORETYPE=$$core"; OPENBLAS_CORETYPE=$$core $(BIN)/pytest -n 2 -q -r fE -m processors $(PROCESSOR_TESTS); \
	done

fix: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

pages: $(STAMP)
	$(BIN)/python -m tools.site

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The site is in site/: run python3 -m http.server -d site (opened as a file it has no search)"

clean:
	rm -rf $(VENV)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(VENV)/.bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	touch $@
