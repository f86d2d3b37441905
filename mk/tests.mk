# tests.mk - unit tests, GPU tests, studies, and the plugins that they load.
TEST_C := $(wildcard tests/unit/*/test_*.c)
# These are written against cuBLAS's headers.
CUBLASLT_TESTS := tests/unit/contender/test_enumerate.c tests/unit/contender/test_cublas.c tests/unit/contender/test_cublaslt.c \
    tests/unit/contender/test_cublaslt_matmul.c
ifeq ($(HAVE_CUBLAS),)
TEST_C := $(filter-out $(CUBLASLT_TESTS),$(TEST_C))
endif
TESTS := $(addprefix $(BUILD)/tests/,$(notdir $(TEST_C:.c=)))
GPU_C := $(wildcard tests/gpu/gpu_*.c)
# These read CUPTI, whose headers and library come with the CUDA toolkit.
CUPTI_C := tests/gpu/gpu_clock.c
ifeq ($(wildcard $(CUDA_INCLUDE)/cupti.h),)
GPU_C := $(filter-out $(CUPTI_C),$(GPU_C))
endif
GPU_TESTS := $(addprefix $(BUILD)/tests/,$(notdir $(GPU_C:.c=)))
TEST_PLUGINS := $(patsubst tests/fixtures/plugins/%.c,$(BUILD)/tests/plugins/%.so,$(wildcard tests/fixtures/plugins/*.c))

$(BUILD)/tests/plugins/%.so: $(BUILD)/obj/tests/fixtures/plugins/%.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $< $(SAN) -shared -Wl,--version-script=$(or $(wildcard tests/fixtures/plugins/$*.map),$(PLUGIN_MAP)) $(LDFLAGS) -o $@

$(BUILD)/obj/tests/fixtures/plugins/%.o: tests/fixtures/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(PLUGIN_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/obj/tests/%.o: CFLAGS_ALL += -Itests/fixtures
# A unit test's own file is compiled in half the time without optimization; the harness that it calls is
# linked as it ships.
ifeq ($(SAN),)
$(BUILD)/obj/tests/unit/%.o: CFLAGS_ALL += -O0
endif

# test_program SOURCE: a program of the file's name; what else it links is a prerequisite below.
define test_program
$(BUILD)/tests/$(basename $(notdir $(1))): $(BUILD)/obj/$(1:.c=.o) $(BUILD)/libharness.a
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)$$(CC) $$(filter %.o,$$^) $(BUILD)/libharness.a $$(LDFLAGS_ALL) -lcmocka $$(LIBS) -o $$@
endef
# Studies: the stop rule over journals, what a graph costs the host (docs/method.md, section 5), fp8.
STUDY_C := $(wildcard tests/studies/*.c)
ifeq ($(HAVE_CUBLAS),)
STUDY_C := $(filter-out tests/studies/fp8.c,$(STUDY_C))
endif
STUDIES := $(addprefix $(BUILD)/tests/,$(notdir $(STUDY_C:.c=)))
# A server for tests/e2e over scripted workers.
SERVER_C := tests/fixtures/scripted_server.c
SERVER := $(BUILD)/tests/scripted_server
$(foreach source,$(TEST_C) $(GPU_C) $(STUDY_C) $(SERVER_C),$(eval $(call test_program,$(source))))

# What tests link beside their own file.
fixture = $(patsubst %,$(BUILD)/obj/tests/fixtures/%.o,$(1))
test_of = $(addprefix $(BUILD)/tests/test_,$(1))
$(call test_of,measure describe paper variants verify deviation deviation_draws honesty honesty_load server_trials cleared ahead rivals replay_check timed timed_scales race rotation activity visits block block_others chain device_row held invariance parts energy join_trial begin): \
	$(call fixture,bench_fixture)
$(call test_of,enumerate): $(addprefix $(BUILD)/obj/baselines/,cublaslt_enumerate.o cublaslt_attributes.o)
$(call test_of,cublas): $(addprefix $(BUILD)/obj/baselines/,cublas.o nvidia.o)
$(call test_of,cublaslt): $(addprefix $(BUILD)/obj/baselines/,cublaslt.o nvidia.o)
$(call test_of,cublaslt_matmul): $(addprefix $(BUILD)/obj/baselines/,cublaslt_matmul.o nvidia.o)
$(CUBLASLT_TESTS:%.c=$(BUILD)/obj/%.o): CFLAGS_ALL += $(CUDA_CFLAGS)
$(call test_of,supervisor killed crew crew_start loading resume audit alone sharing shard_run leaving): $(call fixture,fake_worker fake_script run_fixture)
$(call test_of,watched counted together gone compilers) $(SERVER): $(call fixture,fake_worker fake_script scratch_fixture)
$(call test_of,blocked openblas baselines): $(call fixture,plugin_fixture)
$(call test_of,architectures binary module_crew compare_again compare_failure compile cubins deviation effects family gzip_read hostile inspect store server peers manifest merge merge_stay \
	behind module module_maps mutated plan precompile rank registry space table tune tuned variants verify warmth counters tool): $(call fixture,scratch_fixture)

$(BUILD)/tests/fp8: $(call fixture,fp8_fixture) \
	$(addprefix $(BUILD)/obj/baselines/,cublaslt_matmul.o cublaslt_algorithms.o cublaslt_attributes.o nvidia.o)
$(BUILD)/tests/fp8: LIBS += $(CUDA_LD) -lcublasLt
$(call fixture,fp8_fixture) $(BUILD)/obj/tests/studies/fp8.o: CFLAGS_ALL += $(CUDA_CFLAGS)

$(CUPTI_C:%.c=$(BUILD)/obj/%.o): CFLAGS_ALL += $(CUDA_CFLAGS)
$(addprefix $(BUILD)/tests/,$(notdir $(CUPTI_C:.c=))): LIBS += $(CUDA_LD) -lcupti

$(call test_of,plugin registry watching together): | $(TEST_PLUGINS)
$(call test_of,baselines openblas blocked): | $(PLUGINS)

# A kernel that comes compiled, for tests/gpu/gpu_serve_binaries.sh.
BINARIES := $(BUILD)/tests/gemm.cubin $(BUILD)/tests/gemm.ptx
$(BUILD)/tests/gemm.cubin: BINARY_FLAGS := -arch=sm_90 -cubin
$(BUILD)/tests/gemm.ptx: BINARY_FLAGS := -arch=compute_80 -ptx
$(BINARIES): examples/cubin/gemm.cu
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) $(BINARY_FLAGS) $< -o $@

# GPU tests too, which compile anywhere: one that no longer does is seen without a GPU.
tests-build: all $(TESTS) $(GPU_TESTS) $(TEST_PLUGINS) $(REDTEAM) $(STUDIES) $(SERVER) $(if $(NVCC),$(BUILD)/tests/redteam/cuda.so $(BINARIES))
# So many tests at a time of those that time nothing; these do.
TIMED_TESTS = test_pool test_stage_page test_device_cpu test_resume test_plan
# The longest: one that began late would run on by itself at the end.
LONG_TESTS = e2e_redteam e2e_tune e2e_isolation test_effects e2e_import e2e_kill e2e_slurm e2e_shards
TEST_JOBS ?= $(shell n=$$(nproc); echo $$((n < 8 ? n + 1 : 8)))
tests-run: tests-build
	scripts/run-tests.sh -j $(TEST_JOBS) $(addprefix -a ,$(TIMED_TESTS)) $(addprefix -f ,$(LONG_TESTS)) \
		$(BUILD) $(TESTS) $(wildcard tests/e2e/e2e_*.sh)

# What a machine with a GPU is given: everything built, nothing installed.
gpu-build: tests-build
# GPU_ONLY="probe redteam" chooses.
gpu-test: gpu-build
	scripts/gpu-tests.sh $(BUILD) $(GPU_ONLY)
