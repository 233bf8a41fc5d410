/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Parts of the Valgrind tool that a shadow does without: nobody asks for them there.
 */
#include "tools/shadow/parts.h"

#include "instrument/aliased.h"
#include "paths/paths.h"
#include "pin/pin.h"
#include "profile/profile.h"
#include "sample/log.h"
#include "sample/sample.h"
#include "system/faults.h"
#include "watch/functions.h"
#include "watch/lines.h"

/* ---- regions ---- */

Bool functions_wanted(void)
{
	return False;
}

Bool lines_wanted(void)
{
	return False;
}

void functions_watch_entry(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	(void)out, (void)layout, (void)a;
}

void functions_watch_return(IRSB *out, const VexGuestLayout *layout)
{
	(void)out, (void)layout;
}

void functions_watch_line(IRSB *out, const VexGuestLayout *layout, Addr a, Int line)
{
	(void)out, (void)layout, (void)a, (void)line;
}

void functions_watch_elsewhere(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	(void)out, (void)layout, (void)a;
}

void functions_watch_line_call(IRSB *out, const VexGuestLayout *layout, Addr back)
{
	(void)out, (void)layout, (void)back;
}

void functions_watch_line_return(IRSB *out, const VexGuestLayout *layout)
{
	(void)out, (void)layout;
}

Int line_at(Addr a)
{
	(void)a;
	return -1;
}

void lines_need_registers(void)
{
}

Bool lines_needed_registers(void)
{
	return False;
}

/* ---- call paths and profiles ---- */

void paths_watch_begin(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	(void)out, (void)layout, (void)a;
}

void paths_watch_end(IRSB *out, const VexGuestLayout *layout, Addr end, Bool counted)
{
	(void)out, (void)layout, (void)end, (void)counted;
}

Bool profile_wants(Addr a)
{
	(void)a;
	return False;
}

void profile_watch_entry(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	(void)out, (void)layout, (void)a;
}

void profile_watch_return(IRSB *out, const VexGuestLayout *layout)
{
	(void)out, (void)layout;
}

/* ---- bursts and sets ---- */

void sample_find(Bool faults)
{
	(void)faults;
}

Bool sample_is_log(const IRExpr *address)
{
	(void)address;
	return False;
}

Bool sample_is_call(const IRStmt *s)
{
	(void)s;
	return False;
}

void sample_watch(IRSB *out)
{
	(void)out;
}

void sample_count(IRSB *out, UInt instructions)
{
	(void)out, (void)instructions;
}

void sample_write(IRSB *out, const struct batch *b, ULong line, const struct address *at,
	UInt places)
{
	(void)out, (void)b, (void)line, (void)at, (void)places;
}

void sample_drain(void)
{
}

void sample_model(batch_function *model, UInt places, UInt lines)
{
	(void)model, (void)places, (void)lines;
}

Bool sample_direct(Addr a, UWord size, enum access kind)
{
	(void)a, (void)size, (void)kind;
	return False;
}

/* ---- turns of threads: a shadow has one ---- */

void pin_turn_pause(IRSB *out)
{
	(void)out;
}

void pin_capabilities(UInt *guest, UInt *host)
{
	(void)guest, (void)host;
}

/* ---- of VEX ---- */

/* Whatever may change is looked at: see translate.c. */
void aliased_check(VexTranslateArgs *args)
{
	(void)args;
}

/* What tl_assert() calls. */
void VG_(assert_fail)(Bool is_core, const HChar *expression, const HChar *file, Int line,
	const HChar *function, const HChar *format, ...)
{
	(void)is_core, (void)expression, (void)file, (void)line, (void)function;
	(void)format;
	shadow_finish(CP_SHADOW_BROKEN, 4, 0);
}

/* Nobody reads it. */
UInt VG_(vprintf)(const HChar *format, va_list arguments)
{
	(void)format, (void)arguments;
	return 0;
}

/* ---- registers: where the shadow ends, the parent's are compared with all of them ----
 */

Bool faults_are_handled(void)
{
	return True;
}
