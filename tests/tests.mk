# SPDX-License-Identifier: MIT
# Tests: tests/unit/*.c (TAP, one program each), tests/sim/*.t and tests/e2e/*.t
# (TAP from Perl), and the programs under test in tests/programs.

T := $(B)/tests
CXX ?= g++
PROVE ?= prove
# Two more than the two processors that CI has: tests wait for a third of their time (for
# servers, signals, the end of intervals), and often two at once.  The time of each file is in CI's log.
PROVE_JOBS ?= 4
PROVE_FLAGS ?= -j$(PROVE_JOBS) $(if $(CI),--timer)

TEST_WARN := $(filter-out -Wpedantic -Wmissing-prototypes,$(WARN))

# The code that a unit test may call: everything that hooks nothing, and no command.  The tests that TSan runs,
# those with threads, call nothing of the commands' rooms.
TEST_SRC := $(COMMON_SRC) $(if $(filter tsan,$(SANITIZE)),,$(call sources,$(TOOL_ROOMS)))
TEST_OBJ := $(TEST_SRC:%.c=$(B)/%.o) $(B)/embedded.o $(B)/tests/tap/tap.o
TEST_LIB := $(B)/libcp-test.a
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT := $(UNIT_SRC:tests/unit/%.c=$(T)/unit/%.t)

$(TEST_LIB): $(TEST_OBJ)
	@rm -f $@
	$(call run,AR,$(AR) rcs $@ $(TEST_OBJ))

$(T)/unit/%.t: $(B)/tests/unit/%.o $(TEST_LIB) $(PFM)
	@mkdir -p $(@D)
	$(call run,LD,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(call both,$(TEST_LIB)) -pthread -lm -liberty $(UNIT_LIBS_$*))
UNIT_LIBS_files_build_id := -ldw -lelf -Wl,--build-id
UNIT_LIBS_tools_symbol_at := -ldw -lelf
.SECONDARY: $(UNIT_SRC:%.c=$(B)/%.o)

# Gives tests/groups/formulas.t the values of formulas.
EVALUATE := $(T)/evaluate
$(EVALUATE): $(B)/tests/groups/evaluate.o $(TEST_LIB) $(PFM)
	@mkdir -p $(@D)
	$(call run,LD,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(call both,$(TEST_LIB)) -pthread -lm)

# The program of tests/bench/merge.sh.
MERGE_BENCH := $(T)/merge
$(MERGE_BENCH): $(B)/tests/bench/merge.o $(TEST_LIB) $(PFM)
	@mkdir -p $(@D)
	$(call run,LD,$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(call both,$(TEST_LIB)) -pthread -lm)

