/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core and VEX end a process with 1 at what they do not expect, and for want of
 * memory.  They say so in the core's log, which the user does not see; the linker puts
 * these functions in the place of theirs (--wrap), and they say it in a line.
 */
#include "stop.h"

#include "say.h"
#include "tool.h"

static struct {
	HChar why[400];
	void (*way_out)(void);
	Bool said;
	Bool finished; /* the program has ended by itself */
} end;

void __real_vgPlain_exit(Int status) __attribute__((noreturn));
void __wrap_vgPlain_exit(Int status) __attribute__((noreturn));
void __real_vgPlain_am_show_nsegments(Int level, const HChar *who);
void __wrap_vgPlain_am_show_nsegments(Int level, const HChar *who);
void __real_vgPlain_core_panic(const HChar *why) __attribute__((noreturn));
void __wrap_vgPlain_core_panic(const HChar *why) __attribute__((noreturn));
void __real_vgPlain_core_panic_at(const HChar *why, const void *at)
	__attribute__((noreturn));
void __wrap_vgPlain_core_panic_at(const HChar *why, const void *at)
	__attribute__((noreturn));
void __real_vgPlain_assert_fail(Bool is_core, const HChar *expression, const HChar *file,
	Int line, const HChar *function, const HChar *format, ...)
	__attribute__((noreturn));
void __wrap_vgPlain_assert_fail(Bool is_core, const HChar *expression, const HChar *file,
	Int line, const HChar *function, const HChar *format, ...)
	__attribute__((noreturn));

void stop_because(const HChar *why)
{
	if (!end.why[0])
		VG_(strncpy)(end.why, why, sizeof(end.why) - 1);
}

void stop(Int status, const HChar *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	VG_(vsnprintf)(end.why, sizeof(end.why), format, arguments);
	va_end(arguments);
	VG_(exit)(status);
}

void stop_spares(void (*way_out)(void))
{
	end.way_out = way_out;
}

void stop_finished(void)
{
	end.finished = True;
}

/* The core's functions call each other, so it is said once. */
static void say_why(const HChar *why, Int status)
{
	HChar line[640];

	if (end.way_out)
		end.way_out();
	stop_because(why);
	VG_(snprintf)
	(line, sizeof(line),
		"cachepeek: the simulator cannot go on (%s): the program ends here, with "
		"status %d; count it with CACHEPEEK_ENGINE=perf\n",
		end.why, status);
	say_once(&end.said, line);
}

void __wrap_vgPlain_exit(Int status)
{
	if (!end.finished)
		say_why("its log in the run's directory says why", status);
	__real_vgPlain_exit(status);
}

/* The core shows its mappings, on the program's standard error, where it has no memory.
 */
void __wrap_vgPlain_am_show_nsegments(Int level, const HChar *who)
{
	if (level > 0)
		__real_vgPlain_am_show_nsegments(level, who);
	else
		stop_because("no more memory: the machine's, or a limit's (RLIMIT_AS)");
}

void __wrap_vgPlain_core_panic(const HChar *why)
{
	say_why(why, 1);
	__real_vgPlain_core_panic(why);
}

void __wrap_vgPlain_core_panic_at(const HChar *why, const void *at)
{
	say_why(why, 1);
	__real_vgPlain_core_panic_at(why, at);
}

void __wrap_vgPlain_assert_fail(Bool is_core, const HChar *expression, const HChar *file,
	Int line, const HChar *function, const HChar *format, ...)
{
	HChar said[200];
	va_list arguments;

	va_start(arguments, format);
	VG_(vsnprintf)(said, sizeof(said), format, arguments);
	va_end(arguments);
	say_why(expression, 1);
	__real_vgPlain_assert_fail(is_core, expression, file, line, function, "%s", said);
}
