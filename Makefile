# Two commands for a newcomer: `make demo` and `make test`. Both need only python3 (3.11 or later); the rest is installed
# into .venv, in the versions and with the hashes of requirements-demo.lock (what commands need) or requirements.lock (what tests need too).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A run with other versions names lock files of its own: make test LOCK=oldest.lock
LOCK ?= requirements.lock
DEMO_LOCK ?= requirements-demo.lock
DOCS_LOCK := requirements-docs.lock
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install --quiet
# Dependencies first, each file compared with its hash; then jostle itself, built by the locked hatchling and without asking for more.
FROM_LOCK := $(PIP) --require-hashes --requirement
OURSELVES := $(PIP) --no-deps --no-build-isolation --editable .
# Tests run in as many processes as there are processors, eight at most. What most of them need is compiled before, side by side:
# otherwise each process would compile it for itself.
WARMUP := $(BIN)/jostle warmup
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal $(MEASURED)

.PHONY: help install demo pictures test quick durations coverage lint types imports boundscheck plain without-numba wheel kernels kernels-installed compiled-wheel versions docs reference lock dependencies architecture fuzz clean

help:
	@echo "make demo         install, then the tour: one scene through every method, a page with pictures, the viewer"
	@echo "make test         install, then run the whole test suite"
	@echo "make quick        under a minute, for the edit loop: one case of every quick test"
	@echo "make durations    run it and record the slow tests, which make quick leaves out"
	@echo "make docs         build the documentation site into out/site, with warnings as errors"
	@echo "make pictures     make the pictures of docs/gallery.md again"
	@echo "make install      set up .venv only"
	@echo "make lint types imports boundscheck plain without-numba compiled-wheel wheel   the extra passes of continuous integration"
	@echo "make kernels      compile everything into a wheel for this platform, dist/jostle_kernels-*.whl"
	@echo "make fuzz         mutated files, edited worlds, hostile messages; SECONDS=600 for ten minutes of each format"
	@echo "make lock         resolve the lock files again, with hashes; then make dependencies for the table of licences"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml $(DEMO_LOCK)
	$(FROM_LOCK) $(DEMO_LOCK)
	$(OURSELVES)
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml $(LOCK)
	$(FROM_LOCK) $(LOCK)
	$(OURSELVES)
	@touch $@

# What the site needs is in a lock file of its own, in the versions of requirements.lock where both have a package.
$(VENV)/.installed-docs: $(VENV)/.installed-dev $(DOCS_LOCK)
	$(FROM_LOCK) $(DOCS_LOCK)
	@touch $@

install: $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/jostle demo

# The site, in out/site; open out/site/index.html, or serve it: python -m http.server --directory out/site --bind 127.0.0.1
# It needs no network once it is built. A warning ends the build (without --quiet, which hides them from --strict, too).
docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# All pictures of docs/gallery.md, by the commands that stand there.
pictures: $(VENV)/.installed
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/tasks/make_pictures.py

test: $(VENV)/.installed-dev
	$(WARMUP)
	$(PYTEST)

# For the edit loop: the first case of every test that tests/durations.txt does not list as slow.
quick: $(VENV)/.installed-dev
	$(PYTEST) --quick --quiet

# Writes tests/durations.txt; on a machine with nothing else to do.
durations: $(VENV)/.installed-dev
	$(PYTEST) --record-durations

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests examples release
	$(BIN)/ruff format --check src tests examples release

types: $(VENV)/.installed-dev
	$(BIN)/mypy

imports: $(VENV)/.installed-dev
	$(BIN)/lint-imports

# Every kernel with its indices checked: an out-of-bounds write would corrupt memory silently otherwise.
# Less optimised code has the same checks and compiles in two thirds of the time. What only drives the kernels that all other
# tests drive too (command line, laboratory, examples) or compiles in processes of its own need not run twice, and of each test a
# fifth of its cases will do.
boundscheck: export NUMBA_BOUNDSCHECK = 1
boundscheck: export NUMBA_OPT = 1
boundscheck: $(VENV)/.installed-dev
	$(WARMUP)
	$(PYTEST) --one-in 5 -m "not long" --ignore=tests/cli --ignore=tests/lab --ignore=tests/bench --ignore=tests/viewer --ignore=tests/browser --ignore=tests/architecture --ignore=tests/docs --ignore=tests/fuzz \
	    --ignore=tests/test_examples.py --ignore=tests/test_interrupt.py --ignore=tests/test_adding_a_method.py \
	    --ignore=tests/kernels/test_cache.py --ignore=tests/kernels/test_deferral.py --ignore=tests/kernels/test_progress.py

