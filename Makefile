# cudal2-bench. `make` builds, `make demo` runs the main job, `make test` proves it. BUILD=dir builds elsewhere.
BUILD ?= build
CC ?= gcc
WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
OPT ?= -O2 -g
SAN ?=
CFLAGS_ALL := -std=c17 -D_GNU_SOURCE $(WARN) $(OPT) $(SAN) -fPIC -Iharness $(CFLAGS)
LIBS := -lcjson -ldl -lpthread -lm
# $$ORIGIN: a build directory that carries libcjson.so.1 can be moved to a machine without the package.
LDFLAGS_ALL := $(SAN) -Wl,-rpath,'$$ORIGIN' $(LDFLAGS)

HARNESS := $(filter-out harness/main.c,$(wildcard harness/*/*.c))
HARNESS_O := $(HARNESS:%.c=$(BUILD)/obj/%.o)
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))

all: $(BUILD)/cudal2-bench

# A change of compiler or flags rebuilds everything: the stamp's text is the flags.
FLAGS_TEXT := $(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL)
$(shell mkdir -p $(BUILD) && printf '%s' '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $(BUILD)/flags || printf '%s' '$(subst ','\'',$(FLAGS_TEXT))' > $(BUILD)/flags)

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(BUILD)/libharness.a: $(HARNESS_O)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/cudal2-bench: $(BUILD)/obj/harness/main.o $(BUILD)/libharness.a
	$(CC) $< -Wl,--whole-archive $(BUILD)/libharness.a -Wl,--no-whole-archive $(LDFLAGS_ALL) $(LIBS) -o $@

$(BUILD)/tests/test_%: $(BUILD)/obj/tests/test_%.o $(BUILD)/libharness.a
	@mkdir -p $(@D)
	$(CC) $< $(BUILD)/libharness.a $(LDFLAGS_ALL) -lcmocka $(LIBS) -o $@

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD)

.PHONY: all clean
