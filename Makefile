# Everything one does with this repository; `make` alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
CHART_CRDS := charts/slackwater/files/crds
TARGET := operator

# Where it is set, every process compiles all of its Python again, and pytest rewrites every test in each of its workers:
# half of what the fast tests compute, and a second of processor for each operator and each command that a test starts.
unexport PYTHONDONTWRITEBYTECODE

# The modules of a run against the sandbox are shared out to so many: their tests wait more than they compute. A machine
# that has done this sum in half a second has turns for six; one that takes longer is busy with four already.
E2E_WORKERS ?= $(shell $(PYTHON) -c 'from time import process_time as t; s = t(); sum(i * i for i in range(3_000_000)); print(6 if t() - s < 0.5 else 4)')
WORKERS := --numprocesses=$(E2E_WORKERS) --dist=loadfile --no-loadscope-reorder --max-worker-restart=0

# Tests have deadlines of their own, which Python has to act upon. A C library that never comes back holds that up, too:
# then the process ends, and tells where each of its threads was.
HANGS := -o faulthandler_timeout=3000 -o faulthandler_exit_on_timeout=true
LONG_HANGS := $(subst 3000,9000,$(HANGS))

# Call a check and say how long it took: $(call timed,NAME,COMMAND)
timed = @$(2) && echo "$(1): $${SECONDS} s"

##@ To begin with
.PHONY: help setup demo demo-fleet test check long exhaustive
help: ## List these targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

setup: $(INSTALLED) ## Make .venv with exactly the packages of requirements/dev.txt

demo: setup ## Rollouts, upgrades and what is learned from them, on a real Kafka and Kubernetes; as root (KEEP=1: they stay)
	$(BIN)/python -m demo $(if $(KEEP),--keep)

demo-fleet: setup ## Twelve applications deployed at once, in seven ways, each five times (RUNS=5); hours, as root, on an idle machine
	RUNS=$(or $(RUNS),5) $(BIN)/python -m demo.cascade

# The tests against the sandbox wait more than they compute, so explorations and Spark go on beside them, in the
# processors' idle class: they take what nobody else wants at that moment, and nothing that is measured waits for them.
test: setup ## Everything but what is long: check, docs, the sandbox, which stays up, explorations, Spark; as root
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory docs
	@$(MAKE) --no-print-directory --jobs=2 in-the-sandbox beside-it

check: setup ## What needs no sandbox, in a minute: lint, types, layers, fast tests
	@$(MAKE) --no-print-directory --keep-going --jobs=3 --output-sync=target $(PARTS)

long: setup ## What takes minutes and finds little: before an issue that touches its subject is resolved; the sandbox must be up
	@status=0; \
	$(MAKE) --no-print-directory --keep-going --jobs=2 long-in-the-sandbox long-beside-it || status=$$?; \
	$(MAKE) --no-print-directory long-with-spark || status=$$?; \
	exit $$status

exhaustive: setup ## What takes hours: every case of the sieve, every random history, versions that join wrongly; the sandbox must be up
	@status=0; \
	$(BIN)/pytest -v $(WORKERS) $(LONG_HANGS) -m "e2e and exhaustive" || status=$$?; \
	$(BIN)/pytest -q --numprocesses=2 -m "exhaustive and not e2e" || status=$$?; \
	exit $$status

##@ Parts of the above
.PHONY: lint types layers unit unit-core unit-simulation unit-waiting unit-commands unit-rest explore explore-some pipeline in-the-sandbox beside-it long-in-the-sandbox long-beside-it long-with-spark e2e faults pipeline-pod crashes sieve failover workflows-check chart-check bench fuzz audit
lint: setup ## ruff
	$(call timed,lint,$(BIN)/ruff check .)

types: setup ## mypy --strict, the sandbox and the tests too
	$(call timed,types,$(BIN)/mypy -p slackwater -p sandbox -p demo -p dashboard -p benchmarks -p release -p tests)

layers: setup ## import-linter: core decides, shell acts
	$(call timed,layers,$(BIN)/lint-imports --no-cache)

# In parts, so that each process collects only what it plays, and those that wait for processes of their own wait together.
# Three at a time, the longest first: one that waits beside two that compute keeps two processors busy without a crowd.
UNIT := unit-waiting unit-core unit-rest unit-commands unit-simulation
PARTS := unit-waiting unit-core unit-rest types unit-commands unit-simulation lint layers
unit: $(UNIT) ## The tests that need nothing but Python

