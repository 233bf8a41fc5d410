# SPDX-License-Identifier: MIT
# `make help` lists the targets.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
DESTDIR ?=
B ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
OBJCOPY ?= objcopy
# Nowhere else: install and dist write it into what they make (`@VERSION@`).
VERSION := 0.1.0

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifdef CI
WARN += -Werror
endif
# -fno-math-errno: sqrt becomes an instruction, so that libm is not needed.
CP_CFLAGS := -std=gnu11 $(WARN) -I. -fPIC -fvisibility=hidden -fno-math-errno \
	-D_GNU_SOURCE -DCP_VERSION='"$(VERSION)"' -MMD -MP

# The pages of HTML reports, and the library that draws their charts.
CHART ?= /usr/share/javascript/chart.js/chart.min.js
PAGE := $(sort $(wildcard output/html/*)) $(CHART)

# Data about events and machines, and the words of reports.
# Data that one processor needs of many: preload/data.c.
PROCESSORS := $(sort $(wildcard output/presets/*.events base/machines/*.machine base/machines/*.natives))
EMBEDDED := $(sort $(wildcard output/groups/*.group output/names/others.names output/names/frameworks.names) \
	$(addprefix output/presets/,sim.events generic.events meanings.events))
ALL_DATA := $(sort $(PROCESSORS) $(EMBEDDED) $(wildcard output/measurements/*.measurement output/measurements/*.samplers output/names/*.names)) $(PAGE)
# The rooms; CONTRIBUTING.md says what is in each.  What hooks nothing is common to the library,
# the reporter and the command, which have the rooms of reports, too; libpfm4's encoder is in the
# command, and beside the library.
RECORD_ROOMS := base base/text base/files base/engine base/machine base/counters regions regions/fold \
	output/metrics
COMMON_ROOMS := $(RECORD_ROOMS) output output/report output/text
LIB_ROOMS := preload preload/libc preload/threads preload/program preload/cases preload/markers preload/parallel \
	preload/sampling
TOOL_ROOMS := tools/shared tools/runs tools/list tools/compare tools/diff tools/gate tools/calibrate \
	tools/profile tools/profile/model tools/profile/samples tools/profile/calls tools/profile/advice
sources = $(wildcard $(1:%=%/*.c))

LIB_SRC := $(call sources,$(RECORD_ROOMS) $(LIB_ROOMS))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/events.o
COMMON_SRC := $(call sources,$(COMMON_ROOMS) base/encoder)
COMMON_OBJ := $(COMMON_SRC:%.c=$(B)/%.o) $(B)/embedded.o
CLI_SRC := $(call sources,tools $(TOOL_ROOMS))
# Debugging information, disassembly, names; the library itself needs none of them.
# Its JSON library is linked in where there is an archive of it; not every system has one.
archive = $(if $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a 2>/dev/null)),-l:lib$(1).a)
JANSSON ?= $(or $(call archive,jansson),-ljansson)
CLI_LIBS := -ldw -lelf -lcapstone -lz -liberty
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o) $(B)/help.o
# The texts of --help, and the completions; the options in both from a table for each command.
OPTIONS := $(sort $(wildcard tools/options/*.options))
HELP := $(sort $(wildcard tools/help/*)) $(OPTIONS:tools/options/%.options=$(B)/help/%-options.part)
COMPLETIONS := $(B)/completion/cachepeek.bash $(B)/completion/_cachepeek $(B)/completion/cachepeek.fish

LIB := $(B)/libcachepeek.so
CLI := $(B)/cachepeek
COMMON := $(B)/libcommon.a
# Once a directory; make would take that for the command, and the linker fail at it.
$(if $(wildcard $(CLI)/.),$(shell rm -rf $(CLI) $(CLI)-bin))
PFM := $(B)/libpfm-hidden.a
# They call each other.
both = -Wl,--start-group $(1) $(PFM) -Wl,--end-group
# libpfm4 in an object of its own: base/encoder/pfm.h says why.
ENCODER := $(B)/libcachepeek/encoder.so
# Tells a sampled profile of the program's blocks: preload/heap/observer.h.
HEAP := $(B)/libcachepeek/heap.so
# Writes the report of a program that ends: preload/writer.h.  It needs libc, and libdw where
# the compiler has that for the machine: else places in files have no lines.
REPORTER := $(B)/libcachepeek/reporter
# Data that one processor needs of many: preload/data.c.
DATA := $(B)/libcachepeek/data
# Patches functions: preload/patch/patch.h.  For x86-64 it has a decoder, which the program
# must not see, so that has to be an archive.
PATCHER_ARCH := $(firstword $(filter x86_64 aarch64,$(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null))))
PATCHER := $(if $(or $(filter aarch64,$(PATCHER_ARCH)),$(and $(PATCHER_ARCH),$(call \
	archive,capstone))),$(B)/libcachepeek/patcher.so)
# PerfStubs takes this for a tool: preload/perfstubs/tool.c.
PERFSTUBS := $(B)/libcachepeek/perfstubs.so

# One short line per command; V=1 shows the commands themselves.
ifdef V
run = @echo '$(subst ','\'',$(2))'; $(2)
else
run = @printf '  %-8s%s\n' '$(1)' '$@'; $(2)
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

# Sets SIM and SIM_CORE: the simulated PMU, in the directory $(B)/libcachepeek.
-include tools/sim/sim.mk
-include tests/tests.mk
-include tests/sanitize.mk
-include tests/fuzz/fuzz.mk
-include tests/vm/vm.mk
-include tests/presets/presets.mk

.PHONY: all
all: $(LIB) $(DATA) $(REPORTER) $(ENCODER) $(HEAP) $(PATCHER) $(PERFSTUBS) $(CLI) $(SIM) $(SIM_CORE) $(COMPLETIONS) ## build the library, the command and the simulated PMU

# Changes when the command of the compiler does, and then everything is old.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(CP_CFLAGS) $(CFLAGS))' | cmp -s - $@ || { \
		sh tools/floors.sh '$(CC)' '$(VALGRIND_INCLUDE)' '$(CPPFLAGS) $(CFLAGS)' && \
		echo '$(subst ','\'',$(CC) $(CP_CFLAGS) $(CFLAGS))' > $@; }
.PHONY: FORCE

# The one object that knows where the library is installed.
$(B)/libdir: FORCE
	@mkdir -p $(@D)
	@echo '$(LIBDIR)' | cmp -s - $@ || echo '$(LIBDIR)' > $@
$(B)/tools/shared/place.o: CP_CFLAGS += -DCP_LIBDIR='"$(LIBDIR)"'
$(B)/tools/shared/place.o: $(B)/libdir

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(CP_CFLAGS) $(CFLAGS) -c -o $@ $<)

$(B)/embedded.S: tools/embed.sh $(ALL_DATA) Makefile
	@mkdir -p $(@D)
	$(call run,EMBED,sh tools/embed.sh $(ALL_DATA) > $@)
$(B)/events.S: tools/embed.sh $(EMBEDDED) Makefile
	@mkdir -p $(@D)
	$(call run,EMBED,sh tools/embed.sh -b $(B)/bare $(EMBEDDED) > $@)
$(DATA): $(PROCESSORS) Makefile
	@mkdir -p $(@D)
	$(call run,DATA,{ for f in $(PROCESSORS); do printf '%s\0' $${f##*/}; cat $$f; printf '\0'; done; printf '\0'; } > $@)
