/* SPDX-License-Identifier: MIT
 * Preloaded after the library, which calls this function when it opens or closes
 * a thread's counters: tells the program (coexist) that it does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

extern void coexist_step(void) __attribute__((weak));

int pthread_setcancelstate(int state, int *old)
{
	static int (*real)(int, int *);

	if (!real)
		real = (int (*)(int, int *))dlsym(RTLD_NEXT, "pthread_setcancelstate");
	if (coexist_step)
		coexist_step();
	return real(state, old);
}
