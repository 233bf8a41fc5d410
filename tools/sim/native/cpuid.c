/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What CPUID tells the program.  The core tells of a CPU of 2013 with AVX2, whatever the
 * host is, so that programs choose the same code everywhere.  With --cpu=host it is the
 * host, with the features that the core emulates and those that the host executes.
 */
#include "native/host.h"
#include "native/native.h"
#include "native/state.h"

enum { EAX, EBX, ECX, EDX };
enum { EXTENDED = 0x80000000 };

/* Leaves behind it tell of what is not emulated. */
enum { HIGHEST_LEAF = 0xd };

typedef void helper(guest_state *state);
helper __real_amd64g_dirtyhelper_CPUID_avx2, __wrap_amd64g_dirtyhelper_CPUID_avx2;

/* The features of this leaf that the host executes. */
static void add_features(UInt leaf, UInt subleaf, struct cpuid *c)
{
	for (UInt i = 0; i < NATIVE_NFEATURES; i++)
		native_host_add_feature(i, leaf, subleaf, c);
}

/* Registers that the program may ask to be saved: those that are executed natively, too.
 */
static void tell_state(UInt subleaf, const struct cpuid *host, struct cpuid *c)
{
	if (subleaf == 0) {
		*c = *host;
		c->output[EAX] &= native_host_kept_state();
		c->output[EDX] = 0;
	} else if (subleaf < 8 && native_host_kept_state() >> subleaf & 1 &&
		   subleaf > 1) {
		*c = *host;
	}
}

/* c: what the core says.  Numbers of processors are its own. */
static void tell_host(UInt leaf, UInt subleaf, struct cpuid *c)
{
	struct cpuid host = native_cpuid(leaf, subleaf), emulated = *c;

	switch (leaf) {
	case 1:
		c->output[EAX] = host.output[EAX];
		break;
	case 7:
		if (subleaf == 0 && host.output[EAX])
			c->output[EAX] = 1;
		break;
	case HIGHEST_LEAF:
		tell_state(subleaf, &host, c);
		break;
	case 0xb:
	case EXTENDED + 1:
		break;
	default:
		*c = host;
	}
	if (leaf == 0 && c->output[EAX] > HIGHEST_LEAF)
		c->output[EAX] = HIGHEST_LEAF;
	if (leaf == 5 || leaf == 6) /* monitor, power: none */
		*c = emulated;
	add_features(leaf, subleaf, c);
}

static struct cpuid registers_told(const guest_state *state)
{
	return (struct cpuid){{(UInt)state->guest_RAX, (UInt)state->guest_RBX,
		(UInt)state->guest_RCX, (UInt)state->guest_RDX}};
}

void __wrap_amd64g_dirtyhelper_CPUID_avx2(guest_state *state)
{
	UInt leaf = (UInt)state->guest_RAX, subleaf = (UInt)state->guest_RCX;
	struct cpuid c;

	__real_amd64g_dirtyhelper_CPUID_avx2(state);
	if (!tool_options.shows_host || !tool_options.native)
		return;
	c = registers_told(state);
	tell_host(leaf, subleaf, &c);
	state->guest_RAX = c.output[EAX];
	state->guest_RBX = c.output[EBX];
	state->guest_RCX = c.output[ECX];
	state->guest_RDX = c.output[EDX];
}