# Programs under test.  PROGRAM_<name> adds flags for one of them.
PROGRAM_SRC := $(filter-out tests/programs/lib%.c,$(wildcard tests/programs/*.c))
PROGRAM_CC := $(wildcard tests/programs/*.cc)
PROGRAM_LIB := $(wildcard tests/programs/lib*.c)
# The same programs, statically linked.
STATIC_PROGRAMS := $(T)/programs/static_chase $(T)/programs/static_columns
PROGRAMS := $(PROGRAM_SRC:tests/programs/%.c=$(T)/programs/%) \
	$(PROGRAM_CC:tests/programs/%.cc=$(T)/programs/%) \
	$(PROGRAM_LIB:tests/programs/%.c=$(T)/programs/%.so) $(STATIC_PROGRAMS)
PROGRAM_FLAGS := -O1 -g -I. -Iregions -D_GNU_SOURCE -pthread -MMD -MP

PROGRAM_calls := -fno-pie -no-pie
PROGRAM_region_calls := -fno-pie -no-pie
PROGRAM_static := -static
$(STATIC_PROGRAMS): $(T)/programs/static_%: tests/programs/%.c
	@mkdir -p $(@D)
	$(call run,CC,$(CC) -std=gnu11 $(TEST_WARN) $(PROGRAM_FLAGS) -static -o $@ $<)
# So that libstep.so finds its function.
PROGRAM_coexist := -rdynamic
# So that the library's walks come to it.
PROGRAM_fork_in_walk := -rdynamic
# And the library its dl_iterate_phdr().
PROGRAM_marked := -rdynamic
PROGRAM_ctor := -L$(T)/programs -l:libctor.so -Wl,-rpath,'$$ORIGIN'
PROGRAM_marks_caliper := -L$(T)/programs -l:libothertool.so -Wl,-rpath,'$$ORIGIN'
PROGRAM_marks_pcontrol := $(PROGRAM_marks_caliper)
$(T)/programs/marks_caliper $(T)/programs/marks_pcontrol: | $(T)/programs/libothertool.so
$(T)/programs/ctor: | $(T)/programs/libctor.so
# With tail calls.
PROGRAM_call_paths := -O2 -L$(T)/programs -l:libcallee.so -Wl,-rpath,'$$ORIGIN'
$(T)/programs/call_paths: | $(T)/programs/libcallee.so

$(T)/programs/%: tests/programs/%.c
	@mkdir -p $(@D)
	$(call run,CC,$(CC) -std=gnu11 $(TEST_WARN) $(PROGRAM_FLAGS) -o $@ $< $(PROGRAM_$*))
$(T)/programs/%: tests/programs/%.cc
	@mkdir -p $(@D)
	$(call run,CXX,$(CXX) -std=c++14 -Wall -Wextra $(PROGRAM_FLAGS) -o $@ $< $(PROGRAM_$*))
$(T)/programs/%.so: tests/programs/%.c
	@mkdir -p $(@D)
	$(call run,CC,$(CC) -std=gnu11 $(TEST_WARN) $(PROGRAM_FLAGS) -fPIC -shared -o $@ $<)

-include $(UNIT_SRC:%.c=$(B)/%.d) $(B)/tests/tap/tap.d $(B)/tests/bench/merge.d
-include $(patsubst %,%.d,$(PROGRAMS))

.PHONY: check-unit test-programs bench-run
test-programs: $(PROGRAMS)
check-unit: $(UNIT)
	$(PROVE) $(PROVE_FLAGS) $(UNIT)

# The parts, and the engines on small programs: two minutes.
FAST := groups markers sim-regions perf-software formats errors exits command accounts several-outputs openmp
FAST_TESTS := $(UNIT) $(sort $(wildcard tests/groups/*.t tests/hook/*.t)) $(FAST:%=tests/e2e/%.t)
# Ten seconds of two processors or more each, and others look at the same room: not in `make check`.
# They begin first, so that at the end no processor waits for one of them.
LONG := sim/model e2e/html e2e/launchers e2e/coexistence e2e/reproducible sim/call-paths e2e/line-regions \
	e2e/line-matrix e2e/many-children e2e/descriptor-limits e2e/accessible sim/cachegrind sim/path-sums \
	e2e/sampled-profile e2e/call-paths e2e/exit-matrix e2e/compare e2e/sampled-simulation e2e/advice e2e/children \
	e2e/mpi-languages sim/native e2e/mpi-ends sim/native-hidden e2e/calibrate e2e/confirm e2e/clones e2e/deps \
	e2e/sharing e2e/time-sample e2e/same-scripts e2e/html-runs e2e/churn e2e/what-if sim/profile e2e/clang \
	e2e/machines e2e/tail-calls e2e/one-minute e2e/faults e2e/mpi-ranks e2e/descriptors e2e/core-caps \
	e2e/cachegrind e2e/line-use e2e/sampled-parallel e2e/served e2e/cases e2e/dist sim/encodings e2e/false-sharing \
	sim/huge sim/sample e2e/tools-mpi e2e/time-group e2e/pytest e2e/json e2e/mpi-table e2e/region-scale \
	e2e/docs e2e/python-lines e2e/time-default e2e/sent-signals e2e/cache-orders e2e/prefetchers e2e/sampled-compare \
	e2e/coroutines e2e/sanitizers e2e/watch e2e/spins e2e/contended sim/programs e2e/native e2e/strings e2e/perf-data
LONG_TESTS := $(LONG:%=tests/%.t)
MORE_TESTS := $(filter-out $(FAST_TESTS) $(LONG_TESTS),$(sort $(wildcard tests/sim/*.t tests/e2e/*.t)))

# Tests that call make start afresh, without the settings of this one.
TESTED := env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u MAKEOVERRIDES B='$(B)' CC='$(CC)' LC_ALL=C
TESTED_PROGRAMS := $(UNIT) $(EVALUATE) $(PROGRAMS) $(SIM_TEST_PROGRAMS)
# run_tests FILES: and then looks at all reports that they made.
define run_tests
	@rm -rf $(T)/reports && mkdir -p $(T)/reports
	$(TESTED) PEEK_REPORTS='$(abspath $(T)/reports)' $(PROVE) $(PROVE_FLAGS) $1
	/usr/bin/python3 tests/validate.py doc $(T)/reports
endef

.PHONY: check-run check-fast-run check-rest-run
check-run: all $(TESTED_PROGRAMS)
	$(call run_tests,$(FAST_TESTS) $(MORE_TESTS))
check-fast-run: all $(TESTED_PROGRAMS)
	$(call run_tests,$(FAST_TESTS))
check-rest-run: all $(TESTED_PROGRAMS)
	$(call run_tests,$(LONG_TESTS) $(MORE_TESTS))

# On another release of Debian than CI's own, with tests/release.sh: what hangs on the compiler, the C library,
# Valgrind and MPI of a release, and what users see first.
RELEASE := sharing diff time-loops function-patches function-names newer-calls same-tools outputs trust \
	mpi mpi-languages tools-mpi perf-data python-lines
RELEASE_SIM := native encodings ahead-ports
.PHONY: check-release-run
check-release-run: all $(TESTED_PROGRAMS)
	$(TESTED) $(PROVE) $(PROVE_FLAGS) $(sort $(FAST_TESTS) $(RELEASE_SIM:%=tests/sim/%.t) $(RELEASE:%=tests/e2e/%.t))

# Programs of the distribution; REAL names some of them (REAL=nginx).
REAL ?= $(sort $(wildcard tests/real/*.t))
.PHONY: check-real-run
check-real-run: all $(PROGRAMS)
	@rm -rf $(T)/real-reports && mkdir -p $(T)/real-reports
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u MAKEOVERRIDES \
		B='$(B)' LC_ALL=C PEEK_REPORTS='$(abspath $(T)/real-reports)' \
		$(PROVE) $(PROVE_FLAGS) $(foreach r,$(REAL),$(if $(filter %.t,$r),$r,tests/real/$r.t))
	/usr/bin/python3 tests/validate.py doc $(T)/real-reports

bench-run: all $(PROGRAMS) $(MERGE_BENCH)
	@for script in $(sort $(wildcard tests/bench/*.sh)); do \
		echo "== $$script"; B='$(B)' bash $$script || exit 1; echo; \
	done

# An hour or more; symbols.sh and debian.sh need the network.  SUITES names some of them; SUITES_WORK keeps
# sources and logs.  SUITES_TABLE=doc/validation.md brings the table there up to date.
SUITES_WORK ?= $(B)/suites
.PHONY: check-suites-run
check-suites-run: all test-programs vm-prepare-amd64
	env LC_ALL=C VM='$(VM)' VM_NATIVE_SEEDS=2 VM_NATIVE_SECONDS=5400 prove tests/suites/amd64.t
	$(MAKE) lint LINT_STATES=225000
	$(MAKE) deb
	$(MAKE) B='$(B)/clang' CC=clang CI=1 all
	@[ "$$(id -u)" = 0 ] || echo 'check-suites: other releases of Debian are tried as root only'
	[ "$$(id -u)" != 0 ] || tests/release.sh trixie '$(SUITES_WORK)/trixie' 'build check ci deb' check deb
	[ "$$(id -u)" != 0 ] || tests/release.sh forky '$(SUITES_WORK)/forky' 'build check ci deb' check deb
	B='$(B)' WORK='$(SUITES_WORK)' tests/suites/native.sh
	B='$(B)' PEEK_TIMEOUT=1800 prove tests/suites/criterion.t
	B='$(B)' prove tests/suites/kcachegrind.t
	CACHEGRIND_ALL=1 CACHEGRIND_TABLE=$(SUITES_TABLE) prove tests/sim/cachegrind.t
	CALLGRIND_ALL=1 CALLGRIND_TABLE=$(SUITES_TABLE) CALLGRIND_SOURCES='$(SUITES_WORK)/symbols' prove tests/sim/callgrind.t
	CALLGRIND_ALL=1 prove tests/e2e/line-regions.t tests/e2e/function-regions.t tests/sim/call-paths.t
	BUILD_TARGET=all prove tests/e2e/build.t
	REPRODUCIBLE_ALL=1 prove tests/e2e/reproducible.t
	GATE_RUNS=100 prove tests/e2e/gate.t
	B='$(B)' tests/suites/python.sh
	B='$(B)' ENGINE=sim tests/suites/python.sh
	B='$(B)' tests/suites/stress-ng.sh
	B='$(B)' WORK='$(SUITES_WORK)' tests/suites/debian.sh $(SUITES)
	tests/suites/table.py '$(SUITES_WORK)' $(SUITES_TABLE)
