/* SPDX-License-Identifier: MIT
 * A library whose constructor and destructor can be seen from outside: under a
 * program that is executed again behind the scenes, they would be seen twice.
 */
#include <string.h>
#include <unistd.h>

void ctor_library(void);

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(99);
}

__attribute__((constructor)) static void begin(void)
{
	say("constructor\n");
}

__attribute__((destructor)) static void end(void)
{
	say("destructor\n");
}

void ctor_library(void)
{
	say("library\n");
}
