# cudal2-bench. `make` builds, `make demo` runs the main job, `make test` proves it, `make help` lists the
# rest.
# BUILD=dir builds elsewhere; LIBTORCH=dir, CUDA_HOME=dir and PYTHON=python3 steer the probes
# (scripts/probe.sh); TORCH=0 and OPENBLAS=0 go without those two.
BUILD ?= build

all:

include mk/flags.mk mk/probes.mk mk/harness.mk mk/plugins.mk mk/redteam.mk mk/tests.mk mk/checks.mk mk/install.mk

all: $(BUILD)/cudal2-bench $(PLUGINS)

help:
	@echo "make            build $(BUILD)/cudal2-bench and every plugin whose library is here"
	@echo "make demo       install what is missing, build, run configs/demo.json, show the table (TORCH=0: without libtorch)"
	@echo "make test       install what is missing, build, run every test"
	@echo "make test-all   that, the packages, fuzzing, sanitizers and the whole red team (an hour)"
	@echo "make redteam    contenders that cheat, and who is caught; CHEAT=path.c tries one of your own"
	@echo "make gpu-test   the tests that need a GPU"
	@echo "make sanitize   every test under ASan and UBSan, in $(BUILD)-san"
	@echo "make results    tables, figures and pages of the runs under results/ again"
	@echo "make lint       format, clang-tidy, cppcheck, rooms, sizes, heads, names, prose, links, figures, release"
	@echo "make cuda-check compile all CUDA code with nvcc"
	@echo "make fuzz       every fuzz target with clang, FUZZ_RUNS=$(FUZZ_RUNS) executions each, in $(BUILD)-fuzz"
	@echo "make probe      look for libraries again"
	@echo "make portable   build for moving $(BUILD) to another machine"
	@echo "make cubins     compile ahead the kernels of CUBINS_CONFIG=$(CUBINS_CONFIG), for make install to take along"
	@echo "make install    PREFIX=$(PREFIX) (DESTDIR= is put before it)"
	@echo "make uninstall  remove what make install put there"
	@echo "make package-deb, make package-wheel   the packages, in dist/"

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD)

.SECONDARY:
.PHONY: all clean cubins cuda-check demo deps fuzz gpu-build gpu-test help install lint portable probe redteam results sanitize test test-all tests-build tests-run uninstall package-deb package-wheel