$(B)/help.S: tools/embed.sh $(HELP)
	@mkdir -p $(@D)
	$(call run,EMBED,TABLE=cp_help_files sh tools/embed.sh $(HELP) > $@)
$(B)/help/%-options.part: tools/options/%.options tools/options.awk
	@mkdir -p $(@D)
	@awk -v write=help -f tools/options.awk $< > $@
$(B)/completion/cachepeek.bash: write := bash
$(B)/completion/_cachepeek: write := zsh
$(B)/completion/cachepeek.fish: write := fish
$(COMPLETIONS): $(B)/completion/%: tools/completion/% tools/options.awk tools/help/cachepeek.help $(OPTIONS)
	@mkdir -p $(@D)
	@awk -v write=$(write) -v template=$< -f tools/options.awk tools/help/cachepeek.help $(OPTIONS) > $@
$(B)/embedded.o $(B)/events.o $(B)/help.o: %.o: %.S
	$(call run,AS,$(CC) -c -o $@ $<)

# Debian's libpfm.a is not position-independent where it names stdio's streams,
# and what it calls may be the program's own (bash has a getenv, many have a
# malloc): a copy of it calls ours (base/encoder/pfm_libc.c) instead.
LIBPFM ?= $(shell $(CC) -print-file-name=libpfm.a)
PFM_SYMS := stderr stdout malloc calloc realloc free getenv strtok strdup opendir
$(PFM): Makefile
	@mkdir -p $(@D)
	$(call run,OBJCOPY,$(OBJCOPY) $(foreach s,$(PFM_SYMS),--redefine-sym $s=cp_pfm_$s) \
		$(LIBPFM) $@)