# The small tests with every kernel as plain Python.
plain: $(VENV)/.installed-dev
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m small

# The wheel where Numba is not installed: what starts, what refuses with a cure, and the core's small tests as plain Python.
WITHOUT := build/tried/without-numba/venv/bin/python -m
without-numba: wheel
	$(BIN)/python release/try_installed.py without-numba
	$(WITHOUT) pip install --quiet pytest hypothesis
	$(WITHOUT) pytest -q tests/kernels/test_without_numba.py tests/architecture/test_start.py tests/cli/test_cache.py
	$(WITHOUT) pytest -q tests/contract/test_methods.py tests/contract/test_solid_methods.py -k "plain and rational"
	NUMBA_DISABLE_JIT=1 $(WITHOUT) pytest -q -m small tests/interface tests/report tests/world tests/contract

# The core tests with the oldest and newest NumPy and Numba, and without Numba, on every Python that is found: docs/versions.md.
versions: wheel
	$(BIN)/python release/versions.py $(VERSIONS)

# Both wheels in a fresh environment that may not compile: examples, commands, the demo and the README's Python.
compiled-wheel: wheel
	@ls dist/jostle_kernels-*.whl > /dev/null || { echo "first make kernels"; exit 1; }
	$(BIN)/python release/try_installed.py compiled

# Which lines of jostle no test reaches, after passes that were measured: make test plain MEASURED="--cov --cov-append --cov-report="
# The pass without a compiler counts the lines of kernels.
coverage: $(VENV)/.installed-dev
	$(BIN)/coverage report --skip-covered --sort=miss | tail -n 40

# Mutated mesh files, edited worlds and motions, and hostile messages to a viewer. make fuzz SECONDS=600 COVERAGE=--coverage guides the
# first by coverage (pip install 'jostle[fuzz]').
SECONDS ?= 60
fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(COVERAGE)
	$(BIN)/python -m tests.fuzz_stored --count $$((20 * $(SECONDS)))
	$(BIN)/python -m tests.viewer.fuzz_messages --count $$((100 * $(SECONDS)))

wheel: $(VENV)/.installed-dev
	$(BIN)/python -m hatchling build -t wheel
	@ls dist/jostle-*-py3-none-any.whl

# Every kernel compiled for any processor like this one's, in a wheel beside jostle's: docs/compiled_kernels.md.
kernels: $(VENV)/.installed-dev
	$(BIN)/python release/kernels_wheel.py

# Into .venv, instead of the warm-up: make kernels-installed, then make test WARMUP=true. For unchanged sources: an edit makes the wheel
# stale, and it is ignored from then on (pip uninstall jostle-kernels removes it).
kernels-installed: kernels
	$(PIP) --no-deps --no-index --find-links dist --force-reinstall jostle-kernels

# Pins hold for every Python that jostle supports: markers of the requirements, which are for one of them, are left out.
# Pins stay where they are unless UPGRADE=--upgrade; hashes of all files that the registry has for a version, for every platform.
LOCKED := $(VENV)/lock/bin/pip-compile --quiet $(UPGRADE) --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options
lock: $(BIN)/python
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/pip install --quiet pip-tools
	$(LOCKED) --extra lab --extra viewer --build-deps-for editable --output-file requirements-demo.lock pyproject.toml
	$(LOCKED) --extra lab --extra viewer --extra gpu --extra dev --build-deps-for editable --output-file requirements.lock pyproject.toml
	$(LOCKED) --extra docs --constraint requirements.lock --output-file $(DOCS_LOCK) pyproject.toml
	sed -i.bak -E 's/^([^ ]+==[^ ]+) ; python_version[^\\]*/\1 /' requirements-demo.lock requirements.lock $(DOCS_LOCK)
	rm -f requirements-demo.lock.bak requirements.lock.bak $(DOCS_LOCK).bak

# docs/architecture.md and its figure, from the layers and the docstrings.
architecture: $(BIN)/python
	$(BIN)/python docs/make_architecture.py

# The table of docs/reference/index.md, from the public names.
reference: $(VENV)/.installed-dev
	$(BIN)/python docs/make_reference.py

# docs/dependencies.md: what is installed, for what, under which licence.
dependencies: $(VENV)/.installed-docs
	$(BIN)/python docs/make_dependencies.py

clean:
	rm -rf $(VENV) dist build out .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
