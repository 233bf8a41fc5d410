/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The environment of a program that is to count the same everywhere: those variables
 * that decide what programs do, in alphabetical order, a home that nobody has, and
 * LD_PRELOAD.  In between is what fills up to a fixed size, so that the stack begins
 * where it always does.  Our own variables are kept for the library, which asks for
 * them.
 */
#include "pin/pin.h"

#define SELF "CACHEPEEK_REPRODUCIBLE"
#define PRELOAD "LD_PRELOAD="
#define HOME "HOME=/nonexistent"

/* Which the library replaces. */
#define PAD "CACHEPEEK__PAD="

enum { SIZE = 65536, PATH = 256 };

static Bool begins_with(const HChar *text, const HChar *with)
{
	return VG_(strncmp)(text, with, VG_(strlen)(with)) == 0;
}

const HChar *pin_find(HChar *const *envp, const HChar *name)
{
	SizeT length = VG_(strlen)(name);

	for (; *envp; envp++)
		if (begins_with(*envp, name) && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

static Bool is_ours(const HChar *entry)
{
	return begins_with(entry, "CACHEPEEK_") || begins_with(entry, "VALGRIND_LIB=") ||
	       begins_with(entry, "VALGRIND_LAUNCHER=");
}

/* Where they differ, so may what programs do: they are kept as they are. */
static Bool is_usual(const HChar *entry)
{
	static const HChar *const names[] = {"PATH=", "LANG=", "LANGUAGE=", "LC_",
		"TZ=", "SOURCE_DATE_EPOCH=", "LD_LIBRARY_PATH=", "LD_BIND_NOW=",
		"GLIBC_TUNABLES=", "MALLOC_", "OMP_", "GOMP_", "KMP_", "PYTHON", "PERL",
		"RUBY", "NODE_", "JAVA_", "GOMAXPROCS=", "GOGC=", "OMPI_", "PMI", "MPI",
		"PRTE_", "HYDRA_", "FI_", "UCX_", "I_MPI_", "MV2_", "SLURM_"};

	for (UInt i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (begins_with(entry, names[i]))
			return True;
	return False;
}

/* Is the variable one of "NAME,PREFIX*", which the user keeps as well? */
static Bool is_named(const HChar *list, const HChar *entry)
{
	while (*list) {
		SizeT length = 0;

		while (list[length] && list[length] != ',')
			length++;
		if (length && list[length - 1] == '*'
				? VG_(strncmp)(list, entry, length - 1) == 0
				: length && VG_(strncmp)(list, entry, length) == 0 &&
					  entry[length] == '=')
			return True;
		list += length + (list[length] == ',');
	}
	return False;
}

static Bool is_kept(const HChar *list, const HChar *entry)
{
	if (begins_with(entry, "HOME="))
		return is_named(list, entry);
	return is_usual(entry) || (!begins_with(entry, PRELOAD) && is_named(list, entry));
}

HChar *pin_path(const HChar *path, SizeT length)
{
	SizeT size = PATH;
	HChar *padded;

	while (size < length)
		size += PATH;
	padded = VG_(malloc)("pin", size + 1);
	VG_(memset)(padded, '/', size - length);
	VG_(memcpy)(padded + size - length, path, length);
	padded[size] = '\0';
	return padded;
}

static SizeT preload_size(const HChar *value)
{
	SizeT size = sizeof(PRELOAD) + VG_(strlen)(value) + PATH;

	for (; *value; value++)
		size += *value == ':' || *value == ' ' ? PATH : 0;
	return size;
}

/* Where the libraries lie says nothing about the program. */
static HChar *preload_entry(const HChar *value)
{
	HChar *all = VG_(calloc)("pin", 1, preload_size(value));

	VG_(strcpy)(all, PRELOAD);
	while (*value) {
		SizeT length = 0;
		HChar *piece;

		while (value[length] && value[length] != ':' && value[length] != ' ')
			length++;
		piece = *value == '/' ? pin_path(value, length) : NULL;
		VG_(strncat)
		(all, piece ? piece : value, piece ? VG_(strlen)(piece) : length);
		if (piece)
			VG_(free)(piece);
		value += length;
		if (*value)
			VG_(strncat)(all, value++, 1);
	}
	return all;
}

static Int by_name(const void *one, const void *other)
{
	return VG_(strcmp)(*(HChar *const *)one, *(HChar *const *)other);
}

SizeT pin_pointer_and_text(const HChar *text)
{
	return sizeof(text) + VG_(strlen)(text) + 1;
}

static HChar *pad_stack(SizeT used)
{
	SizeT size = SIZE - used % SIZE;
	HChar *text = VG_(malloc)("pin", sizeof(PAD) + size);

	VG_(strcpy)(text, PAD);
	VG_(memset)(text + sizeof(PAD) - 1, 'x', size);
	text[sizeof(PAD) - 1 + size] = '\0';
	return text;
}

/* Divides the entries: those for the library go to one array, those for the program to
 * the other. */
static UInt divide_entries(HChar **envp, HChar *more, HChar **kept)
{
	const HChar *list = pin_find(envp, SELF);
	UInt n = 0, ours = 0;

	if (more)
		pin.given[ours++] = more;
	for (; *envp; envp++)
		if (is_ours(*envp))
			pin.given[ours++] = *envp;
		else if (is_kept(list, *envp))
			kept[n++] = *envp;
	pin.given[ours] = NULL;
	return n;
}

Bool pin_keeps(HChar *const *envp, const HChar *entry)
{
	return is_named(pin_find(envp, SELF), entry);
}

HChar **pin_environment(HChar **envp, HChar *more, SizeT fixed)
{
	const HChar *libraries = pin_find(envp, "LD_PRELOAD");
	UInt count = 0, n;
	HChar **kept;

	while (envp[count])
		count++;
	pin.given = VG_(calloc)("pin", count + 2, sizeof(*pin.given));
	kept = VG_(calloc)("pin", count + 4, sizeof(*kept));
	n = divide_entries(envp, more, kept);
	if (!pin_find(kept, "HOME"))
		kept[n++] = VG_(strdup)("pin", HOME);
	VG_(ssort)(kept, n, sizeof(*kept), by_name);
	for (UInt i = 0; i < n; i++)
		fixed += pin_pointer_and_text(kept[i]);
	kept[n++] = pad_stack(fixed);
	if (libraries)
		kept[n++] = preload_entry(libraries);
	return kept;
}
