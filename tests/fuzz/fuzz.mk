# SPDX-License-Identifier: MIT
# Fuzzing with libFuzzer: one program per reader, tests/fuzz/*.c.
#
#	make fuzz                       all of them, FUZZ_SECONDS in total
#	make fuzz FUZZ=record FUZZ_SECONDS=1800
#	make fuzz FUZZ_RUNS=5000        so many inputs each (20 times as many for
#	                                fast readers), the same in each run
#	make fuzz-coverage              lines of each reader that the corpus reaches
#
# Seeds are in tests/fuzz/seeds and among the data files; what is found goes to
# $(B)/fuzz/corpus, failures to $(B)/fuzz/*.failure.

FUZZ_SECONDS ?= 60
FUZZ_RUNS ?=
FUZZ_ALL := $(filter-out arena,$(notdir $(basename $(wildcard tests/fuzz/*.c))))
FUZZ ?= $(FUZZ_ALL)
# LLVM 14, as CI has it, or else the release's own.
FUZZ_LLVM = $(shell command -v clang-14 > /dev/null && echo -14)
FUZZ_CC = clang$(FUZZ_LLVM)
FUZZ_EACH = $(shell expr $(FUZZ_SECONDS) / $(words $(FUZZ)) + 1)
# A bool of a plan that was damaged may be any byte: it is taken for true.
FUZZ_FLAGS := -O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -fno-sanitize=bool
FUZZ_COVERAGE_FLAGS := -O1 -g -fprofile-instr-generate -fcoverage-mapping

# Inputs beside the seeds, and the files whose lines count for the coverage.
FUZZ_SEEDS_merge := tests/fuzz/seeds/record
FUZZ_SEEDS_group := output/groups
FUZZ_SEEDS_machine := $(wildcard base/machines)
FUZZ_SEEDS_preset := output/presets
FUZZ_LINES_record := regions/record_read.c
FUZZ_LINES_merge := output/report/job.c output/report/report_merge.c
FUZZ_LINES_group := output/metrics/group.c
FUZZ_LINES_formula := output/metrics/formula.c
FUZZ_LINES_preset := output/metrics/preset.c
FUZZ_LINES_machine := base/machine/file.c base/machine/level.c base/machine/prefetch.c base/machine/check.c
FUZZ_LINES_plan := base/counters/plan.c
FUZZ_LINES_options := base/counters/options.c
FUZZ_LINES_event := base/counters/encode.c
FUZZ_LINES_sysfs := base/counters/encode_sysfs.c
FUZZ_LINES_sinks := output/sink.c
FUZZ_LINES_report_json := tools/diff/values.c
FUZZ_LINES_profile_json := tools/profile/read_json.c
FUZZ_LINES_profile := tools/profile/model/read.c
FUZZ_LINES_samples := tools/profile/samples/samples_read.c
FUZZ_LINES_perf_map := tools/profile/model/jit.c

# In the second make, whose B and flags are those of one of the two builds.  No reader calls
# what these rooms have.
FUZZ_NOT := $(addsuffix /%,tools/runs tools/calibrate tools/compare tools/gate)
FUZZ_LIB := $(B)/libfuzzed.a
FUZZ_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out base/arena.c base/encoder/pfm% $(FUZZ_NOT),$(TEST_SRC))) \
	$(B)/tests/fuzz/arena.o $(B)/embedded.o
$(FUZZ_LIB): $(FUZZ_OBJ)
	@rm -f $@
	$(call run,AR,$(AR) rcs $@ $(FUZZ_OBJ))
$(B)/fuzz-%: $(B)/tests/fuzz/%.o $(FUZZ_LIB)
	$(call run,LD,$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_LIB) -l:libjansson.a -lm $(CLI_LIBS))
-include $(FUZZ_OBJ:.o=.d) $(FUZZ_ALL:%=$(B)/tests/fuzz/%.d)
.PHONY: fuzz-programs
fuzz-programs: $(FUZZ:%=$(B)/fuzz-%)
.SECONDARY: $(FUZZ_ALL:%=$(B)/tests/fuzz/%.o)

.PHONY: fuzz fuzz-build fuzz-coverage
fuzz-build:
	@$(MAKE) --no-print-directory B=$(B)/fuzz CC=$(FUZZ_CC) \
		CFLAGS="$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link" FUZZ='$(FUZZ)' fuzz-programs
# The finds of a chosen number of runs do not depend on what was found before.
FUZZ_CORPUS = $(B)/fuzz/$(if $(FUZZ_RUNS),fresh,corpus)
FUZZ_SLOW := group merge profile profile_json record report_json samples
FUZZ_MANY = $(shell expr $(FUZZ_RUNS) \* $(if $(filter $(FUZZ_SLOW),$(FUZZ)),1,20))
FUZZ_UNTIL = $(if $(FUZZ_RUNS),-seed=1 -runs=$(FUZZ_MANY),-max_total_time=$(FUZZ_EACH))
fuzz: fuzz-build ## run the fuzz targets for FUZZ_SECONDS (60) in total
	@rm -rf $(B)/fuzz/fresh
	@for target in $(FUZZ); do \
		mkdir -p $(FUZZ_CORPUS)/$$target; \
		$(MAKE) --no-print-directory -s fuzz-one FUZZ=$$target FUZZ_EACH=$(FUZZ_EACH) || exit 1; \
	done
.PHONY: fuzz-one
fuzz-one:
	@nice $(B)/fuzz/fuzz-$(FUZZ) $(FUZZ_UNTIL) -timeout=10 -rss_limit_mb=1024 \
		-print_final_stats=1 -verbosity=0 -artifact_prefix=$(B)/fuzz/$(FUZZ). \
		$(FUZZ_CORPUS)/$(FUZZ) $(wildcard tests/fuzz/seeds/$(FUZZ)) $(FUZZ_SEEDS_$(FUZZ)) \
		> $(B)/fuzz/$(FUZZ).log 2>&1 || { tail -40 $(B)/fuzz/$(FUZZ).log; exit 1; }
	@sed -n -e 's/^stat::number_of_executed_units: */$(FUZZ): executions: /p' \
		-e 's/^stat::beyond_the_first_check: */$(FUZZ): beyond the first check: /p' $(B)/fuzz/$(FUZZ).log

fuzz-coverage: ## print how much of each reader the fuzz corpus reaches
	@$(MAKE) --no-print-directory B=$(B)/fuzz-coverage CC=$(FUZZ_CC) \
		CFLAGS="$(FUZZ_COVERAGE_FLAGS)" FUZZ='$(FUZZ)' fuzz-programs
	@for target in $(FUZZ); do \
		$(MAKE) --no-print-directory -s fuzz-coverage-one FUZZ=$$target; \
	done
.PHONY: fuzz-coverage-one
fuzz-coverage-one:
	@mkdir -p $(B)/fuzz/corpus/$(FUZZ)
	@LLVM_PROFILE_FILE=$(B)/fuzz-coverage/$(FUZZ).raw $(B)/fuzz-coverage/fuzz-$(FUZZ) -runs=0 \
		$(B)/fuzz/corpus/$(FUZZ) $(wildcard tests/fuzz/seeds/$(FUZZ)) $(FUZZ_SEEDS_$(FUZZ)) \
		> $(B)/fuzz-coverage/$(FUZZ).log 2>&1
	@llvm-profdata$(FUZZ_LLVM) merge -o $(B)/fuzz-coverage/$(FUZZ).data $(B)/fuzz-coverage/$(FUZZ).raw
	@llvm-cov$(FUZZ_LLVM) report $(B)/fuzz-coverage/fuzz-$(FUZZ) \
		-instr-profile=$(B)/fuzz-coverage/$(FUZZ).data $(FUZZ_LINES_$(FUZZ)) 2> /dev/null | \
		awk '/^TOTAL/ { print "$(FUZZ): lines of $(FUZZ_LINES_$(FUZZ)): " $$10 }'
