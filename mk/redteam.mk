# redteam.mk - contenders that cheat, and honest ones that come near (docs/trust.md).
# The red team: one contender for each line of its tables. Its source file, which the line names, is compiled
# once, and linked with each name.
redteam_lines = $(shell sed -E '/^(#|$$)/d; s/^([^ ]+) +([^ ]+) .*/\1:\2/' tests/redteam/$(1).table)
redteam_all := $(sort twin:cpu_honest $(foreach table,cpu inside large narrow second remains remains-inside,$(call redteam_lines,$(table))))
REDTEAM := $(foreach line,$(redteam_all),$(BUILD)/tests/redteam/$(firstword $(subst :, ,$(line))).so)

$(BUILD)/obj/tests/redteam/%.o: tests/redteam/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(PLUGIN_CFLAGS) -MMD -MP -c $< -o $@

define redteam_rule
$(BUILD)/tests/redteam/$(1).so: $(BUILD)/obj/tests/redteam/$(2).o $(or $(wildcard tests/redteam/$(2).map),$(PLUGIN_MAP))
	@mkdir -p $$(@D)
	$$(call say,LD)
	$$(Q)echo 'const char redteam_name[] = "$(1)";' | $$(CC) -x c -g0 - -x none $$< $$(SAN) -shared -fPIC \
		-Wl,--version-script=$$(lastword $$^) $$(LDFLAGS) -lpthread -ldl -o $$@
endef
$(foreach line,$(redteam_all),$(eval $(call redteam_rule,$(firstword $(subst :, ,$(line))),$(lastword $(subst :, ,$(line))))))

# The GPU's is one object, which its runner copies to many names.
REDTEAM_GENCODE := -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=sm_90
$(BUILD)/tests/redteam/cuda.so: tests/redteam/cuda.cu tests/redteam/cuda_kernels.cuh tests/redteam/cuda_attacks.cuh tests/redteam/cuda_threads.cuh harness/abi/contender.h $(PLUGIN_MAP) $(BUILD)/plugin-flags
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) -std=c++17 -O2 $(REDTEAM_GENCODE) -shared -Xcompiler -fPIC,-fvisibility=hidden,-Wall -Iharness \
		-Xlinker --version-script=$(PLUGIN_MAP) $< -o $@

# Contenders that cheat, and honest ones beside them: what is caught, as the README has it. CHEAT=path.c tries
# one of your own.
ifneq ($(CHEAT),)
redteam: $(BUILD)/cudal2-bench
	CUDAL2_BUILD=$(BUILD) tests/redteam/try.sh $(CHEAT)
else
redteam: tests-build
	CUDAL2_BUILD=$(BUILD) tests/redteam/run.sh tests/redteam/cpu.table
	CUDAL2_BUILD=$(BUILD) tests/redteam/run.sh tests/redteam/inside.table
	CUDAL2_BUILD=$(BUILD) tests/redteam/run.sh tests/redteam/large.table
	CUDAL2_BUILD=$(BUILD) tests/redteam/run.sh tests/redteam/narrow.table
	@echo 'the second author, as first tried (results/redteam-second-author.md): what is missed is reported and fails nothing'
	-CUDAL2_BUILD=$(BUILD) tests/redteam/run.sh tests/redteam/second.table
endif
