/* SPDX-License-Identifier: MIT
 *
 * Overrides: MPI_Pcontrol, mpi_pcontrol_, mpi_pcontrol_f08_.
 *
 * MPI's own word to tools: level 0 pauses the regions of the calling thread, 1
 * resumes them, 2 flushes.  Other levels, and other arguments, mean something to
 * one tool only: there is no telling whether an argument was given at all.
 */
#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/markers.h"
#include "preload/markers/pass_on.h"
#include "preload/self.h"

int MPI_Pcontrol(const int level, void *a, void *b, void *c);
void mpi_pcontrol_(const int *level);
void mpi_pcontrol_f08_(const int *level);

static void obey_level(int level)
{
	if (level == 0 && !cp_self.paused)
		cp_marker_pause();
	else if (level == 1 && cp_self.paused)
		cp_marker_resume();
	else if (level == 2)
		cp_marker_flush();
	if (level == 0 || level == 1)
		cp_self.paused = level == 0;
}

#if CP_PASSES_ON
static int do_nothing(void)
{
	return 0;
}

/* Called below. */
__attribute__((used)) static const void *begin_pcontrol(
	int level, void *b, void *c, const void *caller)
{
	static struct cp_forward forward = {"MPI_Pcontrol", 0};
	const void *real = cp_forward_from(&forward, caller);

	(void)b;
	(void)c;
	if (!cp_self.within.pcontrol)
		obey_level(level);
	return real ? real : (const void *)(uintptr_t)do_nothing;
}

CP_PASS_ON("MPI_Pcontrol", "begin_pcontrol")
#else
/* The further arguments of the program, if they are where these are. */
EXPORT int MPI_Pcontrol(const int level, void *a, void *b, void *c)
{
	if (!cp_self.within.pcontrol)
		obey_level(level);
	return CP_PASSED(MPI_Pcontrol, level, a, b, c);
}
#endif

#define FORTRAN(function)                                                                \
	EXPORT void function(const int *level)                                           \
	{                                                                                \
		__typeof__(&function) real = CP_FORWARD(function);                       \
		bool outer = cp_self.within.pcontrol;                                    \
                                                                                         \
		if (!outer)                                                              \
			obey_level(*level);                                              \
		cp_self.within.pcontrol = true;                                          \
		if (real)                                                                \
			real(level);                                                     \
		cp_self.within.pcontrol = outer;                                         \
	}
FORTRAN(mpi_pcontrol_)
FORTRAN(mpi_pcontrol_f08_)
