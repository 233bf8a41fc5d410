/* SPDX-License-Identifier: MIT
 *
 * Asks that its system calls be handed to it, as Wine does; goes on where it cannot.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

int main(void)
{
	static char allowed; /* SYSCALL_DISPATCH_FILTER_ALLOW */
	int result = prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &allowed);

	printf("%d %s\n", result, result ? strerror(errno) : "");
	if (!result)
		prctl(59, 0, 0, 0, 0);
	return 0;
}
