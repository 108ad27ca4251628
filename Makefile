# Two commands for a newcomer: `make demo` and `make test`. Both need only python3 (3.11 or later); the rest is installed
# into .venv, in the versions of requirements.lock.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip reads PIP_CONSTRAINT for the build environment too, so that nothing is installed in another version than was tested.
PIP := PIP_CONSTRAINT=requirements.lock PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install --quiet
# Tests run in as many processes as there are processors, eight at most. What most of them need is compiled before, side by side:
# otherwise each process would compile it for itself.
WARMUP := $(BIN)/jostle warmup
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

.PHONY: help install demo pictures test lint types imports boundscheck plain wheel lock clean

help:
	@echo "make demo         install, then the tour: one scene through every method, a page with pictures, the viewer"
	@echo "make test         install, then run the whole test suite"
	@echo "make pictures     make the pictures of docs/gallery.md again"
	@echo "make install      set up .venv only"
	@echo "make lint types imports boundscheck plain wheel   the extra passes of continuous integration"
	@echo "make lock         renew requirements.lock from what is installed in .venv"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml requirements.lock
	$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) --editable '.[dev,gpu,viewer]'
	@touch $@

# The tour draws plots and opens the viewer.
$(VENV)/.installed-demo: $(VENV)/.installed
	$(PIP) --editable '.[lab,viewer]'
	@touch $@

install: $(VENV)/.installed

demo: $(VENV)/.installed-demo
	$(BIN)/jostle demo

# All pictures of docs/gallery.md, by the commands that stand there.
pictures: $(VENV)/.installed
	$(BIN)/python docs/make_pictures.py

test: $(VENV)/.installed-dev
	$(WARMUP)
	$(PYTEST)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples

types: $(VENV)/.installed-dev
	$(BIN)/mypy

imports: $(VENV)/.installed-dev
	$(BIN)/lint-imports

# Every kernel with its indices checked: an out-of-bounds write would corrupt memory silently otherwise.
# Less optimised code has the same checks and compiles in two thirds of the time. What only drives the kernels that all other
# tests drive too (command line, laboratory, examples) need not run twice, and of each test a fifth of its cases will do.
boundscheck: export NUMBA_BOUNDSCHECK = 1
boundscheck: export NUMBA_OPT = 1
boundscheck: $(VENV)/.installed-dev
	$(WARMUP)
	$(PYTEST) --one-in 5 -m "not long" --ignore=tests/cli --ignore=tests/lab --ignore=tests/bench --ignore=tests/viewer --ignore=tests/browser --ignore=tests/architecture \
	    --ignore=tests/test_examples.py

# The small tests with every kernel as plain Python.
plain: $(VENV)/.installed-dev
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m small

wheel: $(VENV)/.installed-dev
	$(BIN)/python -m hatchling build -t wheel
	@ls dist/jostle-*-py3-none-any.whl

lock: $(VENV)/.installed-dev
	$(BIN)/pip freeze --exclude-editable --exclude jostle > requirements.lock

clean:
	rm -rf $(VENV) dist build out .pytest_cache .mypy_cache .ruff_cache .hypothesis
