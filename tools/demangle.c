/* SPDX-License-Identifier: MIT
 *
 * libstdc++ does it, where it is installed: who counts C++ programs has it.  It takes
 * memory from malloc, so that this is not for programs that are being counted.
 */
#include "tools/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "output/report_parts.h"

typedef char *demangler(const char *name, char *to, size_t *size, int *status);

static demangler *find(void)
{
	static demangler *found;
	void *library = found ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY),
	     *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

	if (symbol)
		memcpy(&found, &symbol, sizeof(found));
	return found;
}

/* Where the parameters of the function begin; the end, where there are none. */
static const char *parameters(const char *text)
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

/* Without result and parameters, as names without templates are; but where an operator
 * has brackets of its own in its name, all of it. */
static size_t shorten(const char *text, char *to, size_t size)
{
	const char *end = text + strlen(text), *begin = text;

	if (!strstr(text, "operator") && !strstr(text, "{lambda")) {
		end = parameters(text);
		begin = own_name(text, end);
	}
	return cp_format(to, size, "%.*s", (int)(end - begin), begin);
}

static size_t demangle(const char *name, char *to, size_t size)
{
	demangler *real = find();
	size_t length;
	int status;
	char *text = real ? real(name, NULL, NULL, &status) : NULL;

	if (!text)
		return 0;
	length = shorten(text, to, size);
	free(text);
	return length < size ? length : 0;
}

void cp_demangle_start(void)
{
	cp_demangle = demangle;
}
