# flags.mk - compilers, flags and libraries of every program. OPT, SAN and V come from the command line.
# One name for one directory, or what was compiled under the other (its .d files name it) would never be made
# again.
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
# The filter of a worker's system calls must not depend on what a machine has: libseccomp is linked in where
# its archive is.
LIBS = -lcjson -lz $(or $(SECCOMP_LIBS),-lseccomp) -ldl -lpthread -lm
# $$ORIGIN: a build directory that carries libcjson.so.1 (make portable) can be moved to a machine without the
# package.
LDFLAGS_ALL := $(SAN) -Wl,-z,relro,-z,now -Wl,-rpath,'$$ORIGIN' -Wl,-rpath,'$$ORIGIN/..' $(LDFLAGS)
# Under ASan the C++ run time must be there from the start, or the first exception inside libtorch ends the
# process.
ifneq ($(findstring address,$(SAN)),)
LIBS += -Wl,--no-as-needed -lstdc++ -Wl,--as-needed
endif

