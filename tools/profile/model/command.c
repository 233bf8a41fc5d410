/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/json.h"
#include "tools/profile/model/write.h"

void cp_profile_write_command(struct cp_out *out, const struct cp_profile *profile)
{
	for (size_t i = 0; i < profile->narguments; i++) {
		const char *word = profile->arguments[i];

		cp_out_text(out, i ? ", " : ",\n \"arguments\": [");
		cp_json_string(out, word, strlen(word));
	}
	if (profile->narguments)
		cp_out_text(out, "]");
	cp_out_text(out, ",\n \"ended\": ");
	if (profile->cut)
		cp_json_string(out, profile->cut, strlen(profile->cut));
	else
		cp_out_text(out, "null");
}
