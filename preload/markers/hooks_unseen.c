/* SPDX-License-Identifier: MIT
 *
 * Overrides: scorep_f_begin_, scorep_f_regionbynamebegin_, scorep_f_regionenter_,
 *   tau_start_, tau_profile_start_, extrae_event_, extrae_user_function_,
 *   Extrae_user_function.
 *
 * Functions that begin a region in other tools, and not here: the first call of each
 * tool's says so, and all are passed on.
 */
#include <stdint.h>

#include "base/once.h"
#include "preload/markers/forward.h"
#include "preload/markers/pass_on.h"
#include "preload/runtime.h"
#include "preload/warn.h"

#if CP_PASSES_ON
static int do_nothing(void)
{
	return 0;
}

static const void *say_unseen(struct cp_once *once, const char *line,
	struct cp_forward *forward, const void *caller)
{
	const void *real = cp_forward_from(forward, caller);

	if (cp_counting() && cp_once(once))
		cp_warn(line);
	return real ? real : (const void *)(uintptr_t)do_nothing;
}

/* The one line about each tool. */
static struct {
	struct cp_once scorep, tau, extrae;
} said;

#define UNSEEN(tool, function, line)                                                     \
	__attribute__((used)) static const void *say_##function(                         \
		long a, long b, long c, const void *caller)                              \
	{                                                                                \
		static struct cp_forward forward = {#function, 0};                       \
                                                                                         \
		(void)a;                                                                 \
		(void)b;                                                                 \
		(void)c;                                                                 \
		return say_unseen(&said.tool, line, &forward, caller);                   \
	}                                                                                \
	CP_PASS_ON(#function, "say_" #function)
#define SCOREP "no regions of Score-P's functions for Fortran: they are not received"
#define TAU "no regions of TAU's functions for Fortran: they are not received"
#define EXTRAE                                                                           \
	"no regions of Extrae's user functions, nor of its functions for Fortran: they " \
	"are not received"

UNSEEN(scorep, scorep_f_begin_, SCOREP)
UNSEEN(scorep, scorep_f_regionbynamebegin_, SCOREP)
UNSEEN(scorep, scorep_f_regionenter_, SCOREP)
UNSEEN(tau, tau_start_, TAU)
UNSEEN(tau, tau_profile_start_, TAU)
UNSEEN(extrae, extrae_event_, EXTRAE)
UNSEEN(extrae, extrae_user_function_, EXTRAE)
UNSEEN(extrae, Extrae_user_function, EXTRAE)
#endif
