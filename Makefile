# The targets only call scripts that need nothing but Python.
PYTHON3 := $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python,$(if $(shell command -v $(name) 2>/dev/null),$(name))))
ifeq ($(PYTHON3),)
$(error threadwise needs Python 3.11, 3.12 or 3.13, but no Python was found)
endif
SETUP := $(PYTHON3) tools/setup.py
VENV_PYTHON := .venv/bin/python
# Where it is set, as in many containers, every process compiles our code anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test test-fast chaos bench fuzz explore eval eval-gate eval-online package deploy destroy tables lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: ## prepare .venv with what `make run` needs
	@$(SETUP) run

run: setup ## start everything on this machine and print the address of the chat page (PORT=9000, ARGS="...")
	@exec $(VENV_PYTHON) -m local $(if $(PORT),--port $(PORT)) $(ARGS)

test: ## run all checks and tests, and report every failure
	@$(SETUP) test
	@exec $(VENV_PYTHON) -m tools.check

test-fast: ## run the tests that start no processes and wait for nothing
	@$(SETUP) test
	@exec $(VENV_PYTHON) -m pytest -n 2 -m "not slow"

chaos: ## ask hundreds of questions while services fail, and check that no question is lost (ARGS="--questions 10000")
	@$(SETUP) run
	@exec $(VENV_PYTHON) -m chaos $(ARGS)

bench: ## measure the time to an answer, and compare it with the minimum and with a monolith (ARGS=--quick)
	@$(SETUP) run
	@exec $(VENV_PYTHON) -m bench.latency $(ARGS)

fuzz: ## run the long fuzz tests with tens of thousands of cases (FUZZ_CASES=1000)
	@$(SETUP) test
	@FUZZ_CASES=$(or $(FUZZ_CASES),1000) exec $(VENV_PYTHON) -m pytest tests/pipeline/test_fuzz*.py

explore: ## stop every writer of a question's message at each of its calls while others write (takes up to 45 minutes)
	@$(SETUP) test
	@EXPLORE=all exec $(VENV_PYTHON) -m pytest -n 2 tests/pipeline/test_explore.py

eval: ## measure rewriting, search and answers offline, and write docs/quality.md (ARGS="--data FOLDER")
	@$(SETUP) run
	@exec $(VENV_PYTHON) -m evaluation $(or $(ARGS),--page)

eval-gate: ## fail if a figure for our own conversations is worse than the recorded one
	@$(SETUP) run
	@exec $(VENV_PYTHON) -m evaluation --gate evaluation/recorded.json

eval-online: ## run eval with real Gemini and keep its answers in build/ (needs GEMINI_API_KEY, costs money)
	@$(SETUP) run
	@mkdir -p build
	@exec $(VENV_PYTHON) -m evaluation --online --record build/eval-online.jsonl $(ARGS)

package: ## write build/<folder>.zip for each function's folder
	@exec $(PYTHON3) -m tools.package

deploy: ## package the functions, show Terraform's plan, ask, and apply it (ARGS="-var project_id=my-project-123")
	@exec $(PYTHON3) -m tools.deploy $(ARGS)

destroy: ## take the deployment down and keep the data (DATA=delete deletes the data, too)
	@exec $(PYTHON3) -m tools.destroy $(if $(filter delete,$(DATA)),--delete-data) $(ARGS)

tables: ## write the tables in docs/ that come from shared/pipeline.json
	@exec $(PYTHON3) -m tools.tables

lock: ## pin the newest versions that requirements.in allows
	@$(SETUP) test
	@exec $(VENV_PYTHON) -m tools.lock

clean: ## remove .venv, the local state and all other generated files
	rm -rf .venv .venv-* .local build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
