/* SPDX-License-Identifier: MIT */
#include "base/env.h"

#include <string.h>

static char **environment;

void cp_env_use(char **envp)
{
	environment = envp;
}

char **cp_env_all(void)
{
	return environment;
}

/* Do two entries, or an entry and a bare name, name the same variable? */
static bool same_name(const char *entry, const char *other)
{
	for (; *entry == *other && *entry != '='; entry++, other++)
		if (!*entry)
			return false;
	return *entry == '=' && (!*other || *other == '=');
}

const char *cp_env_find(char *const envp[], const char *name)
{
	for (; envp && *envp; envp++)
		if (same_name(*envp, name))
			return strchr(*envp, '=') + 1;
	return NULL;
}

const char *cp_env_get(const char *name)
{
	return cp_env_find(environment, name);
}

bool cp_env_has(char *const envp[], char *const entries[])
{
	for (; *entries; entries++) {
		const char *value = cp_env_find(envp, *entries);

		if (!value || strcmp(value, strchr(*entries, '=') + 1) != 0)
			return false;
	}
	return true;
}

void cp_env_remove(char **envp, const char *name)
{
	char **to = envp;

	for (; *envp; envp++)
		if (!same_name(*envp, name))
			*to++ = *envp;
	*to = NULL;
}

size_t cp_env_count(char *const envp[])
{
	size_t count = 0;

	while (envp && envp[count])
		count++;
	return count;
}

static bool is_replaced(const char *entry, char *const added[])
{
	for (; *added; added++)
		if (same_name(entry, *added))
			return true;
	return false;
}

void cp_env_merge(char **to, char *const envp[], char *const added[])
{
	for (; envp && *envp; envp++)
		if (!is_replaced(*envp, added))
			*to++ = *envp;
	for (; *added; added++)
		*to++ = *added;
	*to = NULL;
}
