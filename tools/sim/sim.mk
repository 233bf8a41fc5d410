# SPDX-License-Identifier: GPL-2.0-or-later
#
# The simulated PMU: a Valgrind tool built out of tree, against the libraries
# and headers of the distribution's valgrind package.  Included by the root
# Makefile; B is the build directory.

B ?= build
VALGRIND_INCLUDE ?= /usr/include/valgrind
VALGRIND_LIBEXEC ?= /usr/libexec/valgrind
# clang names a vendor, which no directory has.
SIM_TRIPLET := $(subst -pc-,-,$(subst -unknown-,-,$(shell $(CC) -dumpmachine 2>/dev/null)))
VALGRIND_LIBDIR ?= $(firstword $(wildcard /usr/lib/$(SIM_TRIPLET)/valgrind /usr/lib/valgrind))

SIM_ARCH := $(if $(filter aarch64%,$(SIM_TRIPLET)),arm64,amd64)
SIM_PLATFORM := $(SIM_ARCH)-linux
SIM_ARCHIVES := $(addprefix $(VALGRIND_LIBDIR)/,libcoregrind-$(SIM_PLATFORM).a libvex-$(SIM_PLATFORM).a)
SIM_DIR := $(B)/libcachepeek
SIM := $(SIM_DIR)/cachepeek-$(SIM_PLATFORM)
SIM_CORE := $(SIM_DIR)/vgpreload_core-$(SIM_PLATFORM).so $(SIM_DIR)/default.supp

# The table of the encodings that the host executes is made of a decoder's, if there is one:
# where the compiler finds it, which not every system's packages put into /usr/include.
SIM_DECODER_CFLAGS = $(filter -I% -isystem%,$(CPPFLAGS) $(CFLAGS))
SIM_DECODER_LIBS = $(filter -L% -Wl%,$(LDFLAGS)) -lZydis
SIM_DECODER := $(if $(filter amd64,$(SIM_ARCH)),$(shell $(CC) $(SIM_DECODER_CFLAGS) \
	-include Zydis/Zydis.h -E -x c /dev/null >/dev/null 2>&1 && echo Zydis))
SIM_TABLE := $(if $(SIM_DECODER),$(B)/sim/native_table.c)
SIM_NOT_BUILT := $(if $(SIM_TABLE),tools/sim/native/absent.c,\
	$(filter-out tools/sim/native/absent.c,$(wildcard tools/sim/native/*.c)))
SIM_SOURCES := $(patsubst tools/sim/%.c,%,$(filter-out $(SIM_NOT_BUILT),$(wildcard tools/sim/*.c tools/sim/*/*.c)))
SIM_HEADERS := $(wildcard tools/sim/*.h tools/sim/*/*.h)
SIM_OBJECTS := $(SIM_SOURCES:%=$(B)/sim/%.o) $(SIM_TABLE:.c=.o)

# Where variables are is half of the compiler's work on the model, and hardly known when that is optimised.
SIM_CFLAGS := -std=gnu11 -O2 -g1 -Wall -Wextra -Werror=implicit-function-declaration -Wno-gnu-variable-sized-type-not-at-end -MMD -MP -m64 -fno-builtin -fno-pie \
	-fno-stack-protector -fno-strict-aliasing -fomit-frame-pointer \
	-isystem $(VALGRIND_INCLUDE) -Itools/sim -I$(B)/sim -I. -DVGA_$(SIM_ARCH)=1 -DVGO_linux=1 \
	-DVGP_$(SIM_ARCH)_linux=1 -DVGPV_$(SIM_ARCH)_linux_vanilla=1
# Where Valgrind's own build puts its tools.
SIM_TEXT := $(if $(filter arm64,$(SIM_ARCH)),0x38000000,0x58000000)
# Functions of the core and of VEX that have one of ours in their place.
SIM_PARTS := all $(SIM_ARCH) $(if $(SIM_TABLE),table)
SIM_WRAPPED := $(foreach part,$(SIM_PARTS),$(shell sed -n 's/^wrap $(part) //p' tools/sim/valgrind/functions.list))
SIM_LDFLAGS := -static -nodefaultlibs -nostartfiles -u _start -no-pie -m64 \
	$(SIM_WRAPPED:%=-Wl,--wrap=%) -Wl,--build-id=none -Wl,-Ttext-segment=$(SIM_TEXT)
ifeq ($(SIM_ARCH),arm64)
SIM_CFLAGS := $(filter-out -m64,$(SIM_CFLAGS))
SIM_LDFLAGS := $(filter-out -m64,$(SIM_LDFLAGS))
endif

# gcc would compare stamps in vector registers, and move them there and back.
SIM_CFLAGS += $(shell $(CC) -mno-stv -E -x c /dev/null >/dev/null 2>&1 && echo -mno-stv)

