# Two commands for a fresh machine with Python 3.11 and make: `make demo` and `make test`.
# Each makes the virtual environment it needs.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -q --numprocesses auto
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Tests of the rules, small enough without the compiler.
NOJIT := $(addprefix tests/test_, bolola_rules.py differential_bolola.py leaks_bolola.py \
	bolola_properties.py custom_rows.py tarot_rules.py)

.PHONY: demo test test-long test-nojit test-versions test-libraries bench lint clean

$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[train]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[train,dev]'
	touch $@

# Measure throughput, train an agent, evaluate it, leave a report in runs/demo.
demo: $(VENV)/.demo
	$(BIN)/trick-envs demo

# What has to pass before anything lands: lint, types, import contracts, tests. A file's tests share kernels, so one process compiles them.
test: $(VENV)/.dev lint
	$(PYTEST) --dist loadfile

# The long fuzz and the end-to-end runs.
test-long: $(VENV)/.dev
	$(PYTEST) -m long

# The same rules with the compiler off.
test-nojit: $(VENV)/.dev
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(NOJIT)

# Oldest and middle supported versions of what the library plugs into.
test-versions: $(VENV)/.dev
	$(BIN)/nox --sessions versions

# The RL libraries in environments of their own, since they pin their neighbours apart.
test-libraries: $(VENV)/.dev
	$(BIN)/nox --sessions libraries

bench: $(VENV)/.demo
	$(BIN)/python -m benchmarks.throughput

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .nox .peers runs build dist
