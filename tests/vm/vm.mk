# SPDX-License-Identifier: MIT
# The emulated bench: the library as it is, cross-compiled, under a real kernel
# and its PMU driver.  Everything lies in $(VM)/ARCH; tests/vm/ARCH.t explains.

VM := $(B)/vm
VM_ARCHES := arm64 riscv64
VM_CC_arm64 := aarch64-linux-gnu
VM_CC_riscv64 := riscv64-linux-gnu
VM_LOADER_arm64 := ld-linux-aarch64.so.1
VM_LOADER_riscv64 := ld-linux-riscv64-lp64d.so.1
# AArch64's instructions are on arm64 only.
VM_PROGRAM_SRC := $(filter-out $(if $(filter arm64,$(VM_ARCH)),,%/vm_encodings.c %/vm_functions.c %/vm_sve.c),$(wildcard tests/vm/programs/*.c))

.PHONY: check-vm-run $(VM_ARCHES:%=vm-prepare-%) vm-prepare-amd64 vm-native vm-machine vm-library vm-tool
check-vm-run: $(VM_ARCHES:%=vm-prepare-%)
	env LC_ALL=C VM='$(VM)' $(PROVE) -j2 $(sort $(wildcard tests/vm/*.t))

# The machine, or why there is none.
$(VM_ARCHES:%=vm-prepare-%): vm-prepare-%:
	@sh tests/vm/prepare.sh $(VM)/$* $*
	@[ -e $(VM)/$*/missing ] || env -u MAKEFLAGS -u MFLAGS \
		$(MAKE) --no-print-directory B='$(B)' VM_ARCH=$* vm-machine

# The rest is for one VM_ARCH.
VM_DIR := $(VM)/$(VM_ARCH)
VM_ROOT := $(VM_DIR)/root
VM_TRIPLE := $(VM_CC_$(VM_ARCH))
VM_PROGRAMS := $(patsubst %.c,$(VM_ROOT)/bin/%,$(notdir $(VM_PROGRAM_SRC)))

# Objects beside the library there; functions are not patched on riscv64.
VM_OBJECTS := $(addprefix libcachepeek/,encoder.so reporter $(if $(filter arm64,$(VM_ARCH)),patcher.so))

# The Makefile itself builds for another machine; -B is where libpfm.a is found.
# Which files are old, it knows better than we do.
VM_MAKE = $(MAKE) --no-print-directory B=$(VM_DIR)/build OBJCOPY=$(VM_TRIPLE)-objcopy \
	CC='$(VM_TRIPLE)-gcc -B$(abspath $(VM_DIR))/debian/usr/lib/$(VM_TRIPLE)/' \
	CFLAGS='-O2 -g -isystem $(abspath $(VM_DIR))/include'
vm-library:
	@mkdir -p $(VM_DIR)/include
	@ln -sfn /usr/include/valgrind $(VM_DIR)/include/valgrind
	@ln -sfn $(abspath $(VM_DIR))/debian/usr/include/perfmon $(VM_DIR)/include/perfmon
	@ln -sfn /usr/include/libiberty $(VM_DIR)/include/libiberty
	@$(VM_MAKE) $(addprefix $(VM_DIR)/build/,libcachepeek.so libcachepeek/data $(VM_OBJECTS))

$(VM_ROOT)/bin/%: tests/vm/programs/%.c tests/vm/programs/loop.h regions/cachepeek.h
	@mkdir -p $(@D)
	$(call run,CC,$(VM_TRIPLE)-gcc -std=gnu11 -O1 -g -I. -Iregions -Itests/programs -I$(VM_DIR)/include \
		-D_GNU_SOURCE -pthread -fexceptions -o $@ $<)
$(VM_ROOT)/init: tests/vm/init.c
	@mkdir -p $(@D)
	$(call run,CC,$(VM_TRIPLE)-gcc -std=gnu11 -Os -static -s -D_GNU_SOURCE -o $@ $<)

# The simulated PMU, against the libraries and headers of the other Valgrind.
VM_DEBIAN := $(abspath $(VM_DIR))/debian/usr
VM_TOOL := $(addprefix $(VM_DIR)/build/libcachepeek/,cachepeek-arm64-linux vgpreload_core-arm64-linux.so default.supp)
vm-tool: vm-library
	@$(VM_MAKE) VALGRIND_INCLUDE=$(VM_DEBIAN)/include/valgrind VALGRIND_LIBEXEC=$(VM_DEBIAN)/libexec/valgrind \
		VALGRIND_LIBDIR=$(VM_DEBIAN)/lib/$(VM_TRIPLE)/valgrind sim
	@mkdir -p $(VM_ROOT)/lib/libcachepeek
	@cp $(VM_TOOL) $(VM_ROOT)/lib/libcachepeek

vm-machine: vm-library $(if $(filter arm64,$(VM_ARCH)),vm-tool) $(VM_ROOT)/init $(VM_PROGRAMS)
	@cd $(VM_ROOT) && mkdir -p lib/libcachepeek proc sys dev tmp
	@cp -L $(addprefix /usr/$(VM_TRIPLE)/lib/,$(VM_LOADER_$(VM_ARCH)) libc.so.6 libgcc_s.so.1) $(VM_ROOT)/lib
	@$(VM_TRIPLE)-strip -o $(VM_ROOT)/lib/libcachepeek.so $(VM_DIR)/build/libcachepeek.so
	@mkdir -p $(VM_ROOT)/lib/libcachepeek && cp $(VM_DIR)/build/libcachepeek/data $(VM_ROOT)/lib/libcachepeek
	@for object in $(VM_OBJECTS); do $(VM_TRIPLE)-strip -o $(VM_ROOT)/lib/$$object $(VM_DIR)/build/$$object || exit 1; done
	@cd $(VM_ROOT) && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0 | gzip -1 > ../initramfs.gz

# For tests/suites/amd64.t: an emulated processor that has what this one may lack, with this
# machine's libraries, the simulated PMU, and the programs of tests/sim/native: those of compilers are built for it.
VM_NATIVE := $(VM)/amd64
VM_NATIVE_ROOT := $(VM_NATIVE)/root
VM_NATIVE_PROGRAMS := $(addprefix $(B)/sim/native_,fuzz state flags rounding lacking counts)
VM_NATIVE_LIBRARIES := ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libmvec.so.1 libgcc_s.so.1
VM_NATIVE_COMPANIONS := encoder.so reporter
VM_NATIVE_COMPILERS := gcc clang
VM_NATIVE_PROCESSORS := skylake-avx512
VM_NATIVE_SEEDS_GENERATED := 24 25 26
VM_NATIVE_LOOPS := kernels $(VM_NATIVE_SEEDS_GENERATED:%=generated%)
VM_NATIVE_BUILT := $(VM_NATIVE)/built/level $(foreach p,$(VM_NATIVE_LOOPS),$(foreach c,$(VM_NATIVE_COMPILERS),\
	$(VM_NATIVE_PROCESSORS:%=$(VM_NATIVE)/built/$p.$c.%)))
# Programs of the distribution that choose their code by the processor, and can be built.
VM_NATIVE_CHOOSE := sealed dgemm json
VM_LIBRARY_sealed := -lcrypto
VM_LIBRARY_dgemm := -lopenblas
VM_LIBRARY_json := -lsimdjson
VM_GENERATED ?= 70
# The emulator refuses indices in zmm16 to zmm31, which a processor takes; clang cannot be kept from them.
VM_KEPT_OUT := $(foreach n,16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31,-ffixed-xmm$n)
VM_LEVEL := -Wl,-z,x86-64-v4
vm-prepare-amd64:
	@sh tests/vm/prepare.sh $(VM_NATIVE) amd64
	@[ -e $(VM_NATIVE)/missing ] || env -u MAKEFLAGS -u MFLAGS \
		$(MAKE) --no-print-directory B='$(B)' vm-native

# Programs of loops, for each compiler and processor: $(1).$(2).$(3).
$(VM_NATIVE)/built:
	@mkdir -p $@
$(VM_NATIVE)/built/kernels.c: tests/sim/native/kernels.c | $(VM_NATIVE)/built
	@cp $< $@
$(VM_NATIVE)/built/generated%.c: tests/sim/native/generate.pl tests/vm/vm.mk | $(VM_NATIVE)/built
	@perl $< $* $(VM_GENERATED) > $@
define VM_BUILD
$(VM_NATIVE)/built/$(1).$(2).$(3): $(VM_NATIVE)/built/$(1).c
	$$(call run,CC,$(2) -O3 -w -fwrapv -fno-math-errno -fno-trapping-math -march=$(3) -mprefer-vector-width=512 \
		$(if $(filter kernels,$(1)),-ffast-math,$(if $(filter gcc,$(2)),$(VM_KEPT_OUT))) -o $$@ $$< -lm)
endef
$(foreach p,$(VM_NATIVE_LOOPS),$(foreach c,$(VM_NATIVE_COMPILERS),$(foreach m,$(VM_NATIVE_PROCESSORS),\
	$(eval $(call VM_BUILD,$p,$c,$m)))))
# Its loader starts it on a processor with AVX-512 only.
$(VM_NATIVE)/built/level: tests/programs/empty.c | $(VM_NATIVE)/built
	$(call run,CC,gcc -O1 -w $(VM_LEVEL) -o $@ $<)

# With what they are linked with, but for what lies there already.
define VM_CHOOSE
	@if $(if $(filter json,$(1)),g++,gcc) -O2 -w -o $(VM_NATIVE_ROOT)/bin/$(1) tests/suites/native/$(1).c* $(VM_LIBRARY_$(1)) 2> /dev/null; then \
		for library in $$(ldd $(VM_NATIVE_ROOT)/bin/$(1) | sed -n 's/.*=> \([^ ]*\) .*/\1/p'); do \
			cp -Ln $$library $(VM_NATIVE_ROOT)/lib/x86_64-linux-gnu || exit 1; \
		done; \
	else rm -f $(VM_NATIVE_ROOT)/bin/$(1); fi

endef
vm-native: all $(VM_NATIVE_PROGRAMS) $(VM_NATIVE_BUILT)
	@rm -rf $(VM_NATIVE_ROOT) && mkdir -p $(VM_NATIVE_ROOT) && cd $(VM_NATIVE_ROOT) && \
		mkdir -p bin lib64 lib/libcachepeek lib/x86_64-linux-gnu proc sys dev tmp
	@gcc -std=gnu11 -Os -static -s -D_GNU_SOURCE -o $(VM_NATIVE_ROOT)/init tests/vm/init.c
	@cp $(VM_NATIVE_PROGRAMS) $(VM_NATIVE_BUILT) $(VM_NATIVE_ROOT)/bin
	@cp $(SIM_CORE) $(VM_NATIVE_ROOT)/lib/libcachepeek
	@cp $(DATA) $(VM_NATIVE_ROOT)/lib/libcachepeek
	@for object in libcachepeek.so $(addprefix libcachepeek/,$(notdir $(SIM)) $(VM_NATIVE_COMPANIONS)); do \
		strip -o $(VM_NATIVE_ROOT)/lib/$$object $(B)/$$object || exit 1; \
	done
	@for name in $(VM_NATIVE_LIBRARIES); do \
		cp -L "$$(gcc -print-file-name=$$name)" $(VM_NATIVE_ROOT)/lib/x86_64-linux-gnu || exit 1; \
	done
	$(foreach p,$(VM_NATIVE_CHOOSE),$(call VM_CHOOSE,$p))
	@perl -e 'srand(24); print "[", join(",", map { my $$w = "w" x rand(30); qq({"id": $$_, "of": "\\u00e9$$w", "x": @{[rand(1e6)]}}) } 1 .. 300), "]"' > \
		$(VM_NATIVE_ROOT)/bin/document.json
	@ln -s ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 $(VM_NATIVE_ROOT)/lib64
	@cd $(VM_NATIVE_ROOT) && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0 | gzip -1 > ../initramfs.gz
