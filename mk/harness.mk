# harness.mk - the program: every room of harness/ in one library, and main.
HARNESS := $(filter-out harness/main.c,$(wildcard harness/*/*.c harness/*/*/*.c))
HARNESS_O := $(HARNESS:%.c=$(BUILD)/obj/%.o)

# A change of compiler, flags or libraries rebuilds what they touch.
$(call keep_text,$(BUILD)/flags,$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# A small stack (ulimit -s 64) is enough: what is large is on the heap. Sanitizers make frames larger.
ifeq ($(SAN),)
$(BUILD)/obj/harness/%.o: CFLAGS_ALL += -Wframe-larger-than=32768
endif

# Every result names the commit and the flags it was built from.
COMMIT := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)$(shell git diff --quiet HEAD -- Makefile mk harness baselines kernels 2>/dev/null || echo -dirty)
COMMIT_DATE := $(shell git log -1 --format=%cs 2>/dev/null || echo unknown)
$(call keep_text,$(BUILD)/commit,$(COMMIT) $(COMMIT_DATE))
$(BUILD)/obj/harness/worker/environment.o: $(BUILD)/commit
$(BUILD)/obj/harness/worker/environment.o: CFLAGS_ALL += -DCUDAL2_COMMIT='"$(COMMIT)"' -DCUDAL2_COMMIT_DATE='"$(COMMIT_DATE)"' -DCUDAL2_CFLAGS='"$(strip $(OPT) $(SAN) $(CFLAGS))"'

# The one place of the version: --version, the man page, the .deb and the wheel have it from there.
VERSION := $(shell cat VERSION)
$(call keep_text,$(BUILD)/version,$(VERSION))
$(BUILD)/obj/harness/cli/%.o $(BUILD)/obj/tests/unit/cli/test_help.o: CFLAGS_ALL += -DCUDAL2_VERSION='"$(VERSION)"'
$(BUILD)/obj/harness/cli/help.o $(BUILD)/obj/harness/cli/man.o $(BUILD)/obj/tests/unit/cli/test_help.o: $(BUILD)/version

# serve's transport, where its header is.
$(BUILD)/obj/harness/serve/http.o: $(BUILD)/probe.mk
$(BUILD)/obj/harness/serve/http.o: CFLAGS_ALL += $(if $(HAVE_MICROHTTPD),-DCUDAL2_MICROHTTPD)

# The assembler reads these; -MMD does not see it.
$(BUILD)/obj/harness/report/assets.o: $(wildcard harness/report/html/*)

$(BUILD)/libharness.a: $(HARNESS_O)
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^

$(BUILD)/cudal2-bench: $(BUILD)/obj/harness/main.o $(BUILD)/libharness.a
	$(call say,LD)
	$(Q)$(CC) $< -Wl,--whole-archive $(BUILD)/libharness.a -Wl,--no-whole-archive $(LDFLAGS_ALL) $(LIBS) -o $@
