# checks.mk - what a person or CI asks for: test, demo, lint, fuzz, sanitize, results.
# As many jobs as cores, unless the caller chose.
JOBS := $(if $(findstring -j,$(MAKEFLAGS))$(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# Two steps through $(MAKE): the probes must see what deps has installed.
test: deps
	@$(MAKE) $(JOBS) --no-print-directory tests-run

# What takes longer: the packages, every fuzz target, every test under sanitizers, the second author's cheats.
test-all: export CUDAL2_SLOW := 1
test-all: test
	PACKAGES=1 CUDAL2_BUILD=$(BUILD) bash tests/e2e/e2e_package.sh
	SLURM=1 CUDAL2_BUILD=$(BUILD) bash tests/e2e/e2e_slurm.sh || [ $$? -eq 77 ]
	@$(MAKE) --no-print-directory fuzz sanitize redteam

demo:
	@TORCH='$(TORCH)' OPENBLAS='$(OPENBLAS)' scripts/install-deps.sh --demo
	@$(MAKE) $(JOBS) --no-print-directory all
	@rm -f $(BUILD)/demo.json $(BUILD)/demo.journal.jsonl
	$(BUILD)/cudal2-bench --mode server --config configs/demo.json --explain --output $(BUILD)/demo.json

# Tables, figures and pages of every run under results/.
results: $(BUILD)/cudal2-bench
	@CUDAL2_BENCH=$(BUILD)/cudal2-bench scripts/results.sh

deps:
	@scripts/install-deps.sh

probe:
	@$(PROBE) $(BUILD)/probe.mk

lint:
	@scripts/lint.sh

cuda-check:
	@scripts/cuda-check.sh

# Executions of each target; FUZZ_TARGETS="config json" chooses.
FUZZ_RUNS ?= 100000
fuzz:
	@scripts/fuzz.sh $(BUILD)-fuzz $(FUZZ_RUNS) $(FUZZ_TARGETS)

sanitize:
	@$(MAKE) $(JOBS) --no-print-directory BUILD=$(BUILD)-san OPT='-O1 -g -fno-omit-frame-pointer' \
		SAN='-fsanitize=address,undefined -fno-sanitize-recover=undefined' tests-run
