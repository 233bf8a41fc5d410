#!/bin/sh
# SPDX-License-Identifier: MIT
# libpfm4 4.13.0: L3_LAT_CACHE of Sandy Bridge has the unit masks 1 and 2.  By the same names Ivy
# Bridge has 41 and 4f, which are those of the architectural events of both (LLC_MISSES and
# LLC_REFERENCES).
# Seen: 12e and 22e of snb; 412e and 4f2e of ivb, and of snb by the architectural names.
. "$(dirname "$0")/common.sh"
need libpfm4=4.13.0-1 libpfm4-dev=4.13.0-1
same "snb, L3_LAT_CACHE" "12e 22e" "$(config snb::L3_LAT_CACHE:MISS snb::L3_LAT_CACHE:REFERENCE)"
same "snb, architectural" "412e 4f2e" "$(config snb::LLC_MISSES snb::LLC_REFERENCES)"
same "ivb, L3_LAT_CACHE" "412e 4f2e" "$(config ivb::L3_LAT_CACHE:MISS ivb::L3_LAT_CACHE:REFERENCE)"
same "ivb, architectural" "412e 4f2e" "$(config ivb::LLC_MISSES ivb::LLC_REFERENCES)"
