# SPDX-License-Identifier: MIT
# `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
B ?= build
CC ?= gcc
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
VERSION := 0.1.0

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifdef CI
WARN += -Werror
endif
# -fno-math-errno: sqrt becomes an instruction, so that libm is not needed.
CP_CFLAGS := -std=gnu11 $(WARN) -I. -fPIC -fvisibility=hidden -fno-math-errno \
	-D_GNU_SOURCE -DCP_VERSION='"$(VERSION)"' -DCP_PREFIX='"$(PREFIX)"' -MMD -MP

DATA := $(sort $(wildcard output/groups/*.group output/presets/*.events preload/machines/*.machine))
BASE := $(wildcard base/*.c)
OUTPUT := $(wildcard output/*.c)
LIB_SRC := $(BASE) $(wildcard preload/*.c preload/engine/*.c regions/*.c) $(OUTPUT)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/embedded.o
# What the command shares with the library: everything that hooks nothing.
CLI_SHARED := $(BASE) $(OUTPUT) regions/record_read.c preload/options.c
CLI_SRC := $(wildcard tools/*.c) $(CLI_SHARED)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o) $(B)/embedded.o

LIB := $(B)/libcachepeek.so
CLI := $(B)/cachepeek-bin
PFM := $(B)/libpfm-hidden.a

.DEFAULT_GOAL := all
.PHONY: all
all: $(LIB) $(CLI)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CP_CFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/embedded.S: tools/embed.sh $(DATA)
	@mkdir -p $(@D)
	sh tools/embed.sh $(DATA) > $@
$(B)/embedded.o: $(B)/embedded.S
	$(CC) -c -o $@ $<

# Debian's libpfm.a is not position-independent where it names stdio's streams,
# and what it calls may be the program's own (bash has a getenv, many have a
# malloc): a copy of it calls ours (preload/pfm_libc.c) instead.
PFM_SYMS := stderr stdout malloc calloc realloc free getenv strtok strdup
$(PFM):
	@mkdir -p $(@D)
	$(OBJCOPY) $(foreach s,$(PFM_SYMS),--redefine-sym $s=cp_pfm_$s) \
		$$($(CC) -print-file-name=libpfm.a) $@

$(LIB): $(LIB_OBJ) $(PFM) preload/libcachepeek.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,libcachepeek.so -Wl,-z,initfirst -Wl,-z,defs \
		-Wl,--exclude-libs,ALL -Wl,--version-script,preload/libcachepeek.map \
		-Wl,--gc-sections $(LDFLAGS) -o $@ $(LIB_OBJ) $(PFM)

$(CLI): $(CLI_OBJ) $(PFM)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(CLI_OBJ) $(PFM)

-include tools/sim/sim.mk
-include tests/tests.mk
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)

.PHONY: clean
clean:
	rm -rf $(B)