FAST := -q -m "not e2e and not slow and not spark and not browser and not long"
WAITING := tests/adapters tests/sandbox tests/sandbox_kafka
COMMANDS := tests/cli
SIMULATION := tests/core/simulation
# Of tests/e2e only what tests its tools: a thousand others would be collected and not played.
TOOLS = $(shell grep --recursive --files-without-match --include='test_*.py' 'mark\.e2e' tests/e2e)
REST = $(filter-out tests/core tests/e2e tests/__% $(WAITING) $(COMMANDS),$(patsubst %/,%,$(wildcard tests/*/ tests/test_*.py))) $(TOOLS)
unit-core: setup
	$(call timed,unit-core,$(BIN)/pytest $(FAST) tests/core --ignore=$(SIMULATION))

unit-simulation: setup
	$(call timed,unit-simulation,$(BIN)/pytest $(FAST) $(SIMULATION))

unit-waiting: setup
	$(call timed,unit-waiting,$(BIN)/pytest $(FAST) $(WAITING))

unit-commands: setup
	$(call timed,unit-commands,$(BIN)/pytest $(FAST) $(COMMANDS))

unit-rest: setup
	$(call timed,unit-rest,$(BIN)/pytest $(FAST) $(REST))

explore: setup ## Every protocol strategy with faults at every moment, against a model of the coordinator (10 minutes)
	$(call timed,explore,$(BIN)/pytest -q --numprocesses=2 -m slow)

explore-some: setup # What of it `make test` has time for.
	$(call timed,explore-some,$(BIN)/pytest -q --numprocesses=2 -m "slow and not long")

pipeline: setup ## The tests that start a Spark, or look at the report in Chromium (installed where it is missing; as root)
	$(call timed,pipeline,$(BIN)/pytest -q --numprocesses=2 --dist=loadfile -m "(spark or browser) and not e2e and not slow and not long")

in-the-sandbox: setup
	@$(MAKE) --no-print-directory sandbox-up
	@$(MAKE) --no-print-directory e2e

beside-it: setup # One after the other: each takes all that it gets. What they say comes whole, at their end.
	@mkdir -p build; status=0; \
	chrt --idle 0 $(MAKE) --no-print-directory --keep-going --jobs=1 explore-some pipeline >build/beside-it.log 2>&1 || status=$$?; \
	cat build/beside-it.log; exit $$status

LONG := e2e and long and not exhaustive
long-in-the-sandbox: setup # All of it is played, whatever fails, since it is seldom played. Operators that die start again: three at a time.
	@status=0; \
	$(BIN)/pytest -v $(WORKERS) --numprocesses=3 $(LONG_HANGS) --durations=30 -m "$(LONG) and not alone and not quiet" || status=$$?; \
	$(BIN)/pytest -v --numprocesses=2 --dist=loadfile $(LONG_HANGS) --durations=10 -m "$(LONG) and quiet" || status=$$?; \
	$(BIN)/pytest -v $(LONG_HANGS) -m "$(LONG) and alone" || status=$$?; \
	exit $$status

LONG_ALONE := long and not exhaustive and not e2e
long-beside-it: setup
	@mkdir -p build; status=0; $(MAKE) --no-print-directory fuzz || status=$$?; \
	chrt --idle 0 $(BIN)/pytest -q --numprocesses=2 --durations=10 -m "$(LONG_ALONE) and not spark" >build/long-beside-it.log 2>&1 || status=$$?; \
	cat build/long-beside-it.log; exit $$status

long-with-spark: setup # A broker and a Spark that get no turn for minutes are given up: so these come when the sandbox is done.
	$(BIN)/pytest -q --durations=10 -m "$(LONG_ALONE) and spark"

e2e: setup ## The tests against the sandbox, which must be up: modules side by side, then those that disturb the others
	$(call timed,side by side,$(BIN)/pytest -q $(WORKERS) $(HANGS) --durations=30 -m "e2e and not long and not alone and not quiet")
	$(call timed,quiet,$(BIN)/pytest -q --numprocesses=2 --dist=loadfile $(HANGS) -m "e2e and quiet and not long")
	$(call timed,alone,$(BIN)/pytest $(HANGS) --durations=10 -m "e2e and alone and not long")

# In environments of their own: Atheris has 130 MB, and what looks for vulnerable packages brings forty.
FUZZ_S := 60
FUZZ := build/fuzz-env/bin/python
build/fuzz-env/complete: requirements/fuzz.txt | setup
	rm -rf build/fuzz-env; $(PYTHON) -m venv build/fuzz-env
	$(UV) pip install --quiet --system-certs --python $(FUZZ) --require-hashes -r $<
	@touch $@

fuzz: build/fuzz-env/complete ## What strangers' bytes do to decoders, schemas and sentences: each target for FUZZ_S seconds; finds go to build/fuzz
	@for target in offsets described objects; do \
	  PYTHONPATH=operator:.:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
	  chrt --idle 0 $(FUZZ) -m tests.fuzz.$$target -max_total_time=$(FUZZ_S) >build/fuzz-$$target.log 2>&1 \
	  || { cat build/fuzz-$$target.log; exit 1; }; \
	  echo "fuzz $$target: $$(grep --only-matching 'Done .* second' build/fuzz-$$target.log)s, nothing found"; \
	done

AUDIT := build/audit-env/bin
build/audit-env/complete: requirements/audit.txt | setup
	rm -rf build/audit-env; $(PYTHON) -m venv build/audit-env
	$(UV) pip install --quiet --system-certs --python $(AUDIT)/python --require-hashes -r $<
	@touch $@

audit: build/audit-env/complete ## Which of the locked packages have known vulnerabilities, by the database of the package index
	@for lock in operator pipeline dev; do \
	  echo "requirements/$$lock.txt"; $(AUDIT)/pip-audit --strict --require-hashes --disable-pip --requirement requirements/$$lock.txt || exit 1; \
	done

faults: setup ## Every fault in the middle of every step of every protocol upgrade; the sandbox must be up
	@$(BIN)/pytest -m e2e tests/e2e/upgrades/test_upgrade_faults.py

pipeline-pod: setup ## The pipeline's image: built, looked into, and run by the chart's CronJob; the sandbox must be up
	@$(BIN)/pytest -m "e2e and long" tests/sandbox/test_pipeline_image_content.py tests/e2e/install/test_pipeline_in_cluster.py

crashes: setup ## The operator killed after every single write, of rollouts, upgrades and handovers; the sandbox must be up
	@$(BIN)/pytest -m "e2e and long" $(WORKERS) $(LONG_HANGS) tests/e2e/faults/test_faults_crashes.py \
	  tests/e2e/upgrades/test_upgrade_faults_crashes.py tests/e2e/handover/test_handover_crashes.py

sieve: setup ## Each write meets each of six faults, and watches bring what they should not; writes build/sieve/table.md
	@$(BIN)/pytest -m e2e $(WORKERS) $(LONG_HANGS) tests/e2e/sieve

failover: setup ## Two operators, of which the leader is killed twenty times in a rollout; the sandbox must be up
	@$(BIN)/pytest -m e2e tests/e2e/faults/test_leadership.py

WORKFLOWS := build/workflows-env/bin
build/workflows-env/complete: requirements/workflows.txt
	rm -rf build/workflows-env; $(PYTHON) -m venv build/workflows-env
	$(WORKFLOWS)/pip install --quiet --require-hashes -r $<
	GOBIN=$(abspath $(WORKFLOWS)) go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	@touch $@

workflows-check: build/workflows-env/complete ## What actionlint and zizmor say of the workflows of .github; needs Go
	$(WORKFLOWS)/actionlint -shellcheck= -pyflakes=
	$(WORKFLOWS)/zizmor --offline --no-progress --quiet .github

chart-check: setup ## What kubeconform, kube-score, checkov and helm-docs say of the chart (the first time: minutes)
	@$(BIN)/pytest -m e2e tests/chart/test_checkers.py

bench: setup ## The benchmarks, figures in build/bench; the sandbox must be up
	$(BIN)/python -m benchmarks

##@ The sandbox (as root)
.PHONY: sandbox-up sandbox-down image
sandbox-up: setup ## Start a real Kafka and a real Kubernetes on this machine (the first time: about 10 minutes)
	@$(BIN)/python -m sandbox up

sandbox-down: setup ## Stop them, and leave nothing behind
	@$(BIN)/python -m sandbox down

image: ## Build the operator's image (TARGET=pipeline: the other) with docker or podman; else, as root, into build/
	@for engine in docker podman; do \
	  if $$engine info >/dev/null 2>&1; then exec $$engine build --target $(TARGET) --tag slackwater/$(TARGET):dev .; fi; \
	done; \
	$(MAKE) --no-print-directory setup && $(BIN)/python -m sandbox image $(TARGET)

##@ What is generated
.PHONY: crds chart-docs dashboard schemas docs docs-pages sbom lock clean
crds: setup ## Write the CRDs from the models, for kubectl and for the chart
	$(BIN)/python -m slackwater.api.crd crds
	cp crds/*.yaml $(CHART_CRDS)/

chart-docs: setup ## Write the chart's README from its values
	$(BIN)/python -m tests.chart.readme

dashboard: setup ## Write the chart's Grafana dashboard from its source
	$(BIN)/python -m dashboard

schemas: setup ## Write the JSON schema of the telemetry's events from the models
	$(BIN)/python -m slackwater.api.telemetry.schema schemas

docs: setup ## Build the documentation's site in build/site; an error is a link that leads nowhere, and a sentence of over 35 words
	@$(BIN)/python -m tests.docs.sentences
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "docs: build/site/index.html; its search needs a server, such as python3 -m http.server --directory build/site"

docs-pages: setup ## Write the documentation's pages and pictures that come from the code
	$(BIN)/python -m tests.docs.fields
	$(BIN)/python -m tests.docs.pictures
	$(BIN)/python -m tests.docs.errors
	$(BIN)/python -m tests.docs.gate_table
	$(BIN)/python -m tests.docs.commands
	$(BIN)/python -m tests.docs.argocd

sbom: ## The operator's bill of materials (CycloneDX, with hashes) in build/sbom.json
	@test -x build/sbom/bin/cyclonedx-py || { $(PYTHON) -m venv build/sbom && build/sbom/bin/pip install --quiet cyclonedx-bom==7.5.0; }
	build/sbom/bin/cyclonedx-py requirements requirements/operator.txt --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json

LOCK = @$(UV) pip compile --system-certs --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	--python-version 3.11 --python-platform linux --custom-compile-command "make lock" $(LOCK_FLAGS)
UV = $(BIN)/uv
lock: setup ## Pin all packages again (LOCK_FLAGS=--upgrade: to their newest versions)
	$(LOCK) pyproject.toml --extra recommend --output-file requirements/operator.txt
	$(LOCK) requirements/installer.in --output-file requirements/installer.txt
	$(LOCK) requirements/build.in --output-file requirements/build.txt
	$(LOCK) requirements/fuzz.in --output-file requirements/fuzz.txt
	$(LOCK) requirements/audit.in --output-file requirements/audit.txt
	$(LOCK) requirements/workflows.in --output-file requirements/workflows.txt
	$(LOCK) pyproject.toml --extra pipeline --constraint requirements/operator.txt --output-file requirements/pipeline.txt
	$(LOCK) pyproject.toml requirements/build.in --extra pipeline --group dev \
	  --constraint requirements/pipeline.txt --constraint requirements/build.txt --output-file requirements/dev.txt
	$(subst --python-platform linux,--universal,$(LOCK)) requirements/release.in --constraint requirements/dev.txt \
	  --output-file requirements/release.txt
	$(LOCK) requirements/consumer.in --no-header --no-annotate \
	  --constraint requirements/operator.txt --output-file sandbox/images/consumer/requirements.txt
	cp sandbox/images/consumer/requirements.txt examples/consumers/python/requirements.txt

clean: ## Remove what was built and cached in this folder; .venv and the sandbox's cache stay
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(INSTALLED): requirements/dev.txt requirements/installer.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Slackwater needs Python 3.11 or newer, and $(PYTHON) is older: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' \
	  || { echo "This Python cannot make environments: apt-get install python3-venv, then again." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements/installer.txt
	$(BIN)/uv pip install --system-certs --python $(BIN)/python --quiet --compile-bytecode \
	  --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --system-certs --python $(BIN)/python --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q operator sandbox
# PySpark comes as source, unpacked and built in uv's cache. A mirror that says nothing of how long an answer holds makes
# each installation do it again, and 1.8 GB of the one before stay there: disks fill, and CI fails for it.
	$(BIN)/uv cache prune --quiet
	@touch $@
