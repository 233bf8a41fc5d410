/* SPDX-License-Identifier: MIT */
#include "preload/patch/choose.h"

#include <libiberty/demangle.h>
#include <string.h>

#include "base/text.h"
#include "base/format.h"
#include "base/text/name_pattern.h"

/* The patterns, and which of them have found a function. */
static struct {
	const char *patterns;
	unsigned long long found; /* cp_piece_bit() */
} choice;

void cp_choose_start(const char *list)
{
	choice.patterns = list;
}

/* ---- names of C++ ---- */

struct plain {
	char text[2048];
	size_t length;
};

static void add_text(const char *text, size_t length, void *to)
{
	struct plain *plain = to;

	if (length >= sizeof(plain->text) - plain->length)
		length = sizeof(plain->text) - 1 - plain->length;
	memcpy(plain->text + plain->length, text, length);
	plain->length += length;
	plain->text[plain->length] = '\0';
}

static const char *demangle_name(const char *name, struct plain *plain)
{
	*plain->text = '\0';
	plain->length = 0;
	if (strncmp(name, "_Z", 2) != 0 ||
		!cplus_demangle_v3_callback(
			name, DMGL_PARAMS | DMGL_ANSI, add_text, plain))
		return name;
	return plain->text;
}

/* ---- patterns ---- */

bool cp_choose(const char *name)
{
	static struct plain storage; /* under the dynamic linker's lock */
	const char *plain = demangle_name(name, &storage);

	if (!cp_function_is_chosen(choice.patterns, name, plain))
		return false;
	choice.found |= cp_pieces_of(choice.patterns, name, plain);
	return true;
}

static bool has_wildcard(struct cp_span piece)
{
	while (piece.at < piece.end && *piece.at != '*' && *piece.at != '?')
		piece.at++;
	return piece.at < piece.end;
}

bool cp_choose_exactly(const char *name)
{
	static struct plain storage; /* as above */
	const char *plain = demangle_name(name, &storage), *list = choice.patterns;
	struct cp_span piece;
	int except;

	while ((piece = cp_next_function(&list, &except)).at)
		if (!except && !has_wildcard(piece) &&
			cp_pattern_is_of(piece, name, plain))
			return true;
	return false;
}

void *cp_choose_function(const struct cp_patch_host *host, const char *name)
{
	static struct plain storage; /* as above */
	const char *plain = demangle_name(name, &storage);

	return host->function(name, plain, cp_naming_of(choice.patterns, name, plain));
}

bool cp_choose_found(const char *pattern, size_t length)
{
	const char *list = choice.patterns;
	struct cp_span piece;
	int except;

	for (unsigned i = 0; (piece = cp_next_function(&list, &except)).at; i++)
		if (!except && (size_t)(piece.end - piece.at) == length &&
			memcmp(piece.at, pattern, length) == 0)
			return choice.found & cp_piece_bit(i);
	return true;
}

/* ---- by address ---- */

bool cp_choose_address(const char *path, size_t index, struct cp_chosen_address *chosen)
{
	const char *list = choice.patterns;
	struct cp_span piece;
	int except;

	for (unsigned i = 0; (piece = cp_next_function(&list, &except)).at; i++) {
		if (except ||
			!cp_is_offset_in(piece, cp_base_name(path), &chosen->value) ||
			index-- > 0)
			continue;
		choice.found |= cp_piece_bit(i);
		cp_format(chosen->name, sizeof(chosen->name), "%.*s",
			(int)(piece.end - piece.at), piece.at);
		return true;
	}
	return false;
}

/* ---- what is better left alone ---- */

bool cp_is_special(const char *name)
{
	static const char *const special[] = {"setjmp", "_setjmp", "__setjmp",
		"sigsetjmp", "__sigsetjmp", "savectx", "getcontext", "swapcontext",
		"makecontext", "setcontext", "__start_context", "fork", "__fork",
		"__libc_fork", "_Fork", "vfork", "__vfork", "__libc_vfork", "clone",
		"__clone", "clone3", "__clone3", "__clone_internal", "dlopen", "dlmopen",
		"dlsym", "dlvsym", "__libc_dlopen_mode", "__libc_dlsym", "_start",
		"_init", "_fini", "__restore_rt", "__libc_start_call_main", "longjmp",
		"_longjmp", "siglongjmp", "__longjmp", "__longjmp_chk", "____longjmp_chk",
		"__libc_longjmp", "__libc_siglongjmp", "mcount", "_mcount", "__fentry__",
		"__tls_get_addr", "_dl_debug_state", "__errno_location"};

	if (CP_IS_AMONG(name, special))
		return true;
	return strncmp(name, "_Unwind_", 8) == 0;
}
