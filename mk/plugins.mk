# plugins.mk - baselines and example candidates: each one a shared object.
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
PLUGIN_MAP := harness/abi/plugin.map
# Sanitizers' own symbols come from the executable, so only an unsanitized link can insist on having every
# symbol.
PLUGIN_LD := -shared $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,--version-script=$(PLUGIN_MAP) $(LDFLAGS)
PLUGIN_CFLAGS := $(CFLAGS_ALL) -fvisibility=hidden
CUDA_CFLAGS := -isystem $(CUDA_INCLUDE)
CUDA_LD := -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB)

$(call keep_text,$(BUILD)/plugin-flags,$(CXX) $(PLUGIN_LD) $(OPENBLAS_FLAGS) $(CUDA_INCLUDE) $(CUDA_LIB) $(TORCH_CXXFLAGS) $(TORCH_LIBS))

$(BUILD)/plugins/%.so: $(BUILD)/obj/kernels/plugins/%.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $< $(SAN) $(PLUGIN_LD) -lpthread -lm -o $@

# A candidate's own flags: unrolled loops, and fused multiply-adds (which -std=c17 alone turns off).
$(BUILD)/obj/kernels/plugins/%.o: kernels/plugins/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(PLUGIN_CFLAGS) -O3 -ffp-contract=fast -MMD -MP -c $< -o $@

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

# What libtorch itself needs is found when it runs (its own rpath, or LD_LIBRARY_PATH), not when this is
# linked.
$(BUILD)/plugins/torch.so: $(BUILD)/obj/baselines/torch.o $(PLUGIN_MAP)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CXX) $< $(PLUGIN_LD) -Wl,--unresolved-symbols=ignore-in-shared-libs $(TORCH_LIBS) -ldl -o $@
