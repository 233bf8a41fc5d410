#!/bin/sh
# SPDX-License-Identifier: MIT
# perf 7.2.12: evlist -v writes the names of types and events behind their numbers,
# "type: 1 (PERF_TYPE_SOFTWARE)", where perf 6.12 has "type: 1 (software)" and perf 6.1 "type: 1":
# the number is what can be read with all of them.
. "$(dirname "$0")/common.sh"
need linux-perf=7.2.12-1
perf record -q -o data -e page-faults:u true > said 2>&1 || cannot "perf: $(head -n 1 said)"
same "of page faults" "type: 1 (PERF_TYPE_SOFTWARE)" "$(perf evlist -v -i data | grep -o 'type: 1[^,]*' | head -n 1)"
