/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Answers the requests of the program under simulation (request.h).
 *
 * A request ends its superblock, and what was gathered before it has been
 * counted, so PAUSE and RESUME take effect exactly there.
 */
#include "tool.h"
#include "watch/function_names.h"
#include "watch/functions.h"
#include "pin/pin.h"
#include "watch/lines.h"
#include "profile/profile.h"
#include "bounds.h"
#include "system/hidden.h"

static Bool copy_name(UInt number, UWord to, UWord size)
{
	const HChar *name = function_name(number);

	if (!name || !size || !VG_(am_is_valid_for_client)(to, size, VKI_PROT_WRITE))
		return False;
	VG_(strncpy)((HChar *)to, name, size - 1);
	((HChar *)to)[size - 1] = '\0';
	return True;
}

static Bool check_line(UInt n, UWord name, UWord why, UWord size)
{
	return size && VG_(am_is_valid_for_client)(name, size, VKI_PROT_WRITE) &&
	       VG_(am_is_valid_for_client)(why, size, VKI_PROT_WRITE) &&
	       lines_check(n, (HChar *)name, (HChar *)why, (UInt)size);
}

static UInt check_function(UInt n, UWord to, UWord size)
{
	return size && VG_(am_is_valid_for_client)(to, size, VKI_PROT_WRITE)
		       ? functions_check(n, (HChar *)to, (UInt)size)
		       : 0;
}

Bool request_handle(ThreadId tid, UWord *args, UWord *ret)
{
	*ret = 1;
	switch (args[0]) {
	case CP_SIM_HELLO:
		*ret = CP_SIM_PROTOCOL;
		break;
	case CP_SIM_OWN_CODE:
		*ret = own_code_add(args[1], args[2]);
		break;
	case CP_SIM_PAUSE:
		threads_pause(tid);
		break;
	case CP_SIM_RESUME:
		threads_resume(tid);
		break;
	case CP_SIM_READ:
		*ret = threads_read(tid, args[1]);
		break;
	case CP_SIM_READ_PROCESS:
		*ret = threads_read_process(args[1]);
		break;
	case CP_SIM_BIND:
		*ret = threads_bind(tid, args[1]);
		break;
	case CP_SIM_BIND_SAMPLE:
		*ret = threads_bind_sample(tid, args[1]);
		break;
	case CP_SIM_BIND_PROCESS:
		*ret = threads_bind_process(0, args[1]);
		break;
	case CP_SIM_BIND_MACHINE:
		*ret = args[1] < tool_options.nmachines &&
		       threads_bind_process(args[1], args[2]);
		break;
	case CP_SIM_BIND_MACHINE_SAMPLE:
		*ret = args[1] < tool_options.nmachines &&
		       threads_bind_machine_sample(args[1], args[2]);
		break;
	case CP_SIM_SERIES:
		*ret = threads_series(args[1]);
		break;
	case CP_SIM_SYNC:
		threads_sync();
		break;
	case CP_SIM_TLS:
		profile_tls_add(tid, args[1], args[2], args[3]);
		break;
	case CP_SIM_FUNCTIONS:
		*ret = functions_start(args[1], (const HChar *)args[2]);
		break;
	case CP_SIM_FUNCTION_NAME:
		*ret = copy_name((UInt)args[1], args[2], args[3]);
		break;
	case CP_SIM_FUNCTION_DONE:
		return functions_done(tid, args[1], ret);
	case CP_SIM_FUNCTION_AGAIN:
		*ret = functions_again(tid);
		break;
	case CP_SIM_LINE_CHECK:
		*ret = check_line((UInt)args[1], args[2], args[3], args[4]);
		break;
	case CP_SIM_FUNCTION_CHECK:
		*ret = check_function((UInt)args[1], args[2], args[3]);
		break;
	case CP_SIM_TITLE:
		*ret = title_show(args[1], args[2], args[3]);
		break;
	case CP_SIM_READABLE:
		*ret = VG_(am_is_valid_for_client)(args[1], 1, VKI_PROT_READ);
		break;
	case CP_SIM_GIVEN:
		*ret = (UWord)pin.given;
		break;
	case CP_SIM_UNPINNED:
		*ret = pin.seen;
		break;
	case CP_SIM_SHOWS_HOST:
		*ret = !tool_options.native      ? 0
		       : tool_options.shows_host ? CP_SIM_SHOWS_HOSTS
		       : tool_options.nshown     ? CP_SIM_SHOWS_MACHINES
						 : 0;
		break;
	case CP_SIM_CALL:
		pin_call_is_programs(tid);
		hidden_call_is_programs(tid);
		break;
	case CP_SIM_REGION:
		threads_enter_region(tid, args[1]);
		break;
	case CP_SIM_THREAD_COMES:
		*ret = threads_await(tid, args[1] != 0);
		break;
	case CP_SIM_DESCRIPTORS:
		hidden_start(args[1], args[2], args[3], args[4]);
		break;
	case CP_SIM_STACK_OF_THREAD:
		bounds_stack(args[1], args[2]);
		break;
	case CP_SIM_ALLOCATOR:
		*ret = profile_allocator_add(args[1], args[2]);
		break;
	default:
		*ret = 0;
		return False;
	}
	return True;
}
