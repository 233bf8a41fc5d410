# SPDX-License-Identifier: MIT
# The emulated bench: the library as it is, cross-compiled, under a real arm64
# kernel and its PMU driver.  Everything lies in $(VM); check.t explains.

VM := $(B)/vm
VM_ARCH := aarch64-linux-gnu
VM_B := $(VM)/arm64
VM_LIBC ?= /usr/$(VM_ARCH)/lib
VM_PROGRAM_SRC := $(wildcard tests/vm/programs/*.c) tests/programs/region_pages.c
VM_PROGRAMS := $(patsubst %.c,$(VM)/root/bin/%,$(notdir $(VM_PROGRAM_SRC)))
vpath %.c tests/vm/programs tests/programs

.PHONY: check-vm-run vm-library vm-initramfs
check-vm-run:
	@sh tests/vm/prepare.sh $(VM)
	@[ -e $(VM)/missing ] || env -u MAKEFLAGS -u MFLAGS $(MAKE) --no-print-directory B='$(B)' vm-initramfs
	env LC_ALL=C VM='$(VM)' $(PROVE) tests/vm/check.t

# The Makefile itself builds for arm64; -B is where libpfm.a is found.  Which
# files are old, it knows better than we do.
vm-library:
	@mkdir -p $(VM)/include
	@ln -sfn /usr/include/valgrind $(VM)/include/valgrind
	@ln -sfn $(abspath $(VM))/arm64-root/usr/include/perfmon $(VM)/include/perfmon
	@$(MAKE) --no-print-directory B=$(VM_B) OBJCOPY=$(VM_ARCH)-objcopy \
		CC='$(VM_ARCH)-gcc -B$(abspath $(VM))/arm64-root/usr/lib/$(VM_ARCH)/' \
		CFLAGS='-O2 -g -isystem $(abspath $(VM))/include' \
		$(VM_B)/libcachepeek.so $(VM_B)/cachepeek/encoder.so

$(VM)/root/bin/%: %.c tests/vm/programs/loop.h
	@mkdir -p $(@D)
	$(call run,CC,$(VM_ARCH)-gcc -std=gnu11 -O1 -g -I. -Iregions -Itests/programs \
		-D_GNU_SOURCE -pthread -o $@ $<)
$(VM)/root/init: tests/vm/init.c
	@mkdir -p $(@D)
	$(call run,CC,$(VM_ARCH)-gcc -std=gnu11 -Os -static -s -D_GNU_SOURCE -o $@ $<)

vm-initramfs: vm-library $(VM)/root/init $(VM_PROGRAMS)
	@cd $(VM)/root && mkdir -p lib/cachepeek proc sys dev tmp
	@cp -L $(VM_LIBC)/ld-linux-aarch64.so.1 $(VM_LIBC)/libc.so.6 $(VM)/root/lib
	@$(VM_ARCH)-strip -o $(VM)/root/lib/libcachepeek.so $(VM_B)/libcachepeek.so
	@$(VM_ARCH)-strip -o $(VM)/root/lib/cachepeek/encoder.so $(VM_B)/cachepeek/encoder.so
	@cd $(VM)/root && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0 | gzip -1 > ../initramfs.gz