# A program may have functions of the names that we hook: what we call is ours.
LIB_LDFLAGS := -Wl,-Bsymbolic-functions -Wl,-soname,libcachepeek.so -Wl,-z,initfirst -Wl,-z,defs -Wl,--exclude-libs,ALL \
	-Wl,--version-script,preload/libcachepeek.map -Wl,--gc-sections \
	-Wl,--wrap=open,--wrap=openat
$(LIB): $(LIB_OBJ) preload/libcachepeek.map
	$(call run,LD,$(CC) $(CFLAGS) -shared $(LIB_LDFLAGS) $(LDFLAGS) -o $@ $(LIB_OBJ))

ENCODER_OBJ := $(B)/base/encoder/pfm.o $(B)/base/encoder/pfm_libc.o $(B)/base/env.o \
	$(B)/base/arena.o $(B)/base/escape.o $(B)/base/decimal.o $(B)/base/format.o $(B)/base/map.o
ENCODER_LDFLAGS := -Wl,-z,defs -Wl,--exclude-libs,ALL
# Objects that the constructor loads name no libc: that is there, but not initialised yet, and would
# be, with neither arguments nor environment, for whoever needs it.
EARLY_LDFLAGS := -nostdlib -Wl,--exclude-libs,ALL
$(ENCODER): $(ENCODER_OBJ) $(PFM)
	@mkdir -p $(@D)
	$(call run,LD,$(CC) $(CFLAGS) -shared $(EARLY_LDFLAGS) $(LDFLAGS) -o $@ $(ENCODER_OBJ) $(PFM) -lgcc)

# Exceptions pass through its operator new.
$(B)/preload/heap/heap.o: CP_CFLAGS += -fexceptions
$(HEAP): $(B)/preload/heap/heap.o
	@mkdir -p $(@D)
	$(call run,LD,$(CC) $(CFLAGS) -shared $(ENCODER_LDFLAGS) $(LDFLAGS) -o $@ $<)

