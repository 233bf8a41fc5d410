/* SPDX-License-Identifier: MIT
 *
 * Libpfm calls these functions instead of libc's (the Makefile renames its references):
 * its messages go nowhere, its memory comes from an arena that lives as long as the
 * process, and its environment is the one that we were started with.  Tracepoints are
 * none of our business, so it finds no directory of them.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/env.h"

FILE *cp_pfm_stderr, *cp_pfm_stdout;

void *cp_pfm_malloc(size_t size);
void *cp_pfm_calloc(size_t count, size_t size);
void *cp_pfm_realloc(void *old, size_t size);
void cp_pfm_free(void *memory);
char *cp_pfm_getenv(const char *name);
char *cp_pfm_strtok(char *text, const char *separators);
char *cp_pfm_strdup(const char *text);
DIR *cp_pfm_opendir(const char *path);

static struct cp_store store;

/* The size stands before each block, for realloc. */
void *cp_pfm_malloc(size_t size)
{
	size_t *block = cp_store_take(&store, size + 16);

	if (!block)
		return NULL;
	*block = size;
	return block + 2;
}

void *cp_pfm_calloc(size_t count, size_t size)
{
	size_t total;

	return __builtin_mul_overflow(count, size, &total) ? NULL : cp_pfm_malloc(total);
}

void *cp_pfm_realloc(void *old, size_t size)
{
	size_t had = old ? ((size_t *)old)[-2] : 0;
	void *grown = cp_pfm_malloc(size);

	if (grown && had)
		memcpy(grown, old, had < size ? had : size);
	return grown;
}

void cp_pfm_free(void *memory)
{
	(void)memory;
}

char *cp_pfm_getenv(const char *name)
{
	return (char *)(uintptr_t)cp_env_get(name);
}

char *cp_pfm_strtok(char *text, const char *separators)
{
	static char *rest;

	return strtok_r(text, separators, &rest);
}

char *cp_pfm_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = cp_pfm_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

DIR *cp_pfm_opendir(const char *path)
{
	(void)path;
	return NULL;
}
