/* SPDX-License-Identifier: MIT
 *
 * libiberty does it.  It takes memory from malloc, so that this is not for programs that
 * are being counted.
 */
#include "tools/shared/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "output/report/report_parts.h"

/* The older of Rust's two schemes is built upon that of C++. */
static char *of_rust(const char *name)
{
	return rust_demangle(name, DMGL_NO_OPTS);
}

static char *of_cxx(const char *name)
{
	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	return cplus_demangle_v3(name, DMGL_PARAMS | DMGL_TYPES);
}

char *cp_demangled(const char *name)
{
	char *text = of_rust(name);

	return text ? text : of_cxx(name);
}

/* Where the parameters of the function begin; the end, where there are none. */
static const char *parameters_in(const char *text)
{
	const char *end = text + strlen(text), *at = strrchr(text, ')');
	int depth = 0;

	for (; at && at >= text; at--) {
		depth += (*at == ')') - (*at == '(');
		if (!depth)
			return at;
	}
	return end;
}

/* Behind the result's type. */
static const char *own_name(const char *text, const char *end)
{
	const char *name = text;
	int depth = 0;

	for (const char *at = text; at < end; at++) {
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		if (*at == ' ' && !depth)
			name = at + 1;
	}
	return name;
}

/* Without result, and unless whole without parameters, as names without templates are
 * (Rust's have neither); but where an operator has brackets of its own in its name, all
 * of it. */
static size_t shorten_name(const char *text, bool whole, char *to, size_t size)
{
	const char *end = text + strlen(text), *begin = text, *name_end;

	if (!strstr(text, "operator") && !strstr(text, "{lambda")) {
		name_end = parameters_in(text);
		begin = own_name(text, name_end);
		end = whole ? end : name_end;
	}
	return cp_format(to, size, "%.*s", (int)(end - begin), begin);
}

static size_t demangle_one(const char *name, bool whole, char *to, size_t size)
{
	char *text = of_rust(name);
	size_t length = 0;

	if (text) {
		length = cp_format(to, size, "%s", text);
	} else {
		text = of_cxx(name);
		length = text ? shorten_name(text, whole, to, size) : 0;
	}
	free(text);
	return length < size ? length : 0;
}

void cp_demangle_start(void)
{
	cp_demangle = demangle_one;
}
