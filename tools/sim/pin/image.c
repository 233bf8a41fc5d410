/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's first stack, which the core makes of its own: this function is in the
 * place of the core's (--wrap), and gives it what is the same everywhere.
 */
#include "pin/pin.h"
#include "heap.h"
#include "valgrind/core.h"

#include <elf.h>

#include "pub_tool_clientstate.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_xarray.h"

/* The core's (pub_core_initimg.h). */
struct create_info {
	const HChar *toolname;
	Addr sp_at_startup, clstack_end;
	HChar **argv, **envp;
};
struct finalise_info {
	SizeT clstack_max_size;
	Addr sp, ip, toc;
	UInt *auxv;
	UWord more[8]; /* of other versions and architectures */
};
struct finalise_info __real_vgPlain_ii_create_image(struct create_info, const void *);
struct finalise_info __wrap_vgPlain_ii_create_image(struct create_info, const void *);

struct pin pin;

enum { ENTRIES = 32, STACK = 16 << 20 };

/* ---- the auxiliary vector ---- */

struct auxiliary {
	UWord kind, value;
};

/* Others tell of the kernel's version, or of what the CPU has beyond CPUID. */
static const UWord kinds[] = {AT_SYSINFO_EHDR, AT_HWCAP, AT_PAGESZ, AT_CLKTCK, AT_PHDR,
	AT_PHENT, AT_PHNUM, AT_BASE, AT_FLAGS, AT_ENTRY, AT_UID, AT_EUID, AT_GID, AT_EGID,
	AT_SECURE, AT_RANDOM, AT_HWCAP2, AT_EXECFN, AT_PLATFORM};

/* The features that the core's CPUID shows. */
static UWord value_of(const struct auxiliary *old)
{
#if defined(VGA_amd64)
	if (old->kind == AT_HWCAP)
		return 0xbfebfbff;
	if (old->kind == AT_HWCAP2)
		return 0;
#endif
	return pin_user_auxiliary(old->kind, old->value);
}

/* As the kernel lays it out: a count, no arguments, no variables, the vector. */
static struct {
	UWord argc, argv, envp;
	struct auxiliary entries[ENTRIES];
} block;

static SizeT text_of(const struct auxiliary *entry)
{
	return entry->kind == AT_PLATFORM ? VG_(strlen)((HChar *)entry->value) + 1 : 0;
}

static SizeT make_vector(HChar **argv)
{
	const struct auxiliary *old;
	SizeT size = 0;
	UInt n = 0;

	while (*argv)
		argv++;
	for (argv++; *argv; argv++)
		;
	old = (const struct auxiliary *)(argv + 1);
	for (UInt k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (const struct auxiliary *e = old; e->kind != AT_NULL; e++) {
			if (e->kind != kinds[k])
				continue;
			block.entries[n] = (struct auxiliary){e->kind, value_of(e)};
			size += sizeof(*e) + text_of(e);
			if (e->kind == AT_RANDOM)
				pin_fill((UChar *)e->value, 16);
			n++;
		}
	return size;
}

/* ---- the rest ---- */

static SizeT size_of_arguments(void)
{
	/* Once as the first argument, once for AT_EXECFN. */
	SizeT size = pin_pointer_and_text(VG_(args_the_exename)) +
		     VG_(strlen)(VG_(args_the_exename)) + 1;

	for (Int i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++)
		size += pin_pointer_and_text(
			*(const HChar **)VG_(indexXA)(VG_(args_for_client), i));
	return size;
}

static HChar *long_path(const HChar *path)
{
	return pin_path(path, VG_(strlen)(path));
}

static void pin_image(struct create_info *info)
{
	HChar *numbers = pin_user_start(info->envp, pin_keeps(info->envp, "UID="));
	SizeT fixed = make_vector(info->argv);

	info->argv = (HChar **)&block.argv;
	VG_(libdir) = long_path(VG_(libdir));
	if (VG_(args_the_exename)[0] == '/')
		VG_(args_the_exename) = long_path(VG_(args_the_exename));
	VG_(client_rlimit_stack).rlim_cur = STACK;
	pin_clock_start(info->envp);
	info->envp = pin_environment(info->envp, numbers, fixed + size_of_arguments());
}

struct finalise_info __wrap_vgPlain_ii_create_image(
	struct create_info info, const void *archinfo)
{
	const HChar *wanted = pin_find(info.envp, "CACHEPEEK_REPRODUCIBLE");

	pin.wanted = wanted && *wanted && VG_(strcmp)(wanted, "0") != 0;
	if (pin.wanted && VG_(args_the_exename))
		pin_image(&info);
	heap_start();
	return __real_vgPlain_ii_create_image(info, archinfo);
}
