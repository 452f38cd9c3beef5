# Every target makes its own .venv and installs what it needs; a second run installs nothing.
# Each Python has an environment of its own: `make test PYTHON=python3.13` uses .venv-python3.13.
PYTHON ?= python3
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
# A file of versions to install, such as .ci/lock-3.11.txt; the newest ones by default.
CONSTRAINT ?=
BIN := $(VENV)/bin
OLDEST := .venv-oldest
LOCK := .venv-lock
RIVALS := .venv-rivals
# Quiet twice: pip prints its errors, and no warnings about the machine.
PIP := -m pip --disable-pip-version-check -qq install
INSTALL := $(BIN)/python $(PIP) $(if $(CONSTRAINT),--constraint $(CONSTRAINT))
export PIP_ROOT_USER_ACTION = ignore
# A process a core, and one thread in each.
PARALLEL := --numprocesses auto --dist loadgroup
test verify mutants: export OMP_NUM_THREADS = 1
# `make test COVERAGE=1` measures the lines that the tests run, and fails below the floor in pyproject.toml.
COVERAGE ?=

.DEFAULT_GOAL := help
.PHONY: help demo test coverage browser lint docs verify mutants bench rivals lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

demo: $(VENV)/demo.stamp  ## the paper's example, end to end
	$(BIN)/python examples/paper/paper.py

test: $(VENV)/test.stamp  ## the tests (a few minutes)
	@$(MAKE) --no-print-directory browser || echo "The browser tests will be skipped."
	$(BIN)/python -m pytest $(PARALLEL) $(if $(COVERAGE),--cov)

coverage:  ## the tests, and the lines of src/pacband that they run
	@$(MAKE) --no-print-directory test COVERAGE=1

browser: $(VENV)/browser.stamp  ## Chromium and axe-core for the browser tests

lint: $(VENV)/lint.stamp  ## ruff, mypy --strict, spelling, and the checks of the packaging and the workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/sp-repo-review --show err .
	$(BIN)/zizmor --offline --quiet .

docs: $(VENV)/docs.stamp  ## the documentation, in docs/_build/html
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --jobs auto docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

verify: $(VENV)/test.stamp $(OLDEST)/test.stamp  ## the long studies, the tests on the oldest supported libraries, and mutants
	$(BIN)/python -m pytest tests -m verify $(PARALLEL)
	$(OLDEST)/bin/python -m pytest tests $(PARALLEL)
	@$(MAKE) --no-print-directory mutants

mutants: $(VENV)/test.stamp  ## small changes of the rooms that decide the promise: a test must fail for each
	$(BIN)/python tests/mutants

bench: $(VENV)/bench.stamp  ## the benchmarks, side by side with peers; the documentation shows their files
	$(BIN)/python -m benchmarks --save docs/benchmarks

rivals: $(RIVALS)/rivals.stamp  ## the environment of the rivals in `python -m benchmarks sharpness` (2 GB)

lock:  ## the newest libraries of today, for .ci/run
	rm -rf $(LOCK)
	@$(MAKE) --no-print-directory $(LOCK)/pip.stamp
	$(LOCK)/bin/python $(PIP) --editable ".[all]" --group dev --group docs
	version=$$($(LOCK)/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	{ echo "# The libraries that .ci/run takes with Python $$version: \`make lock\` writes this file anew, with the newest of today."; \
	$(LOCK)/bin/python -m pip --disable-pip-version-check freeze --exclude-editable; } > .ci/lock-$$version.txt
	rm -rf $(LOCK)

clean:  ## remove the environments, the built documentation and the caches
	rm -rf .venv .venv-* docs/_build docs/gallery docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*

ENVIRONMENTS := $(sort $(VENV) $(OLDEST) $(LOCK) $(RIVALS))

$(ENVIRONMENTS:=/bin/python): %/bin/python:
	@$$(.ci/find-python $(PYTHON)) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pacband needs Python 3.11 or newer")'
	$$(.ci/find-python $(PYTHON)) -m venv $*

# Dependency groups need pip 25.1; a new environment has the pip of its Python, which may be older.
$(ENVIRONMENTS:=/pip.stamp): %/pip.stamp: | %/bin/python
	$*/bin/python $(PIP) 'pip>=25.1'
	@touch $@

$(VENV)/demo.stamp: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable ".[cli]"
	@touch $@

$(VENV)/test.stamp: pyproject.toml | $(VENV)/pip.stamp
	$(INSTALL) --editable ".[all]" --group test
	@touch $@

$(VENV)/browser.stamp: | $(VENV)/bin/python
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || (apt-get update -qq && apt-get install -qq --yes chromium)
	@npm install --silent --no-audit --no-fund --prefix $(VENV)/browser axe-core
	@touch $@

$(VENV)/lint.stamp: pyproject.toml | $(VENV)/pip.stamp
	$(INSTALL) --editable ".[all]" --group dev
	@touch $@

$(VENV)/docs.stamp: pyproject.toml | $(VENV)/pip.stamp
	$(INSTALL) --editable ".[all]" --group docs
	@touch $@

$(RIVALS)/rivals.stamp: pyproject.toml | $(RIVALS)/pip.stamp
	$(RIVALS)/bin/python $(PIP) --group rivals
	@touch $@

$(VENV)/bench.stamp: pyproject.toml | $(VENV)/pip.stamp
	$(INSTALL) --editable ".[all]" --group test --group bench
	@touch $@

$(OLDEST)/test.stamp: pyproject.toml tests/oldest.txt | $(OLDEST)/pip.stamp
	$(OLDEST)/bin/python $(PIP) --editable ".[all]" --group test --constraint tests/oldest.txt
	@touch $@
