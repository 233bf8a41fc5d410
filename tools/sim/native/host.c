/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/host.h"

static const struct {
	UInt leaf, subleaf, output, bit;
} features[] = {
#undef NATIVE_FEATURE
#define NATIVE_FEATURE(name, leaf, subleaf, output, bit) {leaf, subleaf, output, bit},
#include "native/features.h"
};

struct cpuid native_cpuid(UInt leaf, UInt subleaf)
{
	struct cpuid c;

	__asm__("cpuid"
		: "=a"(c.output[0]), "=b"(c.output[1]), "=c"(c.output[2]),
		"=d"(c.output[3])
		: "0"(leaf), "2"(subleaf));
	return c;
}

/* The last answer: hypervisors take 25 us and more for each. */
struct asked {
	UInt leaf, subleaf;
	struct cpuid answer;
};

/* A leaf that a CPU does not have may hold another one's answer. */
static void ask(struct asked *a, UInt leaf, UInt subleaf)
{
	if (a->leaf == leaf && a->subleaf == subleaf)
		return;
	*a = (struct asked){.leaf = leaf, .subleaf = subleaf};
	if (leaf <= native_cpuid(leaf & 0x80000000, 0).output[0] &&
		(!subleaf || subleaf <= native_cpuid(leaf, 0).output[0]))
		a->answer = native_cpuid(leaf, subleaf);
}

static Bool is_there(struct asked *a, UInt feature)
{
	ask(a, features[feature].leaf, features[feature].subleaf);
	return a->answer.output[features[feature].output] >> features[feature].bit & 1;
}

/* This CPU's features; read once.  What CPUID does not show may be there: hypervisors
 * hide what processors execute nevertheless. */
static struct {
	Bool has[NATIVE_NFEATURES];
	Bool may_have[NATIVE_NFEATURES];
	UInt kept;
} host;

static UInt kept_state(void)
{
	UInt low, high;

	if (!(native_cpuid(1, 0).output[2] >> 27 & 1)) /* OSXSAVE */
		return 0;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static Bool is_avx512(UInt feature)
{
	return feature >= FEATURE_AVX512F;
}

/* Stubs load and store with what all CPUs with AVX-512 but the first one have. */
static Bool can_move_wide(void)
{
	return (host.kept & 0xe6) == 0xe6 && host.has[FEATURE_AVX512F] &&
	       host.has[FEATURE_AVX512BW] && host.has[FEATURE_AVX512DQ] &&
	       host.has[FEATURE_AVX512VL];
}

/* Does the feature say which registers there are, and not only what computes with them?
 */
static Bool is_of_registers(UInt feature)
{
	return feature == FEATURE_AVX || feature == FEATURE_AVX512F ||
	       feature == FEATURE_AVX512VL;
}

void native_host_start(void)
{
	struct asked last = {.leaf = 0};
	Bool any, wide;

	for (UInt i = 0; i < NATIVE_NFEATURES; i++)
		host.has[i] = is_there(&last, i);
	host.kept = kept_state();
	any = (host.kept & 6) == 6 && host.has[FEATURE_AVX];
	wide = can_move_wide();
	for (UInt i = 0; i < NATIVE_NFEATURES; i++) {
		host.may_have[i] = any && (wide || !is_avx512(i));
		host.has[i] = host.has[i] && host.may_have[i] &&
			      (tool_options.asks_cpuid || is_of_registers(i));
	}
}

UInt native_host_kept_state(void)
{
	return host.kept & (host.has[FEATURE_AVX512F] ? 0xe7 : 7);
}

void native_host_add_feature(UInt feature, UInt leaf, UInt subleaf, struct cpuid *c)
{
	if (host.has[feature] && features[feature].leaf == leaf &&
		features[feature].subleaf == subleaf)
		c->output[features[feature].output] |= 1u << features[feature].bit;
}

Bool native_host_has(const struct native *n)
{
	const struct native_shape *s = n->shape;

	return host.has[s->feature] && native_host_may_have(n);
}

Bool native_host_may_have(const struct native *n)
{
	const struct native_shape *s = n->shape;

	return host.may_have[s->feature] &&
	       (n->form != FORM_EVEX || host.has[FEATURE_AVX512F]) &&
	       (!s->needs_vl || host.has[FEATURE_AVX512VL]);
}

Bool native_is_foreign(const struct native *n)
{
	return n->form == FORM_EVEX || is_avx512(n->shape->feature) ||
	       n->shape->feature == FEATURE_SHA || n->shape->feature == FEATURE_GFNI ||
	       n->shape->feature == FEATURE_AVX_VNNI;
}
