/* SPDX-License-Identifier: MIT */
#include "output/json.h"
#include "tools/profile/model/write.h"

void cp_profile_write_command(struct cp_out *out, const struct cp_profile *profile)
{
	for (size_t i = 0; i < profile->narguments; i++) {
		cp_out_text(out, i ? ", " : ",\n \"arguments\": [");
		cp_json_quoted(out, profile->arguments[i]);
	}
	if (profile->narguments)
		cp_out_text(out, "]");
	cp_out_text(out, ",\n \"ended\": ");
	if (profile->cut)
		cp_json_quoted(out, profile->cut);
	else
		cp_out_text(out, "null");
}
