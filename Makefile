# cudal2-bench. `make` builds, `make demo` runs the main job, `make test` proves it, `make help` lists the rest.
# BUILD=dir builds elsewhere; LIBTORCH=dir, CUDA_HOME=dir and PYTHON=python3 steer the probes (scripts/probe.sh); TORCH=0 and
# OPENBLAS=0 go without those two.
BUILD ?= build
# One name for one directory, or what was compiled under the other (its .d files name it) would never be made again.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
# make V=1 shows every command.
V ?=
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' $(1) '$(patsubst $(BUILD)/%,%,$@)')
comma := ,
WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
OPT ?= -O2 -g
SAN ?=
# One commit is one program, wherever it is built: --resume asks for the same one.
HERE := -ffile-prefix-map=$(CURDIR)=.
CFLAGS_ALL := -std=c17 -D_GNU_SOURCE $(WARN) $(OPT) $(SAN) $(HERE) -fPIC -Iharness $(CFLAGS)
# The filter of a worker's system calls must not depend on what a machine has: libseccomp is linked in where its archive is.
LIBS = -lcjson -lz $(or $(SECCOMP_LIBS),-lseccomp) -ldl -lpthread -lm
# $$ORIGIN: a build directory that carries libcjson.so.1 (make portable) can be moved to a machine without the package.
LDFLAGS_ALL := $(SAN) -Wl,-z,relro,-z,now -Wl,-rpath,'$$ORIGIN' -Wl,-rpath,'$$ORIGIN/..' $(LDFLAGS)
# Under ASan the C++ run time must be there from the start, or the first exception inside libtorch ends the process.
ifneq ($(findstring address,$(SAN)),)
LIBS += -Wl,--no-as-needed -lstdc++ -Wl,--as-needed
endif

all:

