/* SPDX-License-Identifier: MIT
 *
 * The environment without getenv and setenv, which a program may define itself
 * (bash does) and which do not work yet when our constructor runs.
 */
#ifndef CACHEPEEK_BASE_ENV_H
#define CACHEPEEK_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* The environment that the functions below look at: what the constructor is given,
 * soon the copy of it (given.h). */
void cp_env_use(char **envp);
char **cp_env_all(void);

/* The value of a variable, or NULL; name may be an entry (NAME=…). */
const char *cp_env_find(char *const envp[], const char *name);
const char *cp_env_get(const char *name);

/* Has envp each of the entries ("NAME=value")? */
bool cp_env_has(char *const envp[], char *const entries[]);

/* Removes every entry NAME=… from envp, in place. */
void cp_env_remove(char **envp, const char *name);

/* How many pointers envp has, the closing NULL not counted. */
size_t cp_env_count(char *const envp[]);

/*
 * Fills to[] (room for cp_env_count + added + 1) with envp, in which the
 * entries added[] ("NAME=value", NULL-terminated) replace those of the same name.
 */
void cp_env_merge(char **to, char *const envp[], char *const added[]);

#endif
