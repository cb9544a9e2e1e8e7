# Every target does its own set-up in .venv; a second run reuses it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Scores that must not depend on the kernels that BLAS picks for a processor.
PROCESSOR_TESTS = $(shell grep -rl "mark\.processors" tests --include="test_*.py")
# The oldest supported versions have wheels for the oldest supported Python only.
OLDEST := .venv-oldest
OLDEST_PYTHON ?= $(or $(shell python3.11 -c "import sys; print(sys.executable)" 2>/dev/null),$(PYTHON))
OLDEST_PROCESSES ?= 2
OLDEST_TESTS := tests/graphs tests/metrics tests/test_package.py tests/test_bounds.py \
	tests/test_estimator_checks.py $(addprefix tests/rankers/,test_base.py test_rocchio.py online) \
	$(addprefix tests/modelfile/test_,round_trip.py stored.py) tests/datasets/formats/test_parquet.py \
	$(addprefix tests/server/test_,routes.py journal.py learning.py) \
	tests/experiments/test_crammer2002.py \
	$(addprefix tests/cli/commands/test_,train.py rank.py evaluate.py) src/arcrank
# PYTHONPATH of the caller must not leak other packages into the gate. Container images often forbid bytecode, and then
# each process of the tests translates the whole package again.
unexport PYTHONPATH PYTHONDONTWRITEBYTECODE

.PHONY: demo test types kernels test-slow test-processors test-oldest install-oldest fix bench pages docs clean

demo: $(STAMP)
	$(BIN)/python -m arcrank demo

# What to run before each commit. Kernels are compiled before the tests, since both processes would compile the same
# ones; types are checked meanwhile. COVERAGE="--cov --cov-report=term" measures coverage too, as CI does: it takes 40 %
# more time.
test: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --no-print-directory --output-sync --jobs=2 types kernels
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --durations=40 --durations-min=3 $(COVERAGE)

types: $(STAMP)
	$(BIN)/mypy
	$(BIN)/lint-imports

kernels: $(STAMP)
	$(BIN)/arcrank warmup

# Proofs that take long: all examples, killed workers and servers, hundreds of damaged files, the whole site.
test-slow: kernels
	$(BIN)/pytest -n 2 --dist worksteal -m slow --durations=10 tests

test-processors: $(STAMP)
	processors="$$($(BIN)/python .ci/processors)" && echo "$$processors" | \
	    xargs -P 2 -I{} env OPENBLAS_CORETYPE={} OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -r fE -m "processors and not slow" $(PROCESSOR_TESTS)

# Kernels have a folder of their own, since those of two versions of numba would overwrite each other; a file's tests
# stay in one process, since two would compile the same kernels.
test-oldest: $(OLDEST)/.installed
	NUMBA_CACHE_DIR=$(abspath $(OLDEST))/kernels \
	    $(OLDEST)/bin/pytest -m "not slow" -n $(OLDEST_PROCESSES) --dist loadfile $(OLDEST_TESTS)

install-oldest: $(OLDEST)/.installed

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
	rm -rf $(VENV) $(OLDEST)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(OLDEST)/.installed: pyproject.toml .ci/oldest.txt
	test -x $(OLDEST)/bin/python || $(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --no-compile --only-binary :all: --requirement .ci/oldest.txt --editable .
	touch $@

$(VENV)/.bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	touch $@
