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
VM_PROGRAM_SRC := $(filter-out $(if $(filter arm64,$(VM_ARCH)),,%/vm_encodings.c %/vm_functions.c),$(wildcard tests/vm/programs/*.c))

.PHONY: check-vm-run $(VM_ARCHES:%=vm-prepare-%) vm-machine vm-library vm-tool
check-vm-run: $(VM_ARCHES:%=vm-prepare-%)
	env LC_ALL=C VM='$(VM)' $(PROVE) $(sort $(wildcard tests/vm/*.t))

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

# What lies beside the library there; functions are not patched on riscv64.
VM_OBJECTS := $(addprefix libcachepeek/,encoder.so $(if $(filter arm64,$(VM_ARCH)),patcher.so))

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
	@$(VM_MAKE) $(addprefix $(VM_DIR)/build/,libcachepeek.so $(VM_OBJECTS))

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
	@for object in $(VM_OBJECTS); do $(VM_TRIPLE)-strip -o $(VM_ROOT)/lib/$$object $(VM_DIR)/build/$$object || exit 1; done
	@cd $(VM_ROOT) && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0 | gzip -1 > ../initramfs.gz