.PHONY: sim
sim: $(SIM) $(SIM_CORE)

$(SIM): $(SIM_OBJECTS) | $(SIM_DIR)
	$(call run,LD,$(CC) $(SIM_LDFLAGS) -o $@ $(SIM_OBJECTS) $(SIM_ARCHIVES) -lgcc \
		$(wildcard $(VALGRIND_LIBDIR)/libgcc-sup-$(SIM_PLATFORM).a))
	@$(if $(SIM_TABLE)$(filter-out amd64,$(SIM_ARCH)),:,echo "sim: without libzydis-dev, AVX-512 and what else Valgrind lacks is not executed")

$(SIM_CORE): $(SIM_DIR)/%: $(VALGRIND_LIBEXEC)/% | $(SIM_DIR)
	$(call run,CP,cp $< $@)

# The parts that this Valgrind has; where it lacks what is needed, one line says so.
SIM_FOUND := $(B)/sim/valgrind/found.h
SIM_FIND := $(addprefix tools/sim/valgrind/,find.sh functions.list names.list)
$(SIM_FOUND): $(SIM_FIND) $(wildcard $(SIM_ARCHIVES) $(VALGRIND_INCLUDE)/*.h) $(B)/flags
	@mkdir -p $(@D)
	$(call run,FIND,sh $< '$(CC)' $(VALGRIND_INCLUDE) $(SIM_ARCH) $(SIM_ARCHIVES) -- $(SIM_PARTS) > $@)

$(B)/sim/%.o: tools/sim/%.c | $(B)/sim $(B)/flags $(SIM_FOUND)
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(SIM_CFLAGS) -c -o $@ $<)

$(B)/sim/native_table.o: $(B)/sim/native_table.c
	$(call run,CC,$(CC) $(SIM_CFLAGS) -c -o $@ $<)

$(B)/sim/native_table.c: $(B)/sim/make_native_table
	$(call run,GEN,$< > $@)

$(B)/sim/make_native_table: $(wildcard tools/sim/native/table/*.[ch]) tools/sim/native/shape.h tools/sim/native/features.h | $(B)/sim
	$(call run,CC,$(CC) -std=gnu11 -O1 -g -Wall -Wextra -I. $(SIM_DECODER_CFLAGS) -o $@ $(filter %.c,$^) $(SIM_DECODER_LIBS))

$(SIM_DIR) $(B)/sim:
	@mkdir -p $@

-include $(SIM_OBJECTS:.o=.d)

# Encodings of x86-64, by a decoder.
SIM_ENCODINGS := $(if $(SIM_DECODER),$(B)/sim/encodings)

# Programs that need what VEX does not decode.
SIM_NATIVE_PROGRAMS := $(if $(SIM_TABLE),$(addprefix $(B)/sim/native_,fuzz state counts rounding flags hints lacking missing))

SIM_AHEAD_TESTS := $(addprefix ahead_,test branches_test random_test lines_test ports_test units_test)

# The programs that tests/sim/*.t run.
SIM_TEST_PROGRAMS := $(SIM_ENCODINGS) $(SIM_NATIVE_PROGRAMS) $(addprefix $(B)/sim/,client threads matmul huge lines model_test model_stress sweep_test sampled places \
	timing_test timing_random_test $(SIM_AHEAD_TESTS) log_test room_test flows_test flow_values_test latency_test carried_test)
SIM_MODEL := $(wildcard tools/sim/model/*.c tools/sim/flex/*.c) $(addprefix tools/sim/machines/,front.c front_lines.c ahead_front.c) tests/sim/host.c
SIM_DUEL := $(addprefix tests/sim/,model_test.c duel.c model_machines.c model_pick.c \
	reference.c reference_cache.c reference_lines.c reference_fetch.c reference_prefetch.c \
	reference_orders.c laws.c)
SIM_TEST_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Itools/sim -I.
SIM_STRESS := -DDATA_FILTER=64 -DCODE_FILTER=64 -DCLOCK_LIMIT=2000 -DOUTER_CLOCK_LIMIT=3000

.PHONY: sim-tests
sim-tests: sim $(SIM_TEST_PROGRAMS)

$(B)/sim/client: tests/sim/client.c tools/sim/request.h | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -falign-loops=64 -o $@ $< -pthread)

$(B)/sim/encodings: tests/sim/encodings.c tools/sim/request.h | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) $(SIM_DECODER_CFLAGS) -o $@ $< $(SIM_DECODER_LIBS))

$(B)/sim/native_fuzz: tests/sim/native/fuzz.c $(SIM_TABLE) tests/sim/native/chance.h | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $(filter %.c,$^))

$(B)/sim/native_rounding $(B)/sim/native_lacking $(B)/sim/native_missing: $(B)/sim/native_%: tests/sim/native/%.c tests/sim/native/chance.h | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $<)

$(B)/sim/native_flags $(B)/sim/native_hints: $(B)/sim/native_%: tests/sim/native/%.c | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $< -pthread)

$(B)/sim/native_state: tests/sim/native/state.c | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $< -pthread -lmvec -lm)

$(B)/sim/native_counts: tests/sim/native/counts.c tools/sim/request.h | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $<)

$(B)/sim/huge: tests/sim/huge.c tools/sim/request.h | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $<)

$(B)/sim/threads $(B)/sim/places $(B)/sim/lines: $(B)/sim/%: tests/sim/%.c | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $< -pthread)

$(B)/sim/matmul: tests/bench/matmul.c | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $<)

$(B)/sim/sampled: tests/sim/sampled.c tools/profile/model/estimate.c base/engine/period.c \
		tools/profile/model/estimate.h base/engine/period.h | $(B)/sim
	$(call run,CC,$(CC) -std=gnu11 -O2 -g -Wall -Wextra -I. -o $@ $(filter %.c,$^) -lm)
# Sanitizers make compiling the model slow; less of it is spent on what they do not need.
SIM_SANITIZE := -O1 -g1 -DFEW_SHAPES -fsanitize=address,undefined
$(B)/sim/model_stress: $(SIM_DUEL) $(SIM_MODEL) $(SIM_HEADERS) $(wildcard tests/sim/*.h) | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) $(SIM_STRESS) $(SIM_SANITIZE) -o $@ $(filter %.c,$^))
# The model's objects are those that the tool has.
$(B)/sim/model_test: $(SIM_DUEL) tests/sim/host.c $(patsubst tools/sim/%.c,$(B)/sim/%.o,$(filter tools/sim/%,$(SIM_MODEL))) \
		$(SIM_HEADERS) $(wildcard tests/sim/*.h)
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -no-pie -o $@ $(filter %.c %.o,$^))

# These programs share the model's objects.
SIM_SANITIZED := $(SIM_MODEL:%.c=$(B)/sim/sanitized/%.o)
$(SIM_SANITIZED): $(B)/sim/sanitized/%.o: %.c $(SIM_HEADERS) $(wildcard tests/sim/*.h)
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) $(SIM_SANITIZE) -c -o $@ $<)
# Tests of the instrumentation, without Valgrind's core.
$(B)/sim/flows_test $(B)/sim/flow_values_test: $(B)/sim/%: tests/sim/%.c tests/tap/tap.c $(SIM_HEADERS) \
		$(wildcard tests/tap/*.h tests/sim/*.h) \
		$(addprefix tools/sim/instrument/,carried.c flow_keep.c flows.c latency.c waits.c) $(SIM_FOUND) | $(B)/sim
	$(call run,CC,$(CC) $(filter-out -MMD -MP -fno-builtin -fno-pie,$(SIM_CFLAGS)) -o $@ $(filter %.c,$^))
$(B)/sim/latency_test: tests/sim/latency_test.c tests/tap/tap.c $(SIM_HEADERS) $(wildcard tests/tap/*.h) \
		tools/sim/instrument/latency.c $(SIM_FOUND) | $(B)/sim
	$(call run,CC,$(CC) $(filter-out -MMD -MP -fno-builtin -fno-pie,$(SIM_CFLAGS)) -o $@ $(filter %.c,$^))
$(B)/sim/carried_test: tests/sim/carried_test.c tests/tap/tap.c $(SIM_HEADERS) $(wildcard tests/tap/*.h) \
		tools/sim/instrument/carried.c | $(B)/sim
	$(call run,CC,$(CC) $(filter-out -MMD -MP -fno-builtin -fno-pie,$(SIM_CFLAGS)) -o $@ $(filter %.c,$^))
$(B)/sim/room_test: tests/sim/room_test.c tests/tap/tap.c $(SIM_HEADERS) $(wildcard tests/tap/*.h tests/sim/*.h) | $(B)/sim
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) -o $@ $(filter %.c,$^))
$(addprefix $(B)/sim/,ahead_test ahead_branches_test ahead_random_test): tests/sim/ahead_trace.c
$(addprefix $(B)/sim/,sweep_test timing_test timing_random_test $(SIM_AHEAD_TESTS) log_test): $(B)/sim/%: tests/sim/%.c tests/tap/tap.c \
		$(SIM_SANITIZED) $(wildcard tests/tap/*.h tests/sim/*.h)
	$(call run,CC,$(CC) $(SIM_TEST_CFLAGS) $(SIM_SANITIZE) -o $@ $(filter %.c %.o,$^) -pthread -lm)
