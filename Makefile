# Everything installs into .venv; each target installs what it needs first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
REPO ?= .
PART ?= credits

# Formats of real keys and tokens; guesses by name are ruff's. Tests and docs may hold what is plainly made up.
SCANNED_FOR_SECRETS := . ':!docs/rules' ':!tests/webhooks/payloads' ':!tests/analysis/ai/test_prompts.py'
SECRETS := --no-verify --exclude-secrets '^(password|secret|pw|tok123|hunter2)$$|^eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0eXBlIjo' \
	--disable-plugin KeywordDetector --disable-plugin HexHighEntropyString --disable-plugin Base64HighEntropyString

COVERED_BY := tests/accounts tests/billing tests/credits tests/git tests/organizations tests/webhooks \
	tests/operations/test_metrics.py tests/operations/test_retention.py tests/operations/test_staff_pages.py \
	tests/operations/test_timetable.py tests/analysis/test_backtest.py tests/analysis/test_policy.py \
	tests/analysis/test_results_api.py tests/analysis/test_violation_source.py tests/api/test_query_counts.py
COVERED_BY_SERVERS := tests/accounts/test_oauth_edge.py tests/accounts/test_refresh.py tests/api/test_rate_limits.py \
	tests/credits tests/organizations/test_races.py tests/webhooks/test_inbox.py tests/webhooks/test_concurrency.py
COVERAGE_DATABASE_URL ?= postgres://root@127.0.0.1:5432/debt_coverage
COVERAGE_REDIS_URL ?= redis://127.0.0.1:6379/11

.PHONY: install install-dev run serve test coverage mutation stress check bench format clean

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
	$(BIN)/pytest -n 3 $(ARGS)

# Everything that must hold, at the figures of a release: two hours on two quiet cores. Less with MINUTES, SHARE=0.1 or
# ROWS="A1 B1". The report goes to docs/stress-report.md.
stress: install-dev
	$(BIN)/python -m tests.stress --minutes $(or $(MINUTES),120) --share $(or $(SHARE),1) --rows "$(ROWS)" $(ARGS)

# Branch coverage of what decides about money, access and foreign git data (pyproject.toml), by the tests of those parts:
# on SQLite, and what only PostgreSQL and Redis reach on those. Both runs together must reach the figure, neither alone.
COVERING := $(BIN)/pytest -n 2 --cov --cov-report= --cov-fail-under=0
coverage: install-dev
	$(BIN)/coverage erase
	env -u DATABASE_URL -u REDIS_URL $(COVERING) $(COVERED_BY)
	DATABASE_URL=$(COVERAGE_DATABASE_URL) REDIS_URL=$(COVERAGE_REDIS_URL) $(COVERING) --cov-append $(COVERED_BY_SERVERS)
	$(BIN)/coverage report

# How many changed lines of one part (tests/mutation/*.toml) its tests notice, tried on a copy of what is committed.
# MUTANTS=100 draws a sample, SEED=8 another one: all of them take hours.
mutation: install-dev
	rm -rf var/mutation && git clone --quiet . var/mutation && ln -s $(CURDIR)/.venv var/mutation/.venv
	cd var/mutation && export VAR_DIR="$$PWD/var" && env -u DATABASE_URL -u REDIS_URL sh -ec ' \
		.venv/bin/cosmic-ray init tests/mutation/$(PART).toml session.sqlite; \
		.venv/bin/cr-filter-operators session.sqlite tests/mutation/$(PART).toml; \
		test -z "$(MUTANTS)" || .venv/bin/python -m tests.mutation.sample session.sqlite $(MUTANTS) $(if $(SEED),--seed $(SEED)); \
		.venv/bin/cosmic-ray baseline tests/mutation/$(PART).toml; \
		.venv/bin/cosmic-ray exec tests/mutation/$(PART).toml session.sqlite; \
		.venv/bin/cr-report session.sqlite --show-diff --surviving-only'

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
