#!/bin/sh
# SPDX-License-Identifier: MIT
# libpfm4 4.13.0: the Pentium 4's replay_event has units that say which micro-ops are tagged (loads
# that missed L1, L2, the DTLB).  They are accepted, and the encoding is the same with each and
# without, so that nothing is tagged and the event counts nothing.  (Linux tags where the low six
# bits of config have the metric's number.)
# Seen: config 4a0002050003b000 for all of them.
. "$(dirname "$0")/common.sh"
need libpfm4=4.13.0-1 libpfm4-dev=4.13.0-1
for tag in '' :L1_LD_MISS :L2_LD_MISS :DTLB_LD_MISS :DTLB_ALL_MISS; do
	same "replay_event:NBOGUS$tag" 4a0002050003b000 "$(config "netburst::replay_event:NBOGUS$tag")"
done
