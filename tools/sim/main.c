/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The simulated PMU: registration with Valgrind's core, and its memory.
 */
#include "tool.h"
#include "changing.h"
#include "alone.h"
#include "system/confine.h"
#include "stop.h"
#include "watch/functions.h"
#include "model/model.h"
#include "system/huge_kernel.h"
#include "system/links.h"
#include "memory.h"
#include "native/native.h"
#include "pin/pin.h"
#include "profile/profile.h"
#include "sample/sample.h"
#include "profile/sharing.h"
#include "transfers.h"
#include "window.h"

ULong tool_state;

void *host_alloc(uint64_t size)
{
	tool_state += size;
	return valgrind_alloc(size);
}

void host_free(void *p, uint64_t size)
{
	tool_state -= size;
	VG_(am_munmap_valgrind)((Addr)p, VG_PGROUNDUP(size));
}

void host_zero(void *p, uint64_t size)
{
	VG_(memset)(p, 0, size);
}

static void start_alone(void)
{
	HChar name[VKI_PATH_MAX];

	if (links_name_program(name))
		alone_start(name);
}

static void start_tool(void)
{
	options_check();
	native_start();
	pin_start();
	huge_start();
	changing_start();
	confine_start();
	if (sample_wanted())
		sample_start();
	threads_start();
	profile_start();
	timed_start();
	sweep_watch(&tool_options.sweep);
	sharing_start();
	line_use_start();
	window_start();
	transfers_start();
	functions_track();
	if (tool_options.alone)
		start_alone();
}

static void finish_tool(Int exit_code)
{
	(void)exit_code;
	stop_finished();
	threads_finish();
}

static void register_tool(void)
{
	VG_(details_name)("cachepeek");
	VG_(details_version)(NULL);
	VG_(details_description)("a simulated PMU");
	VG_(details_copyright_author)("GPL-2.0-or-later, the libcachepeek developers.");
	VG_(details_bug_reports_to)("the libcachepeek developers");
	VG_(details_avg_translation_sizeB)(600);
	VG_(basic_tool_funcs)(start_tool, instrument, finish_tool);
	VG_(needs_command_line_options)
	(options_parse, options_usage, options_debug_usage);
	VG_(needs_client_requests)(request_handle);
	huge_register();
}

VG_DETERMINE_INTERFACE_VERSION(register_tool)
