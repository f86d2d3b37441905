# probes.mk - which libraries this machine has: scripts/probe.sh writes $(BUILD)/probe.mk, which is read here.
# The probes run once for each build directory, and again when packages or the steering variables change.
UNPROBED := clean uninstall cuda-check deps demo test test-all lint sanitize help probe ci fuzz
ifneq ($(filter-out $(UNPROBED),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/probe.mk
# What an older probe missed may be there by now, or was not looked for: it is probed again before it is
# believed.
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
# keep_text FILE,TEXT: rewrites FILE only when the text differs, so that what depends on it rebuilds exactly
# then.
keep_text = $(shell mkdir -p $(BUILD) && printf '%s' '$(subst ','\'',$(2))' | cmp -s - $(1) || \
	printf '%s' '$(subst ','\'',$(2))' > $(1))

$(call keep_text,$(BUILD)/steering,$(CC) $(LIBTORCH) $(CUDA_HOME) $(PYTHON) $(TORCH) $(OPENBLAS))
$(BUILD)/probe.mk: scripts/probe.sh $(BUILD)/steering $(wildcard /var/lib/dpkg/status)
	@$(PROBE) $@

