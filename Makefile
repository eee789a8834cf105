# Everything installs into .venv; each target installs what it needs first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
REPO ?= .

# Formats of real keys and tokens; guesses by name are ruff's. Tests and docs may hold what is plainly made up.
SCANNED_FOR_SECRETS := . ':!docs/rules' ':!tests/webhooks/payloads' ':!tests/analysis/ai/test_prompts.py'
SECRETS := --no-verify --exclude-secrets '^(password|secret|pw|tok123|hunter2)$$|^eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0eXBlIjo' \
	--disable-plugin KeywordDetector --disable-plugin HexHighEntropyString --disable-plugin Base64HighEntropyString

.PHONY: install install-dev run serve test stress check bench format clean

install: .venv/installed
install-dev: .venv/installed-dev

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# From nothing to a served, scanned repository: REPO=<path or URL>, by default this checkout.
run: install
	@CLONE_ALLOWED_SCHEMES="$${CLONE_ALLOWED_SCHEMES:-https,file}" $(BIN)/python manage.py demo "$(REPO)"

# Web server and workers alone, configured by the environment.
serve: install
	@$(BIN)/python manage.py serve

test: install-dev
	$(BIN)/pytest -n 3 --dist loadgroup $(ARGS)

# Everything that must hold, at the figures of a release: two hours on two quiet cores. Less with MINUTES, SHARE=0.1 or
# ROWS="A1 B1". The report goes to docs/stress-report.md.
stress: install-dev
	$(BIN)/python -m tests.stress --minutes $(or $(MINUTES),120) --share $(or $(SHARE),1) --rows "$(ROWS)" $(ARGS)

check: install-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py rule_docs --check
	$(BIN)/pip check --disable-pip-version-check
	git ls-files -z -- $(SCANNED_FOR_SECRETS) | xargs -0 -P 2 -n 300 $(BIN)/detect-secrets-hook $(SECRETS)

# All benchmarks, written to bench/results.md. GIT_DIR_TO_MEASURE=<git directory>; by default this checkout's own.
bench: install-dev
	$(BIN)/python -m bench $(GIT_DIR_TO_MEASURE)

format: install-dev
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format .

clean:
	rm -rf .venv var
