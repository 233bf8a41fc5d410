/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Answers CPUID to the program.  The core tells of a CPU of 2013 with AVX2, whatever the
 * host is, so that programs choose the same code everywhere.  With --cpu=host it is the
 * host, with the features that the core emulates and those that the host executes; with
 * --cpu=LEAVES what these say, without the features that neither does.
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

/* ---- another processor ---- */

static const struct shown_leaf *find_shown(UInt leaf, UInt subleaf)
{
	for (UInt i = 0; i < tool_options.nshown; i++)
		if (tool_options.shown[i].leaf == leaf &&
			tool_options.shown[i].subleaf == subleaf)
			return &tool_options.shown[i];
	return NULL;
}

/* Where features are told of, and those that the core executes and says nothing of, or
 * that are nothing to execute. */
static const struct {
	UInt leaf, subleaf, output, executed;
} of_features[] = {
	{1, 0, ECX, 0},
	{7, 0, EBX, 1u << 9 | 1u << 19 | 1u << 23}, /* ERMS, ADX, CLFLUSHOPT */
	{7, 0, ECX, 1u << 25},                      /* CLDEMOTE */
	{7, 0, EDX, 1u << 4},                       /* FSRM */
	{7, 1, EAX, 7u << 10},                      /* FZRM, FSRS, FSRC */
	{EXTENDED + 1, 0, ECX, 1u << 8},            /* PREFETCHW */
	{EXTENDED + 8, 0, EBX, 0},
};

/* c: what the core says.  Features that neither the core nor the host executes are left
 * out. */
static void leave_executed(
	UInt leaf, UInt subleaf, const struct shown_leaf *shown, struct cpuid *c)
{
	struct cpuid executed = *c;

	add_features(leaf, subleaf, &executed);
	for (UInt i = 0; i < 4; i++)
		c->output[i] = shown->output[i];
	for (UInt i = 0; i < sizeof(of_features) / sizeof(of_features[0]); i++)
		if (of_features[i].leaf == leaf && of_features[i].subleaf == subleaf)
			c->output[of_features[i].output] &=
				executed.output[of_features[i].output] |
				of_features[i].executed;
}

/* Is this feature shown, and executed? */
static Bool machine_has(UInt leaf, UInt output, UInt bit)
{
	const struct shown_leaf *shown = find_shown(leaf, 0);
	struct cpuid none = {{0}};

	add_features(leaf, 0, &none);
	return shown && shown->output[output] & none.output[output] & 1u << bit;
}

Bool cpuid_shows_wide(void)
{
	return tool_options.shows_host || machine_has(7, EBX, 16);
}

/* Registers that the program may ask to be saved. */
static void tell_machines_state(UInt subleaf, struct cpuid *c)
{
	struct cpuid host = native_cpuid(HIGHEST_LEAF, subleaf);

	if (!machine_has(1, ECX, 28))
		*c = (struct cpuid){{0}};
	else if (cpuid_shows_wide())
		tell_state(subleaf, &host, c);
}

/* As tell_host(). */
static void tell_machine(UInt leaf, UInt subleaf, struct cpuid *c)
{
	enum { XSAVE = 1u << 26, OSXSAVE = 1u << 27, THREADS = 1u << 28 };
	const struct shown_leaf *shown = find_shown(leaf, subleaf);
	struct cpuid core = *c;

	if (leaf == HIGHEST_LEAF) {
		tell_machines_state(subleaf, c);
		return;
	}
	if (shown)
		leave_executed(leaf, subleaf, shown, c);
	else
		*c = (struct cpuid){{0}};
	if (leaf == 1) {
		c->output[EBX] |= core.output[EBX] & 0xff000000;
		c->output[ECX] |= c->output[ECX] & XSAVE ? core.output[ECX] & OSXSAVE : 0;
		c->output[EDX] |= core.output[EDX] & ~(UInt)THREADS;
	} else if (leaf == 0xb || leaf == EXTENDED + 1) {
		c->output[EDX] = core.output[EDX];
	}
}

/* The other leaves ignore the subleaf that they are asked with. */
static Bool has_subleaves(UInt leaf)
{
	return leaf == 4 || leaf == 7 || leaf == 0xb || leaf == HIGHEST_LEAF ||
	       leaf == 0x18 || leaf == EXTENDED + 0x1d;
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
	if ((!tool_options.shows_host && !tool_options.nshown) || !tool_options.native)
		return;
	c = registers_told(state);
	if (tool_options.shows_host)
		tell_host(leaf, subleaf, &c);
	else
		tell_machine(leaf, has_subleaves(leaf) ? subleaf : 0, &c);
	state->guest_RAX = c.output[EAX];
	state->guest_RBX = c.output[EBX];
	state->guest_RCX = c.output[ECX];
	state->guest_RDX = c.output[EDX];
}
