/* SPDX-License-Identifier: MIT */
#include "tools/runs/run_paths.h"

#include <string.h>

#include "base/text.h"
#include "tools/shared/output.h"
#include "tools/profile/model/fit.h"
#include "tools/profile/model/write.h"
#include "tools/runs/profile_run.h"

static void show_on(struct cp_profile_view *view, const char *name)
{
	struct cp_output output;

	if (!cp_output_open(&output, name))
		return;
	view->width = cp_fit_terminal(output.out.fd);
	cp_profile_write_calls(&output.out, view);
	cp_output_close(&output);
}

static void show_on_streams(struct cp_profile_view *view, const char *outputs)
{
	const char *name;
	size_t length;

	while ((name = cp_next_piece(&outputs, ',', &length))) {
		if (length == 1 && *name == '-')
			show_on(view, "-");
		if (length == 6 && strncmp(name, "stderr", length) == 0)
			show_on(view, "stderr");
	}
}

static int show_paths(struct cp_arena *arena, const char *directory, const void *context)
{
	char error[512];
	struct cp_profile *profile =
		cp_profile_read(arena, directory, error, sizeof(error));
	struct cp_profile_view view = {.profile = profile, .path_percent = -1};

	if (!profile || !profile->npaths)
		return 0;
	view.measurement = cp_measurement_find(profile, "dcache", error, sizeof(error));
	if (!view.measurement)
		return 0;
	cp_profile_resolve(profile);
	show_on_streams(&view, context);
	cp_profile_close(profile);
	return 0;
}

void cp_run_show_paths(const char *directory, const char *outputs)
{
	cp_profile_show_with(
		show_paths, directory, outputs && *outputs ? outputs : "stderr", false);
}
