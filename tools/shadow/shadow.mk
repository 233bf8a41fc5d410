# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shadows: the simulated PMU's instrumentation and model, once more, in an object that
# the library loads into the program.  Included by the root Makefile, after sim.mk.

# libVEX itself, which Valgrind's package has for those who build tools.
SHADOW_VEX := $(wildcard $(VALGRIND_LIBDIR)/libvex-amd64-linux.a)
SHADOW := $(if $(filter amd64,$(SIM_ARCH)),$(if $(SHADOW_VEX),$(SIM_DIR)/shadow.so))
# Of tools/sim/native, what a program's own handlers of signals and its flags of floating point
# take is left out: a shadow has no handlers, and its flags are not looked at.
SHADOW_NATIVE := $(addprefix tools/sim/native/,code.c decode.c host.c missing.c native.c \
	rounding.c sparse.c spelling.c stub.c upper.c)
SHADOW_FILES := $(filter-out $(addprefix tools/shadow/,$(if $(SIM_TABLE),no_native.c,native.c saved.c)), \
	$(wildcard tools/shadow/*.c))
SHADOW_SHARED := $(wildcard tools/sim/model/*.c tools/sim/flex/*.c tools/sim/machines/*.c) \
	$(addprefix tools/sim/instrument/,instrument.c settle.c batches.c pieces.c floats.c \
		overwritten.c timed.c carried.c flow_keep.c flows.c latency.c own_code.c translate.c waits.c) \
	$(if $(SIM_TABLE),$(SHADOW_NATIVE),tools/sim/native/absent.c) tools/sim/machine_options.c
SHADOW_OBJECTS := $(patsubst %.c,$(B)/shadow/%.o,$(SHADOW_FILES) $(SHADOW_SHARED)) $(B)/shadow/run.o \
	$(if $(SIM_TABLE),$(B)/shadow/native_table.o)
# Batches outlive the shadow that makes them: not in memory of its own.
SHADOW_CFLAGS := $(filter-out -fno-pie,$(SIM_CFLAGS)) -fPIC -fvisibility=hidden \
	-ffunction-sections -DPOOL=0
# Where guest_RIP is in VEX's state; the dispatcher is no C, and registers.c checks it.
SHADOW_CFLAGS += -DSHADOW_GUEST_RIP=184

$(B)/shadow/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(SHADOW_CFLAGS) -c -o $@ $<)

$(B)/shadow/native_table.o: $(B)/sim/native_table.c
	@mkdir -p $(@D)
	$(call run,CC,$(CC) $(SHADOW_CFLAGS) -c -o $@ $<)

$(B)/shadow/run.o: tools/shadow/run.S | $(B)/flags
	@mkdir -p $(@D)
	$(call run,AS,$(CC) $(filter -D%,$(SHADOW_CFLAGS)) -c -o $@ $<)

# Functions of VEX that have one of ours in their place.
SHADOW_WRAPPED := LibVEX_Translate vex_assert_fail vpanic vex_printf \
	$(if $(SIM_TABLE),disInstr_AMD64 amd64g_dirtyhelper_CPUID_avx2)
# Only what is needed of libgcc, and nothing of libc.
SHADOW_LDFLAGS := $(SHADOW_WRAPPED:%=-Wl,--wrap=%) -shared -nostdlib -Wl,-Bsymbolic -Wl,--gc-sections \
	-Wl,-z,now -Wl,-z,defs -Wl,--exclude-libs,ALL
$(SHADOW): $(SHADOW_OBJECTS) $(SHADOW_VEX) | $(SIM_DIR)
	$(call run,LD,$(CC) $(SHADOW_LDFLAGS) -o $@ $(SHADOW_OBJECTS) $(SHADOW_VEX) -lgcc)

-include $(SHADOW_OBJECTS:.o=.d)