PATCHER_DIR := preload/patch/$(PATCHER_ARCH)
PATCHER_SRC := $(wildcard preload/patch/*.c $(PATCHER_DIR)/*.c)
PATCHER_STUBS := $(B)/$(PATCHER_DIR)/stubs.o
PATCHER_OBJ := $(PATCHER_SRC:%.c=$(B)/%.o) $(PATCHER_STUBS) $(B)/base/arena.o $(B)/base/decimal.o \
	$(B)/base/escape.o $(B)/base/format.o $(B)/base/map.o $(B)/base/sort.o
$(PATCHER_STUBS): $(PATCHER_DIR)/stubs.S preload/patch/calls.h preload/patch/architecture.h preload/patch/returns.inc $(wildcard $(PATCHER_DIR)/*.h)
	@mkdir -p $(@D)
	$(call run,AS,$(CC) -I. -c -o $@ $<)
$(PATCHER): $(PATCHER_OBJ)
	@mkdir -p $(@D)
	$(call run,LD,$(CC) $(CFLAGS) -shared $(EARLY_LDFLAGS) $(LDFLAGS) -o $@ $(PATCHER_OBJ) \
		$(if $(filter x86_64,$(PATCHER_ARCH)),-l:libcapstone.a) -liberty -lgcc)

$(PERFSTUBS): $(B)/preload/perfstubs/tool.o
	@mkdir -p $(@D)
	$(call run,LD,$(CC) $(CFLAGS) -shared $(ENCODER_LDFLAGS) $(LDFLAGS) -o $@ $<)

$(COMMON): $(COMMON_OBJ)
	@rm -f $@
	$(call run,AR,$(AR) rcs $@ $(COMMON_OBJ))

# jansson reads and writes JSON documents for the command.
$(CLI): $(CLI_OBJ) $(COMMON) $(PFM)
	$(call run,LD,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(CLI_OBJ) $(call both,$(COMMON)) $(JANSSON) -lm $(CLI_LIBS))

# libdw and libiberty, where the compiler has them for the machine.
HAS_DW := $(filter /%,$(shell $(CC) -print-file-name=libdw.so 2>/dev/null))
HAS_IBERTY := $(call archive,iberty)
REPORTER_SRC := $(call sources,tools/reporter) $(if $(HAS_IBERTY),tools/shared/demangle.c) \
	$(if $(HAS_DW),tools/shared/source_at.c tools/shared/units.c)
REPORTER_LIBS := $(if $(HAS_IBERTY),-liberty) $(if $(HAS_DW),-ldw -lelf -lz)
REPORTER_OBJ := $(REPORTER_SRC:%.c=$(B)/%.o)
# Whatever libraries the program under test names, and however little memory and however few
# descriptors it left: where there are archives of all that it needs, it needs no loader.
REPORTER_STATIC := $(if $(SANITIZE),,$(if $(call archive,c),$(if $(HAS_DW),$(call archive,dw),yes)))
link_reporter = $(CC) $(CFLAGS) $(1) $(LDFLAGS) -o $@ $(REPORTER_OBJ) $(call both,$(COMMON)) $(REPORTER_LIBS)
$(REPORTER): $(REPORTER_OBJ) $(COMMON) $(PFM)
	@mkdir -p $(@D)
	$(call run,LD,$(if $(REPORTER_STATIC),$(call link_reporter,-static) $(call archive,zstd) 2>/dev/null ||) $(call link_reporter))

-include $(PATCHER_SRC:%.c=$(B)/%.d)
-include $(B)/preload/heap/heap.d $(B)/preload/perfstubs/tool.d
-include $(LIB_OBJ:.o=.d) $(REPORTER_OBJ:.o=.d) $(COMMON_OBJ:.o=.d) $(CLI_OBJ:.o=.d)

# The compiler itself may be missing when these start: what needs it runs in a
# second make, after deps.
.PHONY: demo demo-run check check-all check-fast check-rest check-vm check-presets check-suites check-real bench bench-clock
demo: ## install what is missing, build, and print the report of a real program
	@sh tools/deps.sh build
	@$(MAKE) --no-print-directory demo-run
check: ## install what is missing, build, and run the tests of every part: six minutes
	@sh tools/deps.sh build check
	@$(MAKE) --no-print-directory check-run
check-all: ## install what is missing, build, and run every test: a quarter of an hour
	@$(MAKE) --no-print-directory check-fast
	@$(MAKE) --no-print-directory check-rest
check-fast: ## two minutes of the tests: the units, and the engines on small programs
	@sh tools/deps.sh build check
	@$(MAKE) --no-print-directory check-fast-run
check-rest: ## what check-fast does not run
	@sh tools/deps.sh build check
	@$(MAKE) --no-print-directory check-rest-run
check-presets: ## every preset against the libpfm4 of five architectures
	@sh tools/deps.sh build check
	@sh tools/deps.sh presets || echo "check-presets: without these packages architectures are skipped"
	@$(MAKE) --no-print-directory check-presets-run
check-vm: ## the perf engine on emulated arm64 and riscv64 PMUs, under real kernels
	@sh tools/deps.sh build check
	@sh tools/deps.sh vm || echo "check-vm: without these packages machines are skipped"
	@$(MAKE) --no-print-directory check-vm-run
check-suites: ## other people's test suites, alone and with the library
	@sh tools/deps.sh build check
	@sh tools/deps.sh suites || echo "check-suites: without these packages some suites are not built"
	@$(MAKE) --no-print-directory check-suites-run
check-real: ## servers, languages and tools of the distribution, alone and with the library
	@sh tools/deps.sh build check
	@sh tools/deps.sh real || echo "check-real: programs whose packages are missing are skipped"
	@$(MAKE) --no-print-directory check-real-run
bench: ## print the measured costs beside their budgets
	@sh tools/deps.sh build check
	@sh tools/deps.sh bench || echo "bench: without these packages there is less to compare with"
	@$(MAKE) --no-print-directory bench-run
bench-clock: all ## print predicted time beside the clock: kernels, pairs, programs
	@B=$(B) CC='$(CC)' /usr/bin/python3 tests/bench/clock.py

demo-run: all
	@sh tools/demo.sh $(B)

# Objects only, and none that anybody runs (-O0 takes half as long; check-vm has optimized ones):
# there is no libpfm4 or Valgrind to link with.  On riscv64 the
# command is not offered; the library is what the emulated bench preloads there.
# Nobody links libatomic, which atomic accesses of less than a word would need there.
CROSS_ARCHES := aarch64 riscv64
.PHONY: check-cross $(CROSS_ARCHES:%=cross-%) $(CROSS_ARCHES:%=cross-objects-%)
check-cross: $(CROSS_ARCHES:%=cross-%) ## compile for aarch64 and riscv64 too, where their cross compilers are installed
$(CROSS_ARCHES:%=cross-%): cross-%:
	@if command -v $*-linux-gnu-gcc > /dev/null; then \
		mkdir -p $(B)/$*/include && \
		ln -sfn /usr/include/perfmon $(B)/$*/include/perfmon && \
		for header in valgrind elfutils capstone libiberty dwarf.h libelf.h gelf.h; do \
			ln -sfn /usr/include/$$header $(B)/$*/include/$$header || exit 1; \
		done && \
		ln -sfn /usr/include/jansson.h /usr/include/jansson_config.h $(B)/$*/include/ && \
		$(MAKE) --no-print-directory B=$(B)/$* CC=$*-linux-gnu-gcc \
			CFLAGS="-O0 -isystem $(B)/$*/include" cross-objects-$* && \
		! find $(B)/$* -name '*.o' -exec $*-linux-gnu-nm -Au {} + | grep __atomic_ && \
		echo "check-cross: $* objects compile"; \
	else \
		echo "check-cross: skipped: no $*-linux-gnu-gcc (tools/deps.sh ci installs it)"; \
	fi
cross-objects-aarch64: $(LIB_OBJ) $(REPORTER_OBJ) $(COMMON_OBJ) $(CLI_OBJ) $(PATCHER_OBJ) $(SIM_SANITIZED)
cross-objects-riscv64: $(LIB_OBJ) $(REPORTER_OBJ) $(COMMON_OBJ)

-include tools/install.mk
-include tools/dist.mk

# From one release: another lays out, and finds, otherwise.  CI has to have them.
FORMAT := clang-format-14
TIDY := clang-tidy-14
where = if ! command -v $1 > /dev/null; then echo "$@: no $1 here: left out"$(if $(CI),; exit 1); else
otherwise = fi
FORMATTED = $(shell git ls-files '*.c' '*.h' '*.cc')
.PHONY: format format-check
format: ## lay out the sources with clang-format 14
	$(FORMAT) -i $(FORMATTED)
format-check: ## list what format would change; fails if that is anything
	@$(call where,$(FORMAT)) $(FORMAT) --dry-run -Werror $(FORMATTED); $(otherwise)

# Sources that are linked into the library and the command; tools/sim is Valgrind's world.
# cppcheck does not see what system calls and calls through a table fill in; the
# analyzer of clang-tidy looks after that.  Nor does it know that the two ends of a
# linker's list (base/listed.h) are of one object.  The analyzer looks at so many states of
# a function; with its own limit, 225000, it takes six times as long (check-suites).
LINT_STATES ?= 15000
LINTED = $(sort $(LIB_SRC) $(REPORTER_SRC) $(COMMON_SRC) $(CLI_SRC) $(PATCHER_SRC) preload/heap/heap.c preload/perfstubs/tool.c)
DEFINES := -std=gnu11 -I. -D_GNU_SOURCE -DCP_VERSION='"$(VERSION)"' -DCP_LIBDIR='"$(LIBDIR)"'
LINT_LIMIT := -Xclang -analyzer-config -Xclang max-nodes=$(LINT_STATES)
.PHONY: lint house
house: ## lines, functions, parameters and include cycles, folder by folder
	@/usr/bin/python3 tests/house.py
lint: format-check house ## layout, limits, clang-tidy and cppcheck
	@$(call where,$(TIDY)) echo $(LINTED) | xargs -P 2 -n 10 \
		sh -c '$(TIDY) --quiet "$$@" -- $(LINT_LIMIT) $(subst ','\'',$(DEFINES))' sh; $(otherwise)
	@cppcheck --quiet -j 2 --error-exitcode=1 --inline-suppr --std=c11 -I. -D_GNU_SOURCE \
		--enable=warning,portability,performance \
		--suppress=uninitvar --suppress=legacyUninitvar --suppress=comparePointers $(LINTED)

.PHONY: clean help
clean: ## remove what was built
	rm -rf $(B)
help: ## list the targets
	@sed -n 's/^\([a-z][a-z -]*\):[^#]*## /\1\t/p' Makefile tools/*.mk tests/*.mk tests/*/*.mk | sort | \
		while IFS='	' read -r target what; do printf '%-14s%s\n' "$$target" "$$what"; done
	@echo 'Variables: PREFIX=$(PREFIX) LIBDIR=$(LIBDIR) DESTDIR= B=$(B) CC=$(CC) CFLAGS="$(CFLAGS)" CI='
