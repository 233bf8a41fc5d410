# SPDX-License-Identifier: MIT
# Sanitizers: the unit tests, and programs that the preloaded library counts with
# the perf engine, where both are instrumented (tests/sanitize/*.t).
#
#	make asan tsan memcheck

SANITIZE_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined
# Its one warning is about fences around pages that only the kernel writes.
SANITIZE_tsan := -fsanitize=thread -Wno-tsan

# Functions that a sanitizer's runtime calls while it sets itself up, that stand in for libc, or that
# run on another's stack and never return: not instrumented.
NOT_SANITIZED := base/fd preload/hooks_process preload/program/fatal preload/program/hooks_fd \
	preload/program/hooks_seccomp preload/program/hooks_signal preload/threads/signal_stack preload/program/hooks_syscall \
	preload/libc/libc preload/libc/libc_string preload/libc/real preload/libc/vdso preload/writer
ifdef SANITIZE
$(NOT_SANITIZED:%=$(B)/%.o): override CFLAGS += -fno-sanitize=all
PROGRAM_FLAGS += $(SANITIZE_$(SANITIZE)) -fno-omit-frame-pointer
endif

# Lines are all that reports of a sanitizer name (-g1), and compile in three quarters of the time.
# One directory per sanitizer; memcheck takes the ordinary build.
SANITIZED_PROGRAMS := $(patsubst %,$(T)/programs/%,can_count region_threads region_nested \
	region_misuse threads many_threads coexist ends)
.PHONY: asan tsan memcheck sanitized
asan tsan: ## unit and perf-engine tests, instrumented (asan: UBSan, too)
	@sh tools/deps.sh build check
	@$(MAKE) --no-print-directory B=$(B)/$@ SANITIZE=$@ \
		CFLAGS="-O1 -g1 -fno-omit-frame-pointer $(SANITIZE_$@)" sanitized
memcheck: ## the same tests under Valgrind
	@sh tools/deps.sh build check
	@$(MAKE) --no-print-directory sanitized-by-memcheck
# heap_early has the malloc that a sanitizer's runtime would replace; a test without
# threads has no races.
SANITIZED_UNIT_asan = $(filter-out %/heap_early.t,$(UNIT))
SANITIZED_UNIT_tsan = $(patsubst tests/unit/%.c,$(T)/unit/%.t,$(shell grep -l pthread_create tests/unit/*.c))
sanitized: SANITIZED_UNIT = $(SANITIZED_UNIT_$(SANITIZE))
sanitized: $(LIB) $(DATA) $(REPORTER) $(ENCODER) $(SANITIZED_PROGRAMS) $(SANITIZED_UNIT_$(SANITIZE))
	$(PROVE) $(PROVE_FLAGS) $(SANITIZED_UNIT)
	SANITIZE=$(SANITIZE) B='$(B)' LC_ALL=C $(PROVE) tests/sanitize/perf.t
# The library with a reporter that is linked dynamically: in a static one memcheck does not know libc's functions.
MEMCHECKED := $(B)/memcheck
$(MEMCHECKED)/libcachepeek/reporter: $(REPORTER_OBJ) $(COMMON) $(PFM) $(LIB) $(DATA) $(ENCODER)
	@mkdir -p $(@D)
	@cp $(LIB) $(MEMCHECKED) && cp $(DATA) $(ENCODER) $(@D) && ln -sfn ../tests $(MEMCHECKED)/tests
	$(call run,LD,$(call link_reporter))
.PHONY: sanitized-by-memcheck
sanitized-by-memcheck: $(MEMCHECKED)/libcachepeek/reporter $(SANITIZED_PROGRAMS) $(UNIT)
	SANITIZE=memcheck $(PROVE) $(PROVE_FLAGS) -e 'valgrind -q --error-exitcode=66 --trace-children=yes --trace-children-skip=/bin/*,/usr/bin/* --vgdb=no' \
		$(filter-out $(MEMCHECK_SKIPS),$(UNIT))
	SANITIZE=memcheck B='$(MEMCHECKED)' LC_ALL=C $(PROVE) tests/sanitize/perf.t
# They step through children of their own.
MEMCHECK_SKIPS := $(T)/unit/regions_torn.t $(T)/unit/regions_fold.t
