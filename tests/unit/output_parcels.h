/* SPDX-License-Identifier: MIT
 *
 * A record that was made by hand, as a rank sends it.
 */
#ifndef CACHEPEEK_TESTS_UNIT_OUTPUT_PARCELS_H
#define CACHEPEEK_TESTS_UNIT_OUTPUT_PARCELS_H

#include "output/report/job.h"
#include "output_records.h"

static inline const struct cp_parcel *parcel_of(
	struct cp_arena *arena, struct make *make, enum cp_host_place place)
{
	const struct cp_record_bytes record = {make, make_header(make)->tail};

	return cp_parcel_pack(arena, &record, 1, make_header(make)->rank, place);
}

#endif
