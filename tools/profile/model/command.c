/* SPDX-License-Identifier: MIT */
#include "output/json.h"
#include "tools/profile/model/write.h"

static void put_or_null(struct cp_out *out, const char *name, const char *text)
{
	cp_out_format(out, ",\n \"%s\": ", name);
	if (text)
		cp_json_quoted(out, text);
	else
		cp_out_text(out, "null");
}

void cp_profile_write_command(struct cp_out *out, const struct cp_profile *profile)
{
	for (size_t i = 0; i < profile->narguments; i++) {
		cp_out_text(out, i ? ", " : ",\n \"arguments\": [");
		cp_json_quoted(out, profile->arguments[i]);
	}
	if (profile->narguments)
		cp_out_text(out, "]");
	put_or_null(out, "ended", profile->cut);
	put_or_null(out, "began", profile->began);
	put_or_null(out, "host", profile->host);
}
