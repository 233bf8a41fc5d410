/* SPDX-License-Identifier: MIT */
#include "base/machine/features.h"

#include <string.h>

#include "base/format.h"
#include "base/machine/cpuid.h"

const struct cp_feature cp_features[] = {
	{"pni", 1, 0, CP_ECX, 0},
	{"ssse3", 1, 0, CP_ECX, 9},
	{"cx16", 1, 0, CP_ECX, 13},
	{"sse4_1", 1, 0, CP_ECX, 19},
	{"sse4_2", 1, 0, CP_ECX, 20},
	{"popcnt", 1, 0, CP_ECX, 23},
	{"lahf_lm", 0x80000001, 0, CP_ECX, 0},
	/* x86-64-v2: up to here */
	{"fma", 1, 0, CP_ECX, 12},
	{"movbe", 1, 0, CP_ECX, 22},
	{"xsave", 1, 0, CP_ECX, 26},
	{"avx", 1, 0, CP_ECX, 28},
	{"f16c", 1, 0, CP_ECX, 29},
	{"bmi1", 7, 0, CP_EBX, 3},
	{"avx2", 7, 0, CP_EBX, 5},
	{"bmi2", 7, 0, CP_EBX, 8},
	{"abm", 0x80000001, 0, CP_ECX, 5},
	/* x86-64-v3 */
	{"avx512f", 7, 0, CP_EBX, 16},
	{"avx512dq", 7, 0, CP_EBX, 17},
	{"avx512cd", 7, 0, CP_EBX, 28},
	{"avx512bw", 7, 0, CP_EBX, 30},
	{"avx512vl", 7, 0, CP_EBX, 31},
	/* x86-64-v4 */
	{"pclmulqdq", 1, 0, CP_ECX, 1},
	{"aes", 1, 0, CP_ECX, 25},
	{"rdrand", 1, 0, CP_ECX, 30},
	{"erms", 7, 0, CP_EBX, 9},
	{"rdseed", 7, 0, CP_EBX, 18},
	{"adx", 7, 0, CP_EBX, 19},
	{"avx512ifma", 7, 0, CP_EBX, 21},
	{"clflushopt", 7, 0, CP_EBX, 23},
	{"clwb", 7, 0, CP_EBX, 24},
	{"sha_ni", 7, 0, CP_EBX, 29},
	{"avx512vbmi", 7, 0, CP_ECX, 1},
	{"avx512_vbmi2", 7, 0, CP_ECX, 6},
	{"gfni", 7, 0, CP_ECX, 8},
	{"vaes", 7, 0, CP_ECX, 9},
	{"vpclmulqdq", 7, 0, CP_ECX, 10},
	{"avx512_vnni", 7, 0, CP_ECX, 11},
	{"avx512_bitalg", 7, 0, CP_ECX, 12},
	{"avx512_vpopcntdq", 7, 0, CP_ECX, 14},
	{"rdpid", 7, 0, CP_ECX, 22},
	{"cldemote", 7, 0, CP_ECX, 25},
	{"movdiri", 7, 0, CP_ECX, 27},
	{"movdir64b", 7, 0, CP_ECX, 28},
	{"fsrm", 7, 0, CP_EDX, 4},
	{"avx512_vp2intersect", 7, 0, CP_EDX, 8},
	{"amx_bf16", 7, 0, CP_EDX, 22},
	{"avx512_fp16", 7, 0, CP_EDX, 23},
	{"amx_tile", 7, 0, CP_EDX, 24},
	{"amx_int8", 7, 0, CP_EDX, 25},
	{"avx_vnni", 7, 1, CP_EAX, 4},
	{"avx512_bf16", 7, 1, CP_EAX, 5},
	{"fzrm", 7, 1, CP_EAX, 10},
	{"fsrs", 7, 1, CP_EAX, 11},
	{"fsrc", 7, 1, CP_EAX, 12},
	{"sse4a", 0x80000001, 0, CP_ECX, 6},
	{"3dnowprefetch", 0x80000001, 0, CP_ECX, 8},
	{"clzero", 0x80000008, 0, CP_EBX, 0},
	{NULL, 0, 0, 0, 0},
};
_Static_assert(sizeof(cp_features) / sizeof(cp_features[0]) <= 65, "a bit for each");

/* The levels that compilers know, by their last feature in the table. */
static const struct {
	const char *level, *last;
} levels[] = {{"x86-64-v2", "lahf_lm"}, {"x86-64-v3", "abm"}, {"x86-64-v4", "avx512vl"}};

uint64_t cp_features_named(const char *name)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcmp(name, levels[i].level) == 0) {
			uint64_t last = cp_features_named(levels[i].last);

			return last | (last - 1);
		}
	for (unsigned i = 0; cp_features[i].name; i++)
		if (strcmp(name, cp_features[i].name) == 0)
			return 1ull << i;
	return 0;
}

void cp_features_list(uint64_t features, char *to, size_t size)
{
	size_t used = 0;

	*to = '\0';
	for (unsigned i = 0; cp_features[i].name && used < size; i++)
		if (features >> i & 1)
			used += cp_format(to + used, size - used, "%s%s", used ? " " : "",
				cp_features[i].name);
}