# The probes run once for each build directory, and again when packages or the steering variables change.
UNPROBED := clean uninstall cuda-check deps demo test lint sanitize help probe ci fuzz
ifneq ($(filter-out $(UNPROBED),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/probe.mk
# What an older probe missed may be there by now, or was not looked for: it is probed again before it is believed.
ifneq ($(wildcard $(BUILD)/probe.mk),)
NEEDED := $(if $(HAVE_CJSON),,cJSON) $(if $(HAVE_ZLIB),,zlib) $(if $(SECCOMP_LIBS),,libseccomp)
ifneq ($(strip $(NEEDED)),)
ifneq ($(MAKE_RESTARTS),)
$(error $(firstword $(NEEDED)) is needed to build: run scripts/install-deps.sh)
endif
.PHONY: probe-again
probe-again:
$(BUILD)/probe.mk: probe-again
endif
endif
endif

PROBE = CC='$(CC)' LIBTORCH='$(LIBTORCH)' TORCH='$(TORCH)' OPENBLAS='$(OPENBLAS)' scripts/probe.sh
# keep_text FILE,TEXT: rewrites FILE only when the text differs, so that what depends on it rebuilds exactly then.
keep_text = $(shell mkdir -p $(BUILD) && printf '%s' '$(subst ','\'',$(2))' | cmp -s - $(1) || \
	printf '%s' '$(subst ','\'',$(2))' > $(1))

$(call keep_text,$(BUILD)/steering,$(CC) $(LIBTORCH) $(CUDA_HOME) $(PYTHON) $(TORCH) $(OPENBLAS))
$(BUILD)/probe.mk: scripts/probe.sh $(BUILD)/steering $(wildcard /var/lib/dpkg/status)
	@$(PROBE) $@

HARNESS := $(filter-out harness/main.c,$(wildcard harness/*/*.c))
HARNESS_O := $(HARNESS:%.c=$(BUILD)/obj/%.o)
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))
# These read CUPTI, which comes with the toolkit.
CUPTI_TESTS := gpu_clock
GPU_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/gpu_*.c))
ifeq ($(wildcard $(CUDA_INCLUDE)/cupti.h),)
GPU_TESTS := $(filter-out $(addprefix $(BUILD)/tests/,$(CUPTI_TESTS)),$(GPU_TESTS))
endif

# --- plugins: each one a shared object that exports the two entry points and nothing else ---
PLUGIN_NAMES := $(basename $(notdir $(wildcard kernels/plugins/*.c)))
ifneq ($(OPENBLAS_FLAGS),)
PLUGIN_NAMES += openblas
endif
ifneq ($(HAVE_CUBLAS),)
PLUGIN_NAMES += cublas cublaslt
endif
ifneq ($(TORCH_VERSION),)
PLUGIN_NAMES += torch
endif
PLUGINS := $(PLUGIN_NAMES:%=$(BUILD)/plugins/%.so)
TEST_PLUGINS := $(patsubst tests/plugins/%.c,$(BUILD)/tests/plugins/%.so,$(wildcard tests/plugins/*.c))
PLUGIN_MAP := harness/abi/plugin.map
# The red team: one contender for each line of its tables, compiled from the source file that the line names.
redteam_lines = $(shell sed -E '/^(#|$$)/d; s/^([^ ]+) +([^ ]+) .*/\1:\2/' tests/redteam/$(1).table)
redteam_all := $(foreach table,cpu second,$(call redteam_lines,$(table)))
REDTEAM := $(foreach line,$(redteam_all),$(BUILD)/tests/redteam/$(firstword $(subst :, ,$(line))).so)
# Sanitizers' own symbols come from the executable, so only an unsanitized link can insist on having every symbol.
PLUGIN_LD := -shared $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,--version-script=$(PLUGIN_MAP) $(LDFLAGS)
PLUGIN_CFLAGS := $(CFLAGS_ALL) -fvisibility=hidden
CUDA_CFLAGS := -isystem $(CUDA_INCLUDE)
CUDA_LD := -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB)

all: $(BUILD)/cudal2-bench $(PLUGINS)

# A change of compiler, flags or libraries rebuilds what they touch.
$(call keep_text,$(BUILD)/flags,$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL))
$(call keep_text,$(BUILD)/plugin-flags,$(CXX) $(PLUGIN_LD) $(OPENBLAS_FLAGS) $(CUDA_INCLUDE) $(CUDA_LIB) $(TORCH_CXXFLAGS) $(TORCH_LIBS))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# A small stack (ulimit -s 64) is enough: what is large is on the heap. Sanitizers make frames larger.
ifeq ($(SAN),)
$(BUILD)/obj/harness/%.o: CFLAGS_ALL += -Wframe-larger-than=32768
endif

# Every result names the commit and the flags it was built from.
COMMIT := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)$(shell git diff --quiet HEAD -- Makefile harness baselines kernels 2>/dev/null || echo -dirty)
COMMIT_DATE := $(shell git log -1 --format=%cs 2>/dev/null || echo unknown)
$(call keep_text,$(BUILD)/commit,$(COMMIT) $(COMMIT_DATE))
$(BUILD)/obj/harness/worker/environment.o: $(BUILD)/commit
$(BUILD)/obj/harness/worker/environment.o: CFLAGS_ALL += -DCUDAL2_COMMIT='"$(COMMIT)"' -DCUDAL2_COMMIT_DATE='"$(COMMIT_DATE)"' -DCUDAL2_CFLAGS='"$(strip $(OPT) $(SAN) $(CFLAGS))"'

# The one place of the version: --version, the man page, the .deb and the wheel have it from there.
VERSION := $(shell cat VERSION)
$(call keep_text,$(BUILD)/version,$(VERSION))
$(BUILD)/obj/harness/cli/%.o $(BUILD)/obj/tests/test_help.o: CFLAGS_ALL += -DCUDAL2_VERSION='"$(VERSION)"'
$(BUILD)/obj/harness/cli/help.o $(BUILD)/obj/harness/cli/man.o $(BUILD)/obj/tests/test_help.o: $(BUILD)/version

# The assembler reads these; -MMD does not see it.
$(BUILD)/obj/harness/report/assets.o: $(wildcard harness/report/html/*)

$(BUILD)/libharness.a: $(HARNESS_O)
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

$(BUILD)/cudal2-bench: $(BUILD)/obj/harness/main.o $(BUILD)/libharness.a
	$(call say,LD)
	$(Q)$(CC) $< -Wl,--whole-archive $(BUILD)/libharness.a -Wl,--no-whole-archive $(LDFLAGS_ALL) $(LIBS) -o $@

$(BUILD)/plugins/%.so: $(BUILD)/obj/kernels/plugins/%.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $< $(SAN) $(PLUGIN_LD) -lpthread -lm -o $@

$(BUILD)/tests/plugins/%.so: $(BUILD)/obj/tests/plugins/%.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $< $(SAN) -shared -Wl,--version-script=$(or $(wildcard tests/plugins/$*.map),$(PLUGIN_MAP)) $(LDFLAGS) -o $@

define redteam_rule
$(BUILD)/tests/redteam/$(1).so: tests/redteam/$(2).c $(wildcard tests/redteam/*.h tests/redteam/$(2).map) tests/plugins/bad.h harness/abi/contender.h $(PLUGIN_MAP) $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(CC) $$(PLUGIN_CFLAGS) -DREDTEAM='"$(1)"' $$< $$(SAN) -shared \
		-Wl,--version-script=$(or $(wildcard tests/redteam/$(2).map),$(PLUGIN_MAP)) $$(LDFLAGS) -lpthread -ldl -o $$@
endef
$(foreach line,$(redteam_all),$(eval $(call redteam_rule,$(firstword $(subst :, ,$(line))),$(lastword $(subst :, ,$(line))))))

# The GPU's is one object, which its runner copies to many names.
REDTEAM_GENCODE := -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90
$(BUILD)/tests/redteam/cuda.so: tests/redteam/cuda.cu tests/redteam/cuda_kernels.cuh harness/abi/contender.h $(PLUGIN_MAP) $(BUILD)/plugin-flags
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) -std=c++17 -O2 $(REDTEAM_GENCODE) -shared -Xcompiler -fPIC,-fvisibility=hidden,-Wall -Iharness \
		-Xlinker --version-script=$(PLUGIN_MAP) $< -o $@

# A candidate's own flags: unrolled loops, and fused multiply-adds (which -std=c17 alone turns off).
$(BUILD)/obj/kernels/plugins/%.o: kernels/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(PLUGIN_CFLAGS) -O3 -ffp-contract=fast -MMD -MP -c $< -o $@

$(BUILD)/obj/tests/plugins/%.o: tests/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(PLUGIN_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/obj/baselines/openblas.o: PLUGIN_CFLAGS += $(filter -I%,$(OPENBLAS_FLAGS))
$(BUILD)/obj/baselines/%.o: baselines/%.c $(BUILD)/flags $(BUILD)/plugin-flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(PLUGIN_CFLAGS) $(if $(HAVE_CUBLAS),$(CUDA_CFLAGS)) -MMD -MP -c $< -o $@

# libtorch is built without sanitizers, and so is the one file that includes it.
$(BUILD)/obj/baselines/torch.o: baselines/torch.cpp $(BUILD)/plugin-flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CXX) $(TORCH_CXXFLAGS) -O2 -g $(HERE) -fPIC -Wall -Wextra -Werror -fvisibility=hidden -fvisibility-inlines-hidden \
		-fno-gnu-unique -Iharness -MMD -MP -c $< -o $@

$(BUILD)/plugins/openblas.so: $(BUILD)/obj/baselines/openblas.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $< $(SAN) $(PLUGIN_LD) $(OPENBLAS_FLAGS) -o $@

$(BUILD)/plugins/cublas.so: $(BUILD)/obj/baselines/cublas.o $(BUILD)/obj/baselines/nvidia.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(filter %.o,$^) $(SAN) $(PLUGIN_LD) $(CUDA_LD) -lcublas -ldl -o $@

CUBLASLT_O := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard baselines/cublaslt*.c)) $(BUILD)/obj/baselines/nvidia.o
$(BUILD)/plugins/cublaslt.so: $(CUBLASLT_O) $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(filter %.o,$^) $(SAN) $(PLUGIN_LD) $(CUDA_LD) -lcublasLt -ldl -o $@

# What libtorch itself needs is found when it runs (its own rpath, or LD_LIBRARY_PATH), not when this is linked.
$(BUILD)/plugins/torch.so: $(BUILD)/obj/baselines/torch.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CXX) $< $(PLUGIN_LD) -Wl,--unresolved-symbols=ignore-in-shared-libs $(TORCH_LIBS) -ldl -o $@

# --- tests: each names the fixtures it links beside its own file ---
$(addprefix $(BUILD)/tests/test_,measure describe paper variants verify deviation honesty novelty timed race activity visits block block_others held): \
	$(BUILD)/obj/tests/bench_fixture.o
$(addprefix $(BUILD)/tests/test_,supervisor loading resume audit): $(addprefix $(BUILD)/obj/tests/,fake_worker.o run_fixture.o)
$(BUILD)/tests/test_blocked $(BUILD)/tests/test_openblas $(BUILD)/tests/test_baselines: $(BUILD)/obj/tests/plugin_fixture.o
$(addprefix $(BUILD)/tests/test_,architectures compare_again compare_failure compile deviation effects family gunzip hostile inspect manifest merge merge_stay module module_maps mutated plan precompile space table tune tuned variants verify): \
	$(BUILD)/obj/tests/scratch_fixture.o
$(BUILD)/tests/test_%: $(BUILD)/obj/tests/test_%.o $(BUILD)/libharness.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(filter %.o,$^) $(BUILD)/libharness.a $(LDFLAGS_ALL) -lcmocka $(LIBS) -o $@

$(BUILD)/tests/gpu_%: $(BUILD)/obj/tests/gpu_%.o $(BUILD)/libharness.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(filter %.o,$^) $(BUILD)/libharness.a $(LDFLAGS_ALL) -lcmocka $(LIBS) -o $@

# Studies: the stop rule over committed journals, what a graph costs the host (docs/method.md, section 5).
STUDIES := $(addprefix $(BUILD)/tests/,bench_stop bench_graphs)
$(STUDIES): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/libharness.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(filter %.o,$^) $(BUILD)/libharness.a $(LDFLAGS_ALL) $(LIBS) -o $@

# The clock check reads CUPTI's kernel records: its headers and library come with the CUDA toolkit.
$(CUPTI_TESTS:%=$(BUILD)/obj/tests/%.o): CFLAGS_ALL += $(CUDA_CFLAGS)
$(CUPTI_TESTS:%=$(BUILD)/tests/%): LIBS += $(CUDA_LD) -lcupti

$(addprefix $(BUILD)/tests/test_,plugin registry watching): | $(TEST_PLUGINS)
$(BUILD)/tests/test_baselines $(BUILD)/tests/test_openblas $(BUILD)/tests/test_blocked: | $(PLUGINS)

tests-build: all $(TESTS) $(TEST_PLUGINS) $(REDTEAM) $(STUDIES)
# So many tests at a time of those that time nothing; these do.
TIMED_TESTS = test_pool test_stage_page test_device_cpu test_resume test_plan
TEST_JOBS ?= $(shell n=$$(nproc); echo $$((n < 8 ? n : 8)))
tests-run: tests-build
	scripts/run-tests.sh -j $(TEST_JOBS) $(addprefix -a ,$(TIMED_TESTS)) $(BUILD) $(TESTS) $(wildcard tests/e2e_*.sh)

# What a machine with a GPU is given: everything built, nothing installed.
gpu-build: tests-build $(GPU_TESTS) $(if $(NVCC),$(BUILD)/tests/redteam/cuda.so)
# GPU_ONLY="probe redteam" chooses.
gpu-test: gpu-build
	scripts/gpu-tests.sh $(BUILD) $(GPU_ONLY)

# Contenders that cheat, and honest ones beside them: what is caught, as the README has it. CHEAT=path.c tries one of your own.
ifneq ($(CHEAT),)
redteam: $(BUILD)/cudal2-bench
	CUDAL2_BUILD=$(BUILD) tests/redteam/try.sh $(CHEAT)
else
redteam: tests-build
	CUDAL2_BUILD=$(BUILD) tests/redteam/run.sh tests/redteam/cpu.table
	@echo 'the second author, as first tried (results/redteam-second-author.md): what is missed is reported and fails nothing'
	-CUDAL2_BUILD=$(BUILD) tests/redteam/run.sh tests/redteam/second.table
endif

# As many jobs as cores, unless the caller chose.
JOBS := $(if $(findstring -j,$(MAKEFLAGS))$(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# Two steps through $(MAKE): the probes must see what deps has installed.
test: deps
	@$(MAKE) $(JOBS) --no-print-directory tests-run

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

# A build directory that runs on a machine without libcjson1 and cmocka (scripts/gpu-tests.sh there); zlib1g is everywhere.
portable: gpu-build
	for name in cjson.so.1 cmocka.so.0; do \
		cp -L "$$(ldconfig -p | sed -n "s/.*lib$$name .*=> //p" | head -1)" $(BUILD)/lib$$name || exit; done

# The packages; scripts/package.sh says what each needs.
package-deb package-wheel: package-%:
	@scripts/package.sh $*

# All is put together in a directory of its own first, so that what was installed is known, and goes again.
STAGE = $(BUILD)/stage
STAGED = $(STAGE)$(PREFIX)
INSTALLED = $(patsubst /%,%,$(PREFIX))/lib/cudal2-bench/installed
install: all
	@rm -rf $(STAGE)
	@install -d $(STAGED)/lib/cudal2-bench/plugins $(STAGED)/bin $(STAGED)/include/cudal2/abi $(STAGED)/share/cudal2-bench \
		$(STAGED)/share/pkgconfig $(STAGED)/share/man/man1 $(STAGED)/share/bash-completion/completions $(STAGED)/share/zsh/site-functions
	@install $(BUILD)/cudal2-bench $(STAGED)/lib/cudal2-bench/cudal2-bench
	@install -m 644 $(PLUGINS) $(STAGED)/lib/cudal2-bench/plugins
	@cp -R kernels $(STAGED)/lib/cudal2-bench/
	@cp -R configs $(STAGED)/share/cudal2-bench/
	@install -m 644 harness/abi/contender.h harness/abi/plugin.map $(STAGED)/include/cudal2/abi/
	@sed 's,@PREFIX@,$(PREFIX),; s,@VERSION@,$(VERSION),' \
		scripts/cudal2-bench.pc.in > $(STAGED)/share/pkgconfig/cudal2-bench.pc
	@$(BUILD)/cudal2-bench help --man > $(STAGED)/share/man/man1/cudal2-bench.1
	@$(BUILD)/cudal2-bench help --completion bash > $(STAGED)/share/bash-completion/completions/cudal2-bench
	@$(BUILD)/cudal2-bench help --completion zsh > $(STAGED)/share/zsh/site-functions/_cudal2-bench
	@ln -sf ../lib/cudal2-bench/cudal2-bench $(STAGED)/bin/cudal2-bench
	@scripts/install.sh $(STAGE) '$(DESTDIR)' $(INSTALLED)
	@rm -rf $(STAGE)
	@echo "installed $(DESTDIR)$(PREFIX)/bin/cudal2-bench and what it needs; make uninstall PREFIX=$(PREFIX) removes it"

uninstall:
	@scripts/install.sh --remove '$(DESTDIR)' $(INSTALLED)

help:
	@echo "make            build $(BUILD)/cudal2-bench and every plugin whose library is here"
	@echo "make demo       install what is missing, build, run configs/demo.json, show the table (TORCH=0: without libtorch)"
	@echo "make test       install what is missing, build, run every test"
	@echo "make redteam    contenders that cheat, and who is caught; CHEAT=path.c tries one of your own"
	@echo "make gpu-test   the tests that need a GPU"
	@echo "make sanitize   every test under ASan and UBSan, in $(BUILD)-san"
	@echo "make results    tables, figures and pages of the runs under results/ again"
	@echo "make lint       format, clang-tidy, cppcheck, room order, sizes"
	@echo "make cuda-check compile all CUDA code with nvcc"
	@echo "make fuzz       every fuzz target with clang, FUZZ_RUNS=$(FUZZ_RUNS) executions each, in $(BUILD)-fuzz"
	@echo "make probe      look for libraries again"
	@echo "make portable   build for moving $(BUILD) to another machine"
	@echo "make install    PREFIX=$(PREFIX) (DESTDIR= is put before it)"
	@echo "make uninstall  remove what make install put there"
	@echo "make package-deb, make package-wheel   the packages, in dist/"

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD)

.SECONDARY:
.PHONY: all clean cuda-check demo deps fuzz gpu-build gpu-test help install lint portable probe redteam results sanitize test tests-build tests-run uninstall package-deb package-wheel
