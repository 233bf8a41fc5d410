/* SPDX-License-Identifier: MIT
 *
 * Cases of tests and benchmarks as regions, each by its name: "case:FRAMEWORK" in
 * CACHEPEEK_REGIONS stands for the functions that run them
 * (output/names/frameworks.names).
 */
#ifndef CACHEPEEK_PRELOAD_CASES_CASES_H
#define CACHEPEEK_PRELOAD_CASES_CASES_H

#include <stdbool.h>

/* The list, with "rule:FUNCTION={NAME}" behind it for each function of the frameworks
 * that it asks for; the list itself, if it asks for none.  Once, at the beginning. */
const char *cp_cases_expand(const char *patterns);

/* Warns of patterns that name an unknown framework. */
void cp_cases_complain(const char *patterns);

/* At the end, if any was asked for: has a function of the rules been found? */
void cp_cases_check(const char *patterns, bool found);

#endif
