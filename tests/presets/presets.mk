# SPDX-License-Identifier: MIT
# The preset files against the libpfm4 of other architectures: check.c, static,
# one program for each, run by qemu-user.  Everything lies in $(PRESETS).

PRESETS := $(B)/presets
PRESETS_SRC := tests/presets/check.c tools/list/presets_check.c output/metrics/preset.c base/text/words.c \
	base/encoder/pfm.c base/env.c base/arena.c base/escape.c base/embedded.c base/decimal.c base/format.c \
	base/map.c base/text.c base/encoder/compiled_in.c
# Code that is not called may name what is not linked.
PRESETS_LINK := -Wl,--gc-sections
PRESETS_i386 := i686-linux-gnu i386-linux-gnu
PRESETS_arm64 := aarch64-linux-gnu aarch64-linux-gnu
PRESETS_armhf := arm-linux-gnueabihf arm-linux-gnueabihf
PRESETS_ppc64el := powerpc64le-linux-gnu powerpc64le-linux-gnu

.PHONY: check-presets-run presets-programs
check-presets-run: $(CLI)
	@sh tests/presets/prepare.sh $(PRESETS)
	@[ -e $(PRESETS)/missing ] || env -u MAKEFLAGS -u MFLAGS $(MAKE) --no-print-directory B='$(B)' presets-programs
	env LC_ALL=C B='$(B)' $(PROVE) tests/presets/check.t

presets-programs: $(foreach a,i386 arm64 armhf ppc64el,$(PRESETS)/check-$a)

# libpfm4's own headers hold zero-size arrays and wide enumerators.
$(PRESETS)/check-%: $(PRESETS_SRC) $(B)/embedded.S tools/list/presets_check.h output/metrics/preset.h base/encoder/pfm.h
	$(call run,CC,$(word 1,$(PRESETS_$*))-gcc -static -std=gnu11 -O1 -ffunction-sections $(PRESETS_LINK) $(filter-out -Wpedantic,$(WARN)) \
		-D_GNU_SOURCE -I. -isystem $(PRESETS)/$*/usr/include -o $@ $(PRESETS_SRC) $(B)/embedded.S \
		$(PRESETS)/$*/usr/lib/$(word 2,$(PRESETS_$*))/libpfm.a)
